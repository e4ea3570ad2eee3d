// SPDX-License-Identifier: Apache-2.0
// tilehash bench ceilings, yardstick, aggregation. commands.hpp lists the others.
#include "bench_commands.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "commands.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "parallel.hpp"
#include "report.hpp"

namespace tilehash::app {
namespace {

using bench::measurement;
using bench::subject;

struct ceilings_options : common_options {
  std::vector<std::uint64_t> sizes{32 << 20, 256 << 20, 1ULL << 30, 4ULL << 30};
};

struct yardstick_options : common_options {
  std::vector<std::string> designs{"all"}, peers{"all"};
  std::vector<std::uint64_t> sizes{1 << 24, 1 << 26};
  std::vector<double> load_factors{0.5, 0.8, 0.9, 0.95};
  unsigned bits = 32;
};

struct aggregation_options : common_options {
  std::uint64_t items = 1 << 26;
  std::vector<std::uint64_t> groups{1 << 10, 1 << 16, 1 << 24};
};

void run_ceilings(experiment& rows, const ceilings_options& options) {
  for (const auto& row : rows.on_gpu() ? bench::cuda_ceilings(options.sizes, options.repeat)
                                       : bench::cpu_ceilings(options.sizes, options.repeat, options.threads))
    rows.add(fields_of(row, rows.space()));
}

void run_yardstick(experiment& rows, const yardstick_options& options) {
  check_sizes(options.sizes, "--n", 2, options.bits == 32 ? most_items : 1ULL << 40);
  const auto all = subjects_in(rows.space(), !rows.on_gpu());
  std::vector<subject> designs, peers;
  for (const subject& s : all) (s.is_peer ? peers : designs).push_back(s);
  designs = choose(designs, options.designs, "--design");
  if (!rows.on_gpu()) peers = choose(peers, options.peers, "--peers");
  // With peers, on all threads and then one thread against one: most of them take one thread at a time for
  // what changes them.
  const int threads = threads_that_run(options.threads);
  std::vector<int> teams{threads};
  if (!peers.empty() && threads > 1) teams.push_back(1);

  for (const int team : teams) {
    for (const std::uint64_t n : options.sizes) {
      for (const double load_factor : options.load_factors) {
        const bench::yardstick_case the_case{n, load_factor, options.bits, options.repeat, team};
        std::vector<subject> now = designs;
        if (load_factor == options.load_factors.front())  // peers choose their own: once is enough
          now.insert(now.begin(), peers.begin(), peers.end());
        for (const subject& s : now)
          rows.measure(s, the_case, [](const measurement& m) { return fields_of(m); });
      }
    }
    rows.say(bench::limits_lines(rows.limits));
    rows.limits = {};  // of so many threads, too
  }
}

void run_aggregation(experiment& rows, const aggregation_options& options) {
  check_sizes({options.items}, "--items", 1, most_items);
  check_sizes(options.groups, "--groups", 2, most_items);
  for (const std::uint64_t groups : options.groups) {
    for (const bool skewed : {false, true}) {
      const bench::aggregation_case the_case{options.items, groups, skewed};
      for (const auto& row : rows.on_gpu()
                                 ? bench::cuda_aggregations(the_case, options.repeat)
                                 : bench::cpu_aggregations(the_case, options.repeat, options.threads))
        rows.add(fields_of(row));
    }
  }
}

}  // namespace

void add_bench_commands(CLI::App& bench) {
  bench.require_subcommand(1);
  declare<ceilings_options>(bench,
                            {"ceilings", "The machine's limits: copies, random reads, random atomics",
                             "billion accesses a second\n"},
                            run_ceilings, [](option_list& list, ceilings_options& o) {
                              list.sizes("--bytes", o.sizes,
                                         "Sizes of the memory that is accessed, such as 32M,1G");
                            });
  declare<yardstick_options>(
      bench,
      {"yardstick", "Tables against the machine's limits and, on the CPU, against other libraries",
       "million items a second, and their share of the ceiling; *: on one thread; ~: varies by more than 10 "
       "%\n"},
      run_yardstick, [](option_list& list, yardstick_options& o) {
        list.designs(o.designs, "Designs to measure, all or none");
        list.names("--peers", o.peers, "Other libraries' maps to measure on the CPU, all or none");
        list.sizes("--n", o.sizes, "Numbers of unique random keys");
        list.ratios(option::load_factor, o.load_factors,
                    "Shares of the slots to fill; designs are left out that take less", 0.01, 1);
        list.number(option::key_bits, o.bits, "Bits of a key, and of its value: 32 or 64", 32, 64)
            ->check(CLI::IsMember({32, 64}));
      });
  declare<aggregation_options>(
      bench, {"aggregation", "Sums by group: a table against sorting or another map", {}, "sums were wrong"},
      run_aggregation, [](option_list& list, aggregation_options& o) {
        list.size("--items", o.items, "Number of items");
        list.sizes("--groups", o.groups, "Numbers of groups");
      });

  add_update_commands(bench);
  add_shapes_commands(bench);
  add_thesis_commands(bench);
  add_horton_commands(bench);
  add_coherent_commands(bench);
  add_dynamic_commands(bench);
  add_hashgraph_commands(bench);
  add_kmers_commands(bench);
}

}  // namespace tilehash::app
