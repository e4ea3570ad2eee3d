// SPDX-License-Identifier: Apache-2.0
// tilehash bench horton/...
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <tilehash/core/error.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "breslow/horton_accesses.hpp"
#include "breslow/horton_churn.hpp"
#include "breslow/horton_sizes.hpp"
#include "dataset.hpp"
#include "options.hpp"
#include "session.hpp"
#include "sizes.hpp"

namespace tilehash::app {
namespace {

using bench::measurement;
using bench::subject;

struct accesses_options : common_options {
  std::uint64_t slots = 1 << 20, buckets = 1 << 22;
};

struct churn_options : common_options {
  bench::churn_case what{.table_slots = 1 << 18, .rounds = 100, .calls = 10};
};

struct sizes_options : common_options {
  std::vector<std::string> designs;
  std::vector<std::uint64_t> sizes;
  double load_factor = 0.9;
  std::uint64_t lookups = 0;
};

void run_accesses(const accesses_options& options) {
  session session(options);
  const bench::accesses all = bench::count_accesses(options.slots, options.buckets,
                                                    [&](const std::string& text) { session.say(text); });
  session.write(bench::accesses_as_json(all), "horton/accesses");
  session::fail_if(std::ranges::any_of(all.reads, &bench::bucket_reads::faulty),
                   "answers were wrong or items lost");
}

void run_churn(const churn_options& options) {
  session session(options);
  session.say(bench::churn_heading());
  std::vector<bench::churn_row> rows;
  session.keep([&] { return bench::churn_as_json(rows); });
  bench::count_churn(options.what, [&](const bench::churn_row& row) {
    rows.push_back(row);
    if (row.home == "fresh") session.say(bench::churn_line(std::span(rows).last(4)));  // a round's last
  });
  session.write(bench::churn_as_json(rows), "horton/churn");
  session::fail_if(std::ranges::any_of(rows, &bench::churn_row::faulty), "answers were wrong or items lost");
}

void run_sizes(sizes_options options) {
  session session(options);
  const bool on_gpu = session.space() == "cuda";
  if (options.sizes.empty()) options.sizes = bench::sizes_to(std::uint64_t{1} << (on_gpu ? 33 : 30));
  if (options.lookups == 0) options.lookups = std::uint64_t{1} << (on_gpu ? 26 : 22);
  for (const std::uint64_t bytes : options.sizes) {
    if (bytes < 1 << 10 || bytes >= 1ULL << 36)
      throw input_error(fmt::format("--bytes {}: must be at least 1K and below 64G", bytes));
  }
  std::vector<subject> known;
  for (const std::string& name : bench::size_designs) {
    for (const subject& s : bench::all_subjects()) {
      if (s.space == session.space() && s.name == name) known.push_back(s);
    }
  }
  const auto designs = options.designs.empty() ? known : choose(known, options.designs, "--design");
  session.say(session.machine() + '\n');
  std::vector<bench::size_row> rows;
  session.keep([&] { return bench::sizes_as_json(rows); });
  bench::known_limits unused;
  for (const std::uint64_t bytes : options.sizes) {
    const auto n = static_cast<std::uint64_t>(options.load_factor * static_cast<double>(bytes / 8));
    bench::yardstick_case the_case{n, options.load_factor, 32, options.repeat, options.threads, {{0}, {100}}};
    the_case.least_lookups = options.lookups;
    the_case.count_buckets = true;
    session.say(bench::size_heading(bytes, n, options.load_factor));
    for (const subject& design : designs) {
      std::vector<bench::size_row> its;
      try {
        design.run(the_case, unused, [&](const measurement& m) { its.push_back({bytes, m}); });
      } catch (const out_of_memory&) {
        session.say(fmt::format("  {:<26} there is not the memory\n", design.name));
        continue;
      }
      if (!its.empty()) session.say(bench::size_line(its));  // else it is never so full
      rows.insert(rows.end(), its.begin(), its.end());
    }
  }
  session.write(bench::sizes_as_json(rows), "horton/sizes");
  session::fail_if(
      std::ranges::any_of(rows,
                          [](const bench::size_row& row) { return row.what.failed + row.what.wrong != 0; }),
      "answers were wrong or items lost");
}

}  // namespace

void add_horton_commands(CLI::App& bench) {
  CLI::App* accesses = bench.add_subcommand("horton/accesses",
                                            "Buckets that lookups read in Horton tables, next to the paper's "
                                            "model (figures 8 to 11 and 14; on the CPU)");
  const auto counted = std::make_shared<accesses_options>();
  counted->space = "cpu";
  accesses->add_option("--slots", counted->slots, "Slots of each table")
      ->transform(CLI::Validator(read_size, ""))
      ->check(CLI::Range(std::int64_t{1} << 12, std::int64_t{1} << 30))
      ->capture_default_str();
  accesses->add_option("--buckets", counted->buckets, "Buckets whose keys are counted")
      ->transform(CLI::Validator(read_size, ""))
      ->check(CLI::Range(std::int64_t{1} << 8, std::int64_t{1} << 27))
      ->capture_default_str();
  add_json(*accesses, *counted);
  accesses->callback([counted] { run_accesses(*counted); });

  CLI::App* churn = bench.add_subcommand(
      "horton/churn",
      "Buckets that lookups read after rounds of erasing and inserting a tenth of the items (on the CPU)");
  const auto churned = std::make_shared<churn_options>();
  churned->space = "cpu";
  churn->add_option("--slots", churned->what.table_slots, "Slots of each table")
      ->transform(CLI::Validator(read_size, ""))
      ->check(CLI::Range(std::int64_t{1} << 12, std::int64_t{1} << 26))
      ->capture_default_str();
  churn->add_option("--rounds", churned->what.rounds, "Rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  churn->add_option("--calls", churned->what.calls, "Calls of erase, and of insert, in a round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_json(*churn, *churned);
  churn->callback([churned] { run_churn(*churned); });

  CLI::App* sizes = bench.add_subcommand(
      "horton/sizes",
      "Rates of lookups against the table's size, and the bytes they move (figures 12 and 13)");
  const auto measured = std::make_shared<sizes_options>();
  add_common(*sizes, *measured);
  sizes
      ->add_option(option::design, measured->designs,
                   fmt::format("Designs to measure, all or some of {}", fmt::join(bench::size_designs, ",")))
      ->delimiter(',');
  sizes
      ->add_option("--bytes", measured->sizes,
                   "Sizes of the tables, such as 16K,1G (default: from 16K to 1G, on a GPU to 8G)")
      ->delimiter(',')
      ->transform(CLI::Validator(read_size, ""));
  sizes->add_option(option::load_factor, measured->load_factor, "Share of the slots to fill")
      ->transform(CLI::Validator(read_ratio, ""))
      ->check(CLI::Range(0.01, 0.98))
      ->capture_default_str();
  sizes->add_option("--lookups", measured->lookups, "Lookups in a call, at least (default: 4M, on a GPU 64M)")
      ->transform(CLI::Validator(read_size, ""));
  sizes->callback([measured] { run_sizes(*measured); });
}

}  // namespace tilehash::app
