// SPDX-License-Identifier: Apache-2.0
// tilehash bench hashgraph/updates
#include <string>
#include <vector>

#include "commands.hpp"
#include "experiment.hpp"
#include "kolushev/hashgraph_updates.hpp"
#include "options.hpp"

namespace tilehash::app {
namespace {

using bench::updates_case;
using bench::updates_row;

struct updates_options : common_options {
  std::vector<std::uint64_t> items;
  std::vector<double> load_factors{1}, slacks{0.25, 1}, shares{0.001, 0.01, 0.1, 0.5};
};

bench::fields fields_of(const updates_row& row) {
  bench::fields all{{"space", row.space},
                    {"items", row.what.items, "items", 10},
                    {"load_factor", row.what.load_factor, "a row", 5, "g"},
                    {"slack", row.what.slack, "slack", 5, "g"},
                    {"share", row.what.share, "share", 7, "g"}};
  if (!row.obstacle.empty()) {
    all.push_back({"obstacle", row.obstacle, "", -1});
    return all;
  }
  const auto ms = [&](const char* head, const bench::spread& s) {
    all.push_back({"", s.median, head, 10, ".4g", 1e3});
  };
  const auto rate = [&](const char* head, const bench::spread& s) {
    all.push_back({"", static_cast<double>(row.what.items) / s.median, head, 9, ".5g", 1e-6});
  };
  ms("insert", row.insert), ms("erase", row.erase), ms("build", row.build);
  rate("found", row.found), rate("(built)", row.built_found);
  rate("not found", row.not_found), rate("(built)", row.built_not_found);
  all.push_back({"seconds",
                 {{"insert", bench::as_json(row.insert)},
                  {"erase", bench::as_json(row.erase)},
                  {"build", bench::as_json(row.build)},
                  {"found", bench::as_json(row.found)},
                  {"not_found", bench::as_json(row.not_found)},
                  {"built_found", bench::as_json(row.built_found)},
                  {"built_not_found", bench::as_json(row.built_not_found)}}});
  all.push_back({"built_anew", row.built_anew, "rebuilt", 7});
  all.push_back({"table_bytes", {{"dynamic_hash_graph", row.bytes}, {"hash_graph", row.built_bytes}}});
  all.push_back(bench::wrong_answers(row.wrong));
  return all;
}

void run_updates(experiment& rows, const updates_options& options) {
  auto items = options.items;
  if (items.empty()) items = {std::uint64_t{1} << (rows.on_gpu() ? 26 : 22)};
  check_sizes(items, "--n", 1, (1ULL << 30) - 1);
  std::vector<updates_case> cases;
  for (const std::uint64_t n : items) {
    for (const double slack : options.slacks) {
      for (const double load_factor : options.load_factors) {
        for (const double share : options.shares) cases.push_back({n, load_factor, slack, share});
      }
    }
  }
  const auto tell = [&](const updates_row& row) { rows.add(fields_of(row)); };
  rows.on_gpu() ? bench::cuda_updates(cases, options.repeat, tell)
                : bench::cpu_updates(cases, options.repeat, options.threads, tell);
}

}  // namespace

void add_updates_command(CLI::App& bench) {
  declare<updates_options>(
      bench,
      {"hashgraph/updates", "Items inserted into a hash graph and erased, next to a rebuild",
       "milliseconds to insert a share of the items, to erase as many, to build a hash_graph of all; then "
       "million "
       "lookups a second, and those of the hash_graph\n",
       "keys were not there as often as they should be"},
      run_updates, [](option_list& list, updates_options& o) {
        list.sizes("--n", o.items, "Numbers of items (default: 2^22, on a GPU 2^26)");
        list.ratios(option::load_factor, o.load_factors, "Items a row", 0.01, 10);
        list.ratios("--slacks", o.slacks, "Free entries an item, to begin with", 0, 16);
        list.ratios("--shares", o.shares, "How many items come, for each that is there", 0, 1);
      });
}

}  // namespace tilehash::app
