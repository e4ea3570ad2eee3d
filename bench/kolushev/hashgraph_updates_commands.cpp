// SPDX-License-Identifier: Apache-2.0
// tilehash bench hashgraph/updates
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "dataset.hpp"
#include "experiment.hpp"
#include "fields.hpp"
#include "kolushev/hashgraph_updates.hpp"
#include "options.hpp"
#include "report.hpp"
#include "session.hpp"

namespace tilehash::app {
namespace {

using bench::updates_case;
using bench::updates_row;

struct updates_options : common_options {
  std::vector<std::uint64_t> items;
  std::vector<double> load_factors{1}, slacks{0.25, 1}, shares{0.001, 0.01, 0.1, 0.5};
};

std::string updates_heading(const updates_case& what) {
  return fmt::format(
      "\n{} pairs of 32 + 32 bits, {} a row, {} free entries an item\n"
      "milliseconds to insert so many times as many, to erase as many, to build a hash_graph of all; and\n"
      "million lookups a second then, found and not, in brackets those of the hash_graph\n"
      "  {:>7} {:>10} {:>10} {:>10}   {:>9} {:>9} {:>11} {:>9}\n",
      what.items, what.load_factor, what.slack, "share", "insert", "erase", "build", "found", "", "not found",
      "");
}
std::string updates_line(const updates_row& row) {
  if (!row.obstacle.empty()) return fmt::format("  {:>7} {}\n", row.what.share, row.obstacle);
  const auto rate = [&](const bench::spread& s) {
    return 1e-6 * static_cast<double>(row.what.items) / s.median;
  };
  return fmt::format("  {:>7} {:>10.4g} {:>10.4g} {:>10.4g}   {:>9.5g} {:>9} {:>11.5g} {:>9}{}{}\n",
                     row.what.share, 1e3 * row.insert.median, 1e3 * row.erase.median, 1e3 * row.build.median,
                     rate(row.found), fmt::format("({:.5g})", rate(row.built_found)), rate(row.not_found),
                     fmt::format("({:.5g})", rate(row.built_not_found)), row.built_anew ? "  built anew" : "",
                     bench::faults({{"WRONG", row.wrong}}));
}
bench::fields fields_of(const updates_row& row) {
  bench::fields all{{"space", row.space},
                    {"items", row.what.items},
                    {"load_factor", row.what.load_factor},
                    {"slack", row.what.slack},
                    {"share", row.what.share}};
  if (!row.obstacle.empty()) {
    all.push_back({"obstacle", row.obstacle});
    return all;
  }
  all.push_back({"seconds",
                 {{"insert", bench::as_json(row.insert)},
                  {"erase", bench::as_json(row.erase)},
                  {"build", bench::as_json(row.build)},
                  {"found", bench::as_json(row.found)},
                  {"not_found", bench::as_json(row.not_found)},
                  {"built_found", bench::as_json(row.built_found)},
                  {"built_not_found", bench::as_json(row.built_not_found)}}});
  all.push_back({"built_anew", row.built_anew});
  all.push_back({"table_bytes", {{"dynamic_hash_graph", row.bytes}, {"hash_graph", row.built_bytes}}});
  all.push_back(bench::wrong_answers(row.wrong));
  return all;
}

void run_updates(const updates_options& options) {
  session session(options);
  const bool on_gpu = session.space() == "cuda";
  auto items = options.items;
  if (items.empty()) items = {std::uint64_t{1} << (on_gpu ? 26 : 22)};
  std::vector<updates_case> cases;
  for (const std::uint64_t n : items) {
    if (n < 1 || n >= 1ULL << 30)
      throw input_error(fmt::format("--n {}: must be at least 1 and below 2^30", n));
    for (const double slack : options.slacks) {
      for (const double load_factor : options.load_factors) {
        for (const double share : options.shares) cases.push_back({n, load_factor, slack, share});
      }
    }
  }
  experiment all(session, "hashgraph/updates", session.machine() + '\n');
  std::vector<updates_row> rows;
  const auto tell = [&](const updates_row& row) {
    const bool first = rows.empty() || rows.back().what.items != row.what.items ||
                       rows.back().what.slack != row.what.slack ||
                       rows.back().what.load_factor != row.what.load_factor;
    if (first) session.say(updates_heading(row.what));
    all.keep(fields_of(row));
    session.say(updates_line(row));
    rows.push_back(row);
  };
  on_gpu ? bench::cuda_updates(cases, options.repeat, tell)
         : bench::cpu_updates(cases, options.repeat, options.threads, tell);
  all.finish("keys were not there as often as they should be");
}

}  // namespace

void add_updates_command(CLI::App& bench) {
  CLI::App* updates = bench.add_subcommand("hashgraph/updates",
                                           "Items inserted into a hash graph and erased, next to a rebuild");
  const auto given = std::make_shared<updates_options>();
  add_common(*updates, *given);
  add_sizes(*updates, "--n", given->items, "Numbers of items (default: 2^22, on a GPU 2^26)");
  add_ratios(*updates, option::load_factor, given->load_factors, "Items a row")
      ->check(CLI::Range(0.01, 10.0));
  updates->add_option("--slacks", given->slacks, "Free entries an item, to begin with")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 16.0))
      ->default_str("0.25,1");
  updates->add_option("--shares", given->shares, "How many items come, for each that is there")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->default_str("0.001,0.01,0.1,0.5");
  updates->callback([given] { run_updates(*given); });
}

}  // namespace tilehash::app
