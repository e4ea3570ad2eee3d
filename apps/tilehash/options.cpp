// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "environment.hpp"
#include "parallel.hpp"
#include "sizes.hpp"
#include "terminal.hpp"

namespace tilehash::app {
namespace {

// The highest load factor of any design; most take less (design_entry::max_load_factor).
constexpr double fullest = 10;

// "max" and 1/1.05 become the numbers that they stand for.
const CLI::Validator load_factor_check(
    [](std::string& text) -> std::string {
      if (text == "max") {
        text = "inf";
        return {};
      }
      const auto load_factor = to_ratio(text);
      if (!load_factor || !(*load_factor > 0 && *load_factor <= fullest))
        return fmt::format("'{}' must be above 0 and at most {}, as 0.8 or 1/1.05, or max", text, fullest);
      text = fmt::format("{:.17g}", *load_factor);
      return {};
    },
    "0..10|max");

// CLI11's help, with lines as long as the terminal's.
class fitting : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const unsigned width = style_of(stdout).width;
    const std::string plain = CLI::Formatter::make_help(app, std::move(name), mode);
    std::string help;
    for (std::string_view rest = plain; !rest.empty();) {
      const auto end = std::min(rest.find('\n'), rest.size() - 1);
      const std::string_view line = rest.substr(0, end + 1);
      help += wrap(line, width, indent_of(line));
      rest.remove_prefix(end + 1);
    }
    return help;
  }

 private:
  // Where the description of an option begins; or the line itself.
  static unsigned indent_of(std::string_view line) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return 0;
    const auto gap = line.find("  ", begin);
    const auto description = gap == std::string_view::npos ? begin : line.find_first_not_of(' ', gap);
    return static_cast<unsigned>(description == std::string_view::npos ? begin : description);
  }
};

constexpr const char* words_of_run =
    "Words:\n"
    "  op        what is timed. build: all items into a new table at once, with capacity for all. insert: "
    "the same into an existing table, made for the different keys. find_hit, find_miss, find_mix: lookups of "
    "present keys, of absent keys (from the keys' own range), and of both (--hit-rate). erase: about half of "
    "the keys, and reinsert: the same again. build_raw: all keys of a file in its order, repeated keys too. "
    "count: how often each key occurs, by insert_or_apply with op::count.\n"
    "  time      the median of --repeat runs, after one to warm up; noise: from the fastest to the slowest, "
    "as a share of it.\n"
    "  probes    buckets that a lookup reads (slots, if a bucket has one); p99: enough for 99 % of the "
    "lookups.\n"
    "  answers   ok: every answer of every run was compared with the right one, and those of "
    "count() and contains() for a million keys. refused: items that were not inserted.\n"
    "  sizes     1000003, 2^20, 1e6, 1M (k, M, G: steps of 1024).\n"
    "Input:\n"
    "  random:n=N[,unique=1][,dist=DIST]; DIST is uniform, normal, zipf:S or sequential\n"
    "  fasta:FILE[,k=21] (FASTA or FASTQ), lines:FILE, binary:FILE,key=u32|u64; gzip and zstd are unpacked, "
    "- is standard "
    "input; keys come shuffled unless ,order=file\n"
    "  tw|re|com|line|rand[:n=N]: the data sets of a paper (docs/reference/data_sets.md)\n";

}  // namespace

void add_threads_option(CLI::App& command, int& asked, int& threads) {
  command
      .add_option_function<int>(
          "--threads",
          [&asked, &threads](int number) {
            asked = number;
            threads = threads_that_run(number);
          },
          "CPU threads, as many as the machine runs at once at most (default: all)")
      ->check(CLI::Range(1, 4096, "1..4096"));
}

void add_manners(CLI::App& app) {
  app.formatter(std::make_shared<fitting>());
  app.set_version_flag("--version", version_line());
}

CLI::App* add_run_command(CLI::App& app, run_options& options) {
  CLI::App* run = app.add_subcommand("run", "Build, query and check tables, and report their rates");
  run_settings& settings = options.settings;
  run->add_option(option::design, options.designs, "Designs to run, or all")
      ->delimiter(',')
      ->capture_default_str();
  run->add_option("--peers", options.peers,
                  "Other libraries' maps to run on the same input (CPU), all or none")
      ->delimiter(',')
      ->capture_default_str();
  run->add_option("--space", options.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  run->add_option(
         "--input", options.input,
         "Keys: random:n=N, fasta:FILE, lines:FILE, binary:FILE,key=u32|u64, or a data set: see below")
      ->capture_default_str();
  CLI::Option* const load =
      run->add_option(option::load_factor, settings.load_factor,
                      "Items a slot, as 0.8 or 1/1.05 (chained and hash_graph: items a "
                      "bucket), or max for the most that each design takes (tilehash list)")
          ->transform(load_factor_check)
          ->capture_default_str();
  run->add_option_function<double>(
         "--size", [&settings](double slots) { settings.load_factor = 1 / slots; },
         "Slots an item, in place of --load-factor: 1.05 is a load factor of 1/1.05")
      ->transform(CLI::Validator(read_ratio, ""))
      ->check(CLI::Range(0.1, 1000.0, "0.1..1000"))
      ->excludes(load);
  run->add_option("--queries", options.queries, "Lookups of each kind (default: as many as items)")
      ->transform(CLI::Validator(read_size, ""))
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40, "1.."));
  run->add_option("--hit-rate", options.hit_rate, "Share of find_mix that is found")
      ->check(CLI::Range(0.0, 1.0, "0..1"))
      ->capture_default_str();
  run->add_option(option::key_bits, options.key_bits,
                  "32 or 64 (default: the narrowest that holds the input)")
      ->check(CLI::IsMember({32, 64}));
  run->add_option("--value-bits", settings.value_bits, "0 (a set), 32 or 64")
      ->check(CLI::IsMember({0, 32, 64}))
      ->capture_default_str();
  run->add_option("--repeat", settings.repeat, "Times to run each operation; the median is shown")
      ->check(CLI::Range(1, 1000, "1..1000"))
      ->capture_default_str();
  run->add_option("--seed", settings.seed, "Of the keys, the queries and the hash functions")
      ->capture_default_str();
  add_threads_option(*run, options.threads_asked, settings.threads);
  run->add_flag("--probes", settings.probes, "Count the slots or buckets that lookups read");
  run->add_flag_callback(
      "--no-verify", [&settings] { settings.verify = false; },
      "Do not compare the answers with the right ones; every row says so");
  run->add_option(option::json, options.json, "Write the figures to FILE, or to standard output with -")
      ->type_name("FILE|-");
  run->footer(words_of_run);
  return run;
}

CLI::App* add_list_command(CLI::App& app, list_options& options) {
  CLI::App* list = app.add_subcommand("list", "The designs, their papers, abilities and spaces");
  list->add_flag("--json", options.json, "One object a design");
  return list;
}

}  // namespace tilehash::app
