#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace tilehash::app {
namespace {

// What any design takes; most take less (design_entry::max_load_factor).
constexpr double fullest = 10;

// "max" becomes the number that stands for it.
const CLI::Validator load_factor_check(
    [](std::string& text) -> std::string {
      double load_factor = 0;
      if (text == "max") {
        text = "inf";
        return {};
      }
      if (CLI::detail::lexical_cast(text, load_factor) && load_factor > 0 && load_factor <= fullest)
        return {};
      return fmt::format("'{}' must be above 0 and at most {}, or max", text, fullest);
    },
    fmt::format("0..{}|max", fullest));

}  // namespace

CLI::App* add_run_command(CLI::App& app, run_options& options) {
  CLI::App* run = app.add_subcommand("run", "Build, query and check tables, and say how fast they were");
  run_settings& settings = options.settings;
  run->add_option("--design", options.designs, "Designs to run, or all")
      ->delimiter(',')
      ->capture_default_str();
  run->add_option("--space", options.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  run->add_option(
         "--input", options.input,
         "random:n=N[,unique=1][,dist=uniform|normal|zipf:S|sequential], fasta:FILE[.gz],k=21, lines:FILE, "
         "binary:FILE,key=u32|u64, or a data set of a paper, tw|re|com|line|rand[:n=N] (docs/data_sets.md)")
      ->capture_default_str();
  run->add_option("--load-factor", settings.load_factor,
                  "Items a slot: at most 0.98, in some designs less, in Robin Hood tables 1 (chained: items "
                  "a bucket, at most 10), or max for the most that each design takes")
      ->transform(load_factor_check)
      ->capture_default_str();
  run->add_option("--queries", options.queries, "Lookups of each kind (default: as many as items)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40, "1.."));
  run->add_option("--hit-rate", options.hit_rate, "Share of find_mix that is found")
      ->check(CLI::Range(0.0, 1.0, "0..1"))
      ->capture_default_str();
  run->add_option("--key-bits", options.key_bits, "32 or 64 (default: the narrowest that holds the input)")
      ->check(CLI::IsMember({32, 64}));
  run->add_option("--value-bits", settings.value_bits, "0 (a set), 32 or 64")
      ->check(CLI::IsMember({0, 32, 64}))
      ->capture_default_str();
  run->add_option("--repeat", settings.repeat, "Times to run each operation; the median is shown")
      ->check(CLI::Range(1, 1000, "1..1000"))
      ->capture_default_str();
  run->add_option("--seed", settings.seed, "Of the keys, the queries and the hash functions")
      ->capture_default_str();
  run->add_option("--threads", settings.threads, "CPU threads (default: all)")
      ->check(CLI::Range(1, 4096, "1..4096"));
  run->add_flag("--probes", settings.probes, "Count the slots or buckets that lookups read");
  run->add_option("--json", options.json, "Write the rows to FILE, or to standard output with -")
      ->type_name("FILE|-");
  return run;
}

CLI::App* add_list_command(CLI::App& app, list_options& options) {
  CLI::App* list = app.add_subcommand("list", "The designs, their papers, abilities and spaces");
  list->add_flag("--json", options.json, "One object a design");
  return list;
}

}  // namespace tilehash::app
