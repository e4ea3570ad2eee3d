// SPDX-License-Identifier: Apache-2.0
// tilehash bench thesis/...
#include "commands.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "alcantara/thesis_fields.hpp"
#include "dataset.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::measurement;
using bench::subject;
using bench::sweep;
using bench::sweep_row;

// What is not given is the sweep's own.
struct sweep_options : common_options {
  std::string name;
  std::vector<std::string> designs;
  std::vector<std::uint64_t> items;
  std::vector<double> sizes;
  std::vector<unsigned> failed;
};

struct fill_options : common_options {
  std::vector<std::string> designs;
  std::uint64_t items = 0;
  double load_factor = 0.95;
  unsigned steps = 19;
};

struct restarts_options : common_options {
  std::vector<std::uint64_t> items{1'000, 10'000, 1'000'000};
  std::uint64_t all_items = 20'000'000;
  std::vector<std::uint64_t> partitioned{1'000'000, 5'000'000};
  std::uint64_t all_partitioned = 25'000'000'000;
};

struct cuckoo_options : common_options {
  std::uint64_t items = 1'000'000, builds = 10;
  std::vector<unsigned> functions{2, 3, 4, 5}, stashes{101};
  std::vector<double> sizes{1.02, 1.03, 1.05, 1.1, 1.25, 1.42, 2, 2.1, 2.5, 3, 4, 5};
};

struct two_level_options : common_options {
  std::vector<std::uint64_t> items{1'000'000};
  std::uint64_t builds = 10;
};

struct probes_options : common_options {
  std::uint64_t items = 1'000'000;
  std::vector<double> sizes{1.05, 1.25, 2};
};

struct multiplicity_options : common_options {
  std::uint64_t items = 10'000'000;
  std::vector<std::uint64_t> copies{1, 2, 4, 16, 64, 256, 1'000, 10'000, 50'000};
};

sweep asked_for(const sweep_options& options, const std::string& space) {
  const auto sweeps = bench::thesis_sweeps(space);
  sweep s = *std::ranges::find(sweeps, options.name, &sweep::name);
  if (!options.items.empty()) s.items = options.items;
  if (!options.sizes.empty()) s.sizes = options.sizes;
  if (!options.failed.empty()) s.failed = options.failed;
  return s;
}

std::vector<subject> designs_of(const std::vector<std::string>& names, const std::string& space) {
  std::vector<subject> known;
  for (const subject& s : bench::all_subjects()) {
    if (s.space == space && !s.is_peer) known.push_back(s);
  }
  if (!names.empty()) return choose(known, names, "--design");
  std::vector<subject> chosen;
  for (const std::string& name : bench::thesis_designs()) {
    const auto at = std::ranges::find(known, name, &subject::name);
    if (at != known.end()) chosen.push_back(*at);  // the program may have been built without it
  }
  return chosen;
}

void run_sweep(const sweep_options& options) {
  check_sizes(options.items, "--n", 2, most_items);
  session session(options);
  const sweep s = asked_for(options, session.space());
  const auto designs = designs_of(options.designs, session.space());
  experiment rows(session, options.name, session.machine() + '\n');
  bench::known_limits unused;
  for (const std::uint64_t n : s.items) {
    for (const double size : s.sizes) {
      session.say(bench::sweep_heading(n, size, s));
      for (const subject& design : designs) {
        bench::yardstick_case the_case{
            n, bench::load_factor_for(design, n, size), 32, options.repeat, options.threads, {}};
        for (const bool sorted : {false, true}) {
          if (sorted && design.name != "sorted_array")
            continue;  // order helps a binary search, no hash table
          for (const unsigned percent : s.failed) the_case.queries.push_back({percent, sorted});
        }
        std::vector<sweep_row> its;
        design.run(the_case, unused, [&](const measurement& m) {
          its.push_back({size, m});
          rows.keep(fields_of(its.back()));
        });
        session.say(bench::sweep_lines(its));
      }
    }
  }
  rows.finish();
}

void run_fill(const fill_options& options) {
  session session(options);
  const std::uint64_t n = options.items != 0          ? options.items
                          : session.space() == "cuda" ? 10'000'000
                                                      : 1'000'000;
  experiment rows(session, "thesis/fill",
                  fmt::format("{}\n{} pairs of 32 + 32 bits, inserted in {} parts\n", session.machine(), n,
                              options.steps));
  bench::yardstick_case the_case{n, options.load_factor, 32, options.repeat, options.threads, {}};
  the_case.fill_steps = options.steps;
  bench::known_limits unused;
  for (const subject& design : designs_of(options.designs, session.space())) {
    std::vector<sweep_row> its;
    design.run(the_case, unused, [&](const measurement& m) {
      its.push_back({1 / options.load_factor, m});
      rows.keep(fields_of(its.back()));
    });
    if (!its.empty()) session.say(bench::fill_lines(its));  // else it cannot insert, or not be so full
  }
  rows.finish();
}

void run_restarts(const restarts_options& options) {
  check_sizes(options.items, "--n", 1, most_items);
  check_sizes(options.partitioned, "--partitioned", 1, most_items);
  session session(options);
  experiment rows(session, "thesis/restarts");
  for (const std::uint64_t n : options.partitioned)
    rows.add(fields_of(bench::count_partitions({n, std::max<std::uint64_t>(1, options.all_partitioned / n),
                                                std::max<std::uint64_t>(1, 10 * options.all_items / n)})));
  const std::vector<std::pair<unsigned, std::vector<double>>> sizes{
      {4, {1.03, 1.04, 1.05, 1.1, 1.25}}, {2, {2.1, 2.2}}, {3, {1.1, 1.15}}, {5, {1.0205, 1.05}}};
  for (const auto& [functions, its_sizes] : sizes) {
    for (const std::uint64_t n : options.items) {
      const std::uint64_t trials = std::max<std::uint64_t>(1, options.all_items / n);
      for (const double size : its_sizes) {
        for (const bool stash : {true, false})
          rows.add(fields_of(bench::count_restarts({functions, stash, n, trials, size})));
      }
    }
  }
  rows.finish("items were lost");
}

void run_cuckoo(const cuckoo_options& options) {
  session session(options);
  experiment rows(session, "thesis/cuckoo",
                  session.machine() + "\nrates in million items a second; chains in evictions\n");
  for (const unsigned functions : options.functions) {
    for (const double size : options.sizes) {
      if (size < bench::least_cuckoo_size(functions)) continue;
      for (const unsigned stash : options.stashes) {
        const bench::cuckoo_case c{functions, size, options.items, options.builds, options.repeat, stash};
        rows.add(fields_of(session.space() == "cuda" ? bench::cuda_cuckoo(c)
                                                     : bench::cpu_cuckoo(c, options.threads)));
      }
    }
  }
  rows.finish("answers were wrong");
}

void run_two_level(const two_level_options& options) {
  check_sizes(options.items, "--n", 1, 500'000'000);
  session session(options);
  experiment rows(
      session, "thesis/two_level",
      session.machine() + "\nrates in million items a second; rounds and restarts are of buckets\n");
  for (const std::uint64_t n : options.items) {
    for (const bool exact : {false, true}) {
      const bench::two_level_case c{n, options.builds, exact, options.repeat};
      rows.add(fields_of(session.space() == "cuda" ? bench::cuda_two_level(c)
                                                   : bench::cpu_two_level(c, options.threads)));
    }
  }
  rows.finish("answers were wrong");
}

void run_multiplicity(const multiplicity_options& options) {
  check_sizes({options.items}, "--items", 1, most_items);
  check_sizes(options.copies, "--copies", 1, options.items);
  session session(options);
  experiment rows(
      session, "thesis/multiplicity",
      session.machine() +
          "\nmillion items a second; `sort` is that of the same pairs, the next four are builds of "
          "multimaps\n");
  for (const std::uint64_t copies : options.copies) {
    const bench::multiplicity_case the_case{options.items, copies};
    rows.add(fields_of(session.space() == "cuda"
                           ? bench::cuda_multiplicity(the_case, options.repeat)
                           : bench::cpu_multiplicity(the_case, options.repeat, options.threads)));
  }
  rows.finish("values of some keys were not what they should be");
}

void run_probes(const probes_options& options) {
  session session(options);
  experiment rows(session, "thesis/probes");
  for (const double size : options.sizes) {
    bench::count_probes(options.items, size, [&](const bench::probe_statistics& row) {
      rows.add(fields_of(row), line_of_table_3_2(row));
    });
  }
  rows.finish(nullptr);  // tables refuse items where the thesis' limit of probes is too low
}

void add_cuckoo(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "thesis/cuckoo",
      "The single-level cuckoo table as published, with 2 to 5 functions: failed builds, chains of "
      "evictions, rates by size (section 6.1.1, figure 6.6)");
  const auto options = std::make_shared<cuckoo_options>();
  add_common(*command, *options);
  add_size(*command, "--n", options->items, "Number of items")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->capture_default_str();
  add_size(*command, "--builds", options->builds, "Builds of a row, each with other keys and functions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--functions", options->functions, "Hash functions")
      ->delimiter(',')
      ->check(CLI::Range(2, 5))
      ->default_str("2,3,4,5");
  command
      ->add_option("--size", options->sizes,
                   "Slots for each item; sizes below the thesis' least for that number of functions are left "
                   "out")
      ->delimiter(',')
      ->check(CLI::Range(1.02, 16.0))
      ->default_str("1.02,1.03,1.05,1.1,1.25,1.42,2,2.1,2.5,3,4,5");
  command
      ->add_option("--stash", options->stashes,
                   "Slots of the stash: 101 with one place a key, 16 probed linearly, or 0")
      ->delimiter(',')
      ->check(CLI::IsMember({0U, 16U, 101U}))
      ->default_str("101");
  command->callback([options] { run_cuckoo(*options); });
}

void add_two_level(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "thesis/two_level",
      "The two-level cuckoo table as published: rounds of a bucket, seeds that fail, rates, with buckets of "
      "equal and of exact sizes (sections 5.2.2, 5.5)");
  const auto options = std::make_shared<two_level_options>();
  add_common(*command, *options);
  add_sizes(*command, "--n", options->items, "Numbers of items");
  add_size(*command, "--builds", options->builds, "Builds of a row, each with other keys and functions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options] { run_two_level(*options); });
}

void add_sweep(CLI::App& bench, const sweep& s) {
  CLI::App* command = bench.add_subcommand(s.name, s.about);
  const auto options = std::make_shared<sweep_options>();
  options->name = s.name;
  add_common(*command, *options);
  command
      ->add_option(option::design, options->designs,
                   "Designs to measure (default: the thesis' and ours), or all")
      ->delimiter(',');
  add_sizes(*command, "--n", options->items, "Numbers of items (default: more on a GPU)");
  command->add_option("--size", options->sizes, "Sizes of the table, in slots of 8 bytes an item")
      ->delimiter(',')
      ->check(CLI::Range(1.0, 16.0));
  command->add_option("--failed", options->failed, "Shares of the queries whose keys are absent, in percent")
      ->delimiter(',')
      ->check(CLI::Range(0, 100));
  command->callback([options] { run_sweep(*options); });
}

}  // namespace

void add_thesis_commands(CLI::App& bench) {
  for (const sweep& s : tilehash::bench::thesis_sweeps("cpu")) add_sweep(bench, s);

  CLI::App* fill =
      bench.add_subcommand("thesis/fill", "Rates of inserts into a table that exists, against its fill");
  const auto filling = std::make_shared<fill_options>();
  add_common(*fill, *filling);
  fill->add_option(option::design, filling->designs,
                   "Designs to measure (default: the thesis' and ours), or all")
      ->delimiter(',');
  add_size(*fill, "--n", filling->items, "Number of items (default: more on a GPU)")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 31));
  add_ratio(*fill, option::load_factor, filling->load_factor, "Share of the slots that are full in the end")
      ->check(CLI::Range(0.01, 0.98))
      ->capture_default_str();
  fill->add_option("--steps", filling->steps, "Parts")->check(CLI::Range(1, 1000))->capture_default_str();
  fill->callback([filling] { run_fill(*filling); });

  add_cuckoo(bench);
  add_two_level(bench);
  CLI::App* multiplicity =
      bench.add_subcommand("thesis/multiplicity",
                           "Multimaps against the copies of a key: builds, lookups, all values of all keys");
  const auto multimaps = std::make_shared<multiplicity_options>();
  add_common(*multiplicity, *multimaps);
  add_size(*multiplicity, "--items", multimaps->items, "Number of items")->capture_default_str();
  add_sizes(*multiplicity, "--copies", multimaps->copies, "How often each key comes");
  multiplicity->callback([multimaps] { run_multiplicity(*multimaps); });

  CLI::App* probes = bench.add_subcommand("thesis/probes",
                                          "Slots that a lookup reads in open addressing: hash functions and "
                                          "jumps, next to table 3.2 of the thesis (on the CPU)");
  probes->alias("thesis/table32");
  const auto statistics = std::make_shared<probes_options>();
  statistics->space = "cpu";
  add_size(*probes, "--n", statistics->items, "Number of items")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 31))
      ->capture_default_str();
  probes->add_option("--size", statistics->sizes, "Slots an item")
      ->delimiter(',')
      ->check(CLI::Range(1.0205, 16.0))
      ->default_str("1.05,1.25,2");
  add_json(*probes, *statistics);
  probes->callback([statistics] { run_probes(*statistics); });

  CLI::App* restarts = bench.add_subcommand("thesis/restarts",
                                            "How often cuckoo tables restart: two-level ones, and "
                                            "single-level ones with and without the stash (on the CPU)");
  const auto constructions = std::make_shared<restarts_options>();
  constructions->space = "cpu";
  add_sizes(*restarts, "--items", constructions->items, "Numbers of items in a single-level table");
  add_size(*restarts, "--all-items", constructions->all_items,
           "Items in all tables of a row: as many tables are built as come to that")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_sizes(*restarts, "--partitioned", constructions->partitioned, "Numbers of items in a two-level table");
  add_size(*restarts, "--all-partitioned", constructions->all_partitioned,
           "Items in all partitions of a row, which are only counted")
      ->check(CLI::PositiveNumber)
      ->default_str("25000000000");
  add_json(*restarts, *constructions);
  restarts->callback([constructions] { run_restarts(*constructions); });
}

}  // namespace tilehash::app
