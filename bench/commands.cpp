// SPDX-License-Identifier: Apache-2.0
// tilehash bench ceilings, yardstick, aggregation. commands.hpp lists the others.
#include "bench_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "dataset.hpp"
#include "experiment.hpp"
#include "options.hpp"
#include "parallel.hpp"
#include "report.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::known_limits;
using bench::measurement;
using bench::subject;
using bench::yardstick_case;

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

void run_ceilings(const ceilings_options& options) {
  session session(options);
  const auto rows = session.space() == "cuda"
                        ? bench::cuda_ceilings(options.sizes, options.repeat)
                        : bench::cpu_ceilings(options.sizes, options.repeat, options.threads);
  experiment all(session, "ceilings", session.machine() + '\n' + bench::ceiling_table(rows));
  for (const auto& row : rows) all.keep(fields_of(row, session.space()));
  all.finish(nullptr);
}

void run_yardstick(const yardstick_options& options) {
  for (const std::uint64_t n : options.sizes) {
    if (n < 2 || (options.bits == 32 && n >= 1ULL << 31))
      throw input_error(fmt::format("--n {}: must be at least 2, and below 2^31 for keys of 32 bits", n));
  }
  session session(options);
  std::vector<subject> designs, peers;
  for (const subject& s : bench::all_subjects()) {
    if (s.space == session.space()) (s.is_peer ? peers : designs).push_back(s);
  }
  designs = choose(designs, options.designs, "--design");
  peers = session.space() == "cpu" ? choose(peers, options.peers, "--peers") : std::vector<subject>{};
  // With peers, on all threads and then one thread against one: most of them take one thread at a time for
  // what changes them.
  const int threads = threads_that_run(options.threads);
  std::vector<int> teams{threads};
  if (!peers.empty() && threads > 1) teams.push_back(1);

  experiment rows(session, "yardstick");
  known_limits known;
  const auto run = [&](const subject& s, const yardstick_case& the_case) {
    std::vector<measurement> its;
    try {
      s.run(the_case, known, [&](const measurement& m) {
        its.push_back(m);
        rows.keep(fields_of(m));
      });
    } catch (const input_error& error) {  // the program has no tables of such pairs of this design
      if (!its.empty()) throw;
      session.say(fmt::format("{} is left out: {}\n", s.name, error.what()));
    }
    if (!its.empty())
      session.say(bench::subject_line(its));  // so that the file of a stopped command has it, too
    return its;
  };
  for (const int team : teams) {
    for (const std::uint64_t n : options.sizes) {
      std::vector<measurement> theirs;
      bool peers_done = false;  // they choose their own load factor: once is enough
      for (const double load_factor : options.load_factors) {
        const yardstick_case the_case{n, load_factor, options.bits, options.repeat, team};
        session.say(bench::case_heading(the_case, session.machine(), team));
        if (!std::exchange(peers_done, true)) {
          for (const subject& peer : peers) {
            const auto its = run(peer, the_case);
            theirs.insert(theirs.end(), its.begin(), its.end());
          }
        }
        for (const subject& design : designs) {
          const auto its = run(design, the_case);
          if (!theirs.empty() && !its.empty()) session.say(bench::advantage_line(its, theirs));
        }
      }
    }
    session.say(bench::limits_lines(known));
    known = {};  // the ceilings are of so many threads, too
  }
  rows.finish();
}

void run_aggregation(const aggregation_options& options) {
  check_sizes({options.items}, "--items", 1, most_items);
  check_sizes(options.groups, "--groups", 2, most_items);
  session session(options);
  experiment rows(session, "aggregation", session.machine() + '\n');
  for (const std::uint64_t groups : options.groups) {
    for (const bool skewed : {false, true}) {
      const bench::aggregation_case the_case{options.items, groups, skewed};
      for (const auto& row : session.space() == "cuda"
                                 ? bench::cuda_aggregations(the_case, options.repeat)
                                 : bench::cpu_aggregations(the_case, options.repeat, options.threads))
        rows.add(fields_of(row));
    }
  }
  rows.finish("sums were wrong");
}

}  // namespace

void add_bench_commands(CLI::App& bench) {
  bench.require_subcommand(1);

  CLI::App* ceilings =
      bench.add_subcommand("ceilings", "The machine's limits: copies, random reads, random atomics");
  const auto limits = std::make_shared<ceilings_options>();
  add_common(*ceilings, *limits);
  add_sizes(*ceilings, "--bytes", limits->sizes, "Sizes of the memory that is accessed, such as 32M,1G");
  ceilings->callback([limits] { run_ceilings(*limits); });

  CLI::App* yardstick = bench.add_subcommand(
      "yardstick", "Tables against the machine's limits and, on the CPU, against other libraries");
  const auto cases = std::make_shared<yardstick_options>();
  add_common(*yardstick, *cases);
  yardstick->add_option(option::design, cases->designs, "Designs to measure, all or none")
      ->delimiter(',')
      ->capture_default_str();
  yardstick->add_option("--peers", cases->peers, "Other libraries' maps to measure on the CPU, all or none")
      ->delimiter(',')
      ->capture_default_str();
  add_sizes(*yardstick, "--n", cases->sizes, "Numbers of unique random keys");
  add_ratios(*yardstick, option::load_factor, cases->load_factors,
             "Shares of the slots to fill; designs are left out that take less")
      ->check(CLI::Range(0.01, 1.0));
  yardstick->add_option(option::key_bits, cases->bits, "Bits of a key, and of its value: 32 or 64")
      ->check(CLI::IsMember({32, 64}))
      ->capture_default_str();
  yardstick->callback([cases] { run_yardstick(*cases); });

  CLI::App* aggregation =
      bench.add_subcommand("aggregation", "Sums by group: a table against sorting or another map");
  const auto sums = std::make_shared<aggregation_options>();
  add_common(*aggregation, *sums);
  add_size(*aggregation, "--items", sums->items, "Number of items")->capture_default_str();
  add_sizes(*aggregation, "--groups", sums->groups, "Numbers of groups");
  aggregation->callback([sums] { run_aggregation(*sums); });

  add_update_commands(bench);
  add_growth_commands(bench);
  add_shapes_commands(bench);
  add_thesis_commands(bench);
  add_horton_commands(bench);
  add_coherent_commands(bench);
  add_dynamic_commands(bench);
  add_hashgraph_commands(bench);
  add_kmers_commands(bench);
}

}  // namespace tilehash::app
