// SPDX-License-Identifier: Apache-2.0
// tilehash bench hashgraph/join, updates
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "kolushev/hashgraph_join.hpp"
#include "kolushev/hashgraph_updates.hpp"
#include "options.hpp"

namespace tilehash::bench {

static const char* name_of(join_kind kind) {
  return std::array{"inner", "left", "semi", "anti"}[static_cast<unsigned>(kind)];
}
static const char* name_of(join_skew skew) {
  return std::array{"none", "left", "right"}[static_cast<unsigned>(skew)];
}

static fields fields_of(const join_measurement& m) {
  fields all{{"design", m.design, "design", -22},
             {"space", m.space},
             {"kind", name_of(m.what.kind), "kind", -5},
             {"left", m.what.left, "left", 10},
             {"right", m.what.right, "right", 10},
             {"copies", m.what.copies, "copies", 7},
             {"skew", name_of(m.what.skew), "skew", -5},
             {"found", m.what.found, "found", 5, "g"},
             {"key_bytes", sizeof(u32)}};
  if (!m.obstacle.empty()) {
    all.push_back({"obstacle", m.obstacle, "", -1});
    return all;
  }
  const auto& both = m.all;
  all.insert(all.end(), {{"", m.build.median, "build", 9, ".5f"},
                         {"", m.join.median, "join", 9, ".5f"},
                         {"", both.median, "both", 9, ".5f"},
                         {"", fmt::format("({:.5f} to {:.5f})", both.min, both.max), "", 22},
                         {"", m.rate(both.median), "out", 7, ".3f", 1e-9},
                         {"", m.rate_in(both.median), "in", 7, ".3f", 1e-9}});
  all.push_back({"rows", m.rows});
  all.push_back(
      {"seconds", {{"build", as_json(m.build)}, {"join", as_json(m.join)}, {"both", as_json(m.all)}}});
  all.push_back(
      {"grows_per_s", {{"out", m.rate(m.all.median) / 1e9}, {"in", m.rate_in(m.all.median) / 1e9}}});
  all.push_back(wrong_answers(m.wrong));
  return all;
}
}  // namespace tilehash::bench

namespace tilehash::app {
namespace {

using bench::join_case;
using bench::join_measurement;
using bench::join_skew;

struct join_options : common_options {
  std::vector<std::string> designs;
  std::vector<std::uint64_t> left, copies{1, 16};
  std::uint64_t right = 0;
  std::vector<join_skew> skews{join_skew::none, join_skew::right};
  std::vector<join_kind> kinds{join_kind::inner};
  double found = 1;
};

void run_join(experiment& rows, const join_options& options) {
  const bool all = options.designs.empty() || options.designs == std::vector<std::string>{"all"};
  std::vector<join_case> cases;
  const std::vector<std::uint64_t> usual{std::uint64_t{1} << (rows.on_gpu() ? 26 : 22)};
  for (const std::uint64_t left : options.left.empty() ? usual : options.left) {
    for (const std::uint64_t copies : options.copies) {
      for (const join_skew skew : options.skews) {
        for (const join_kind kind : options.kinds)
          cases.push_back(
              {left, options.right != 0 ? options.right : left, copies, skew, options.found, kind});
      }
    }
  }
  for (const join_case& one : cases) {
    check_sizes({one.left}, "--left", 1, most_items);
    check_sizes({one.right}, "--right", 1, most_items);
    check_sizes({one.copies}, "--copies", 1, one.right);
  }
  for (const join_case& one : cases) {
    const auto tell = [&](const join_measurement& m) { rows.add(fields_of(m)); };
    const auto& designs = all ? bench::join_designs : options.designs;
    rows.on_gpu() ? bench::cuda_joins(one, designs, options.repeat, tell)
                  : bench::cpu_joins(one, designs, options.repeat, options.threads, tell);
  }
}

// Names for the values of an option.
template <class Enum>
std::map<std::string, Enum> named(std::initializer_list<Enum> values) {
  std::map<std::string, Enum> names;
  for (const Enum value : values) names[bench::name_of(value)] = value;
  return names;
}

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

void add_hashgraph_commands(CLI::App& bench) {
  declare<join_options>(
      bench,
      {"hashgraph/join",
       "Joins by regions, by a table and by graphs, next to sort and merge and lookups in a map",
       "seconds to build, to join, and for both (least to most); billion rows a second that come out, and "
       "that go in\n",
       "rows were joined to others than they should be"},
      run_join, [](option_list& list, join_options& o) {
        list.designs(o.designs, fmt::format("all, or some of {}", fmt::join(bench::join_designs, ",")))
            ->check(CLI::IsMember(bench::join_designs) | CLI::IsMember({"all"}));
        list.sizes("--left", o.left, "Numbers of left rows (default: 2^22, on a GPU 2^26)");
        list.size("--right", o.right, "Number of right rows (default: as many)");
        list.sizes("--copies", o.copies, "How often a key of the right side comes there, on average");
        list.choices("--skew", o.skews,
                     "Whose keys come as often as Zipf's law says: some of none,left,right",
                     named({join_skew::none, join_skew::left, join_skew::right}), "none,right");
        list.choices("--kinds", o.kinds, "Some of inner,left,semi,anti",
                     named({join_kind::inner, join_kind::left, join_kind::semi, join_kind::anti}), "inner");
        list.ratio("--found", o.found, "Share of the left rows whose key is on the right side, too", 0, 1);
      });
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
  add_cells_commands(bench);
}

}  // namespace tilehash::app
