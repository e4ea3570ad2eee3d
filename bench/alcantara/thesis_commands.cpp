// SPDX-License-Identifier: Apache-2.0
// tilehash bench thesis/...
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "alcantara/thesis_fields.hpp"
#include "experiment.hpp"
#include "options.hpp"

namespace tilehash::app {
namespace {

using bench::measurement;
using bench::subject;

// Options that are not given are the sweep's own.
struct sweep_options : common_options {
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

// Each structure's rates of construction and of retrieval against one thing, all others fixed.
struct sweep {
  std::string name, about;
  std::vector<std::uint64_t> items;
  std::vector<double> sizes;
  std::vector<unsigned> failed;  // percent of the lookups
};

// The sweeps that run by default: fewer on a CPU.
std::vector<sweep> thesis_sweeps(const std::string& space) {
  const bool many = space == "cuda";
  const std::vector<std::uint64_t> one_size{many ? 10'000'000U : 1'000'000U};
  const std::vector<double> sizes{1.05, 1.42, 2};
  return {
      {.name = "thesis/size",
       .about = "Rates against the number of items (figures 3.2, 3.5, 3.6, 4.8, 4.9, 5.7, 5.8, 6.7 to 6.12)",
       .items = many ? std::vector<std::uint64_t>{10'000, 20'000, 50'000, 100'000, 200'000, 500'000,
                                                  1'000'000, 2'000'000, 5'000'000, 10'000'000, 20'000'000,
                                                  40'000'000, 64'000'000}
                     : std::vector<std::uint64_t>{10'000, 30'000, 100'000, 300'000, 1'000'000, 4'000'000},
       .sizes = sizes,
       .failed = {0}},
      {.name = "thesis/space",
       .about = "Rates against the size of the table (figures 3.3 and 4.7)",
       .items = one_size,
       .sizes = {1.02, 1.05, 1.1, 1.15, 1.25, 1.42, 1.6, 1.8, 2, 2.5, 3, 4},
       .failed = {0, 100}},
      {.name = "thesis/failed",
       .about =
           "Rates of retrieval against the share of queries that fail (figures 3.4, 3.7, 4.10, 5.9, 6.5, "
           "6.7 to 6.12)",
       .items = one_size,
       .sizes = sizes,
       .failed = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}},
  };
}

// The designs that the thesis compares, and ours.
std::vector<std::string> thesis_designs() {
  return {"linear_probing", "quadratic_probing", "double_hashing",
          "chained",        "chained_by_sort",   "two_level_cuckoo",
          "cuckoo",         "sorted_array",      "perfect_spatial",
          "tiled",          "bucketed_cuckoo",   "hash_graph"};
}

// The load factor at which a design's table of so many items is as large as asked for, or nearly.
double load_factor_for(const subject& design, std::uint64_t items, double size) {
  const double target = 8 * size * static_cast<double>(items);
  const auto fits = [&](double load_factor) {
    return static_cast<double>(design.bytes(items, load_factor)) <= target;
  };
  double low = 1.0 / 128, high = design.max_load_factor;
  if (fits(low) || !fits(high)) return high;  // as large at any load factor, or never so small
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

std::vector<subject> designs_of(const std::vector<std::string>& names, const std::string& space) {
  return choose(subjects_in(space, false), names, "--design", thesis_designs());
}

void run_sweep(experiment& rows, const std::string& name, const sweep_options& options) {
  check_sizes(options.items, "--n", 2, most_items);
  const auto sweeps = thesis_sweeps(rows.space());
  const sweep& s = *std::ranges::find(sweeps, name, &sweep::name);
  const auto designs = designs_of(options.designs, rows.space());
  for (const std::uint64_t n : options.items.empty() ? s.items : options.items) {
    for (const double size : options.sizes.empty() ? s.sizes : options.sizes) {
      for (const subject& design : designs) {
        bench::yardstick_case the_case{
            n, load_factor_for(design, n, size), 32, options.repeat, options.threads, {}};
        for (const bool sorted : {false, true}) {
          if (sorted && design.name != "sorted_array")
            continue;  // order helps a binary search, no hash table
          for (const unsigned percent : options.failed.empty() ? s.failed : options.failed)
            the_case.queries.push_back({percent, sorted});
        }
        rows.measure(design, the_case, [&](const measurement& m) {
          return fields_of(bench::sweep_row{size, m});
        });
      }
    }
  }
}

void run_fill(experiment& rows, const fill_options& options) {
  const std::uint64_t n = options.items != 0 ? options.items : rows.on_gpu() ? 10'000'000 : 1'000'000;
  bench::yardstick_case the_case{n, options.load_factor, 32, options.repeat, options.threads, {}};
  the_case.fill_steps = options.steps;
  for (const subject& design : designs_of(options.designs, rows.space()))
    rows.measure(design, the_case, [&](const measurement& m) {
      return fields_of(bench::sweep_row{1 / options.load_factor, m});
    });
}

void run_restarts(experiment& rows, const restarts_options& options) {
  check_sizes(options.items, "--n", 1, most_items);
  check_sizes(options.partitioned, "--partitioned", 1, most_items);
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
}

void run_cuckoo(experiment& rows, const cuckoo_options& options) {
  for (const unsigned functions : options.functions) {
    for (const double size : options.sizes) {
      if (size < bench::least_cuckoo_size(functions)) continue;
      for (const unsigned stash : options.stashes) {
        const bench::cuckoo_case c{functions, size, options.items, options.builds, options.repeat, stash};
        rows.add(fields_of(rows.on_gpu() ? bench::cuda_cuckoo(c) : bench::cpu_cuckoo(c, options.threads)));
      }
    }
  }
}

void run_two_level(experiment& rows, const two_level_options& options) {
  check_sizes(options.items, "--n", 1, 500'000'000);
  for (const std::uint64_t n : options.items) {
    for (const bool exact : {false, true}) {
      const bench::two_level_case c{n, options.builds, exact, options.repeat};
      rows.add(
          fields_of(rows.on_gpu() ? bench::cuda_two_level(c) : bench::cpu_two_level(c, options.threads)));
    }
  }
}

void run_multiplicity(experiment& rows, const multiplicity_options& options) {
  check_sizes({options.items}, "--items", 1, most_items);
  check_sizes(options.copies, "--copies", 1, options.items);
  for (const std::uint64_t copies : options.copies) {
    const bench::multiplicity_case the_case{options.items, copies};
    rows.add(fields_of(rows.on_gpu() ? bench::cuda_multiplicity(the_case, options.repeat)
                                     : bench::cpu_multiplicity(the_case, options.repeat, options.threads)));
  }
}

void run_probes(experiment& rows, const probes_options& options) {
  for (const double size : options.sizes) {
    bench::count_probes(options.items, size, [&](const bench::probe_statistics& row) {
      rows.add(fields_of(row), line_of_table_3_2(row));
    });
  }
}

constexpr const char* which_designs = "Designs to measure (default: the thesis' and ours), or all";
constexpr const char* which_builds = "Builds of a row, each with other keys and functions";

}  // namespace

void add_thesis_commands(CLI::App& bench) {
  for (const auto& s : thesis_sweeps("cpu")) {
    declare<sweep_options>(
        bench, {s.name, s.about, "million items a second, by slots of 8 bytes an item\n"},
        [name = s.name](experiment& rows, const sweep_options& o) { run_sweep(rows, name, o); },
        [](option_list& list, sweep_options& o) {
          list.designs(o.designs, which_designs);
          list.sizes("--n", o.items, "Numbers of items (default: more on a GPU)");
          list.ratios("--size", o.sizes, "Sizes of the table, in slots of 8 bytes an item", 1, 16);
          list.numbers("--failed", o.failed, "Shares of the queries whose keys are absent, in percent",
                       CLI::Range(0, 100));
        });
  }
  declare<fill_options>(bench,
                        {"thesis/fill", "Rates of inserts into a table that exists, against its fill",
                         "million inserts a second, by fill\n"},
                        run_fill, [](option_list& list, fill_options& o) {
                          list.designs(o.designs, which_designs);
                          list.size("--n", o.items, "Number of items (default: more on a GPU)", 2, 1LL << 31);
                          list.ratio(option::load_factor, o.load_factor,
                                     "Share of the slots that are full in the end", 0.01, 0.98);
                          list.number("--steps", o.steps, "Parts", 1, 1000);
                        });
  declare<cuckoo_options>(
      bench,
      {"thesis/cuckoo",
       "The single-level cuckoo table as published, with 2 to 5 functions: failed builds, chains of "
       "evictions, "
       "rates by size (section 6.1.1, figure 6.6)",
       "rates in million items a second; chains in evictions\n", "answers were wrong"},
      run_cuckoo, [](option_list& list, cuckoo_options& o) {
        list.size("--n", o.items, "Number of items", 1, 1 << 30);
        list.size("--builds", o.builds, which_builds)->check(CLI::PositiveNumber);
        list.numbers("--functions", o.functions, "Hash functions", CLI::Range(2, 5));
        list.ratios(
            "--size", o.sizes,
            "Slots for each item; sizes below the thesis' least for that number of functions are left out",
            1.02, 16);
        list.numbers("--stash", o.stashes,
                     "Slots of the stash: 101 with one place a key, 16 probed linearly, or 0",
                     CLI::IsMember({0U, 16U, 101U}));
      });
  declare<two_level_options>(
      bench,
      {"thesis/two_level",
       "The two-level cuckoo table as published: rounds of a bucket, seeds that fail, rates, with buckets of "
       "equal and of exact sizes (sections 5.2.2, 5.5)",
       "rates in million items a second; rounds and restarts are of buckets\n", "answers were wrong"},
      run_two_level, [](option_list& list, two_level_options& o) {
        list.sizes("--n", o.items, "Numbers of items");
        list.size("--builds", o.builds, which_builds)->check(CLI::PositiveNumber);
      });
  declare<multiplicity_options>(
      bench,
      {"thesis/multiplicity",
       "Multimaps against the copies of a key: builds, lookups, all values of all keys",
       "million items a second; `sort` is that of the same pairs, the next four are builds of multimaps\n",
       "values of some keys were not what they should be"},
      run_multiplicity, [](option_list& list, multiplicity_options& o) {
        list.size("--items", o.items, "Number of items");
        list.sizes("--copies", o.copies, "How often each key comes");
      });
  declare<probes_options>(
      bench,
      {.name = "thesis/probes",
       .about =
           "Slots that a lookup reads in open addressing: hash functions and jumps, next to table 3.2 of "
           "the thesis (on the CPU)",
       .faults = nullptr,  // tables refuse items where the thesis' limit of probes is too low
       .on_cpu_alone = true},
      run_probes, [](option_list& list, probes_options& o) {
        list.command().alias("thesis/table32");
        list.size("--n", o.items, "Number of items", 2, 1LL << 31);
        list.ratios("--size", o.sizes, "Slots an item", 1.0205, 16);
      });
  declare<restarts_options>(
      bench,
      {.name = "thesis/restarts",
       .about = "How often cuckoo tables restart: two-level ones, and single-level ones with and without the "
                "stash (on the CPU)",
       .faults = "items were lost",
       .on_cpu_alone = true},
      run_restarts, [](option_list& list, restarts_options& o) {
        list.sizes("--items", o.items, "Numbers of items in a single-level table");
        list.size("--all-items", o.all_items,
                  "Items in all tables of a row: as many tables are built as come to that")
            ->check(CLI::PositiveNumber);
        list.sizes("--partitioned", o.partitioned, "Numbers of items in a two-level table");
        list.size("--all-partitioned", o.all_partitioned,
                  "Items in all partitions of a row, which are only counted")
            ->check(CLI::PositiveNumber);
      });
}

}  // namespace tilehash::app
