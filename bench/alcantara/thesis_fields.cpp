// SPDX-License-Identifier: Apache-2.0
#include "alcantara/thesis_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "report.hpp"

namespace tilehash::bench {
namespace {

double percent(u64 part, u64 all) { return 100 * static_cast<double>(part) / static_cast<double>(all); }

// In the order of multiplicity_op.
constexpr std::array multiplicity_names{"sort",
                                        "by sort",
                                        "by counting",
                                        "automatic",
                                        "hash_graph",
                                        "look up",
                                        "retrieve",
                                        "hash_graph count",
                                        "compacting",
                                        "compacting ids",
                                        "two-level",
                                        "two-level ids",
                                        "sorted list",
                                        "sorted list ids",
                                        "index",
                                        "index ids",
                                        "single-level values",
                                        "single-level values look up",
                                        "two-level values",
                                        "two-level values look up"};
static_assert(multiplicity_names.size() == std::size(multiplicity_ops));

// Table 3.2 of the thesis: 10 million random keys in tables of open addressing.
struct published {
  std::string_view probing;
  bool found;
  double size, average;
  std::array<u32, 5> at;
};
constexpr std::array<published, 18> table_3_2{{
    {"linear", true, 1.05, 11.06, {1, 6, 16, 195, 5144}},
    {"linear", true, 1.25, 2.99, {1, 3, 6, 29, 301}},
    {"linear", true, 2, 1.50, {1, 2, 3, 7, 43}},
    {"quadratic", true, 1.05, 3.39, {1, 4, 8, 29, 264}},
    {"quadratic", true, 1.25, 2.13, {1, 3, 4, 12, 80}},
    {"quadratic", true, 2, 1.43, {1, 2, 2, 5, 22}},
    {"double hashing", true, 1.05, 3.23, {1, 4, 7, 28, 237}},
    {"double hashing", true, 1.25, 2.02, {1, 3, 4, 11, 54}},
    {"double hashing", true, 2, 1.39, {1, 2, 2, 5, 20}},
    {"linear", false, 1.05, 223.40, {77, 340, 622, 1820, 5650}},
    {"linear", false, 1.25, 12.97, {6, 19, 34, 95, 354}},
    {"linear", false, 2, 2.49, {1, 3, 5, 13, 58}},
    {"quadratic", false, 1.05, 21.85, {15, 35, 50, 98, 318}},
    {"quadratic", false, 1.25, 5.43, {4, 9, 12, 23, 78}},
    {"quadratic", false, 2, 2.13, {1, 3, 4, 8, 26}},
    {"double hashing", false, 1.05, 21.42, {15, 34, 49, 97, 359}},
    {"double hashing", false, 1.25, 5.06, {4, 8, 11, 22, 81}},
    {"double hashing", false, 2, 2.01, {1, 3, 4, 7, 27}},
}};

// The thesis' figures of such a table with its jumps, or null.
const published* thesis_of(const probe_statistics& row) {
  if (row.jump_prime != 0 && row.jump_prime != 41) return nullptr;
  const auto* const at = std::ranges::find_if(table_3_2, [&](const published& its) {
    return its.probing == row.probing && its.found == row.found && its.size == row.size;
  });
  return at == table_3_2.end() ? nullptr : at;
}

field lost_items(u64 count) { return {.name = "lost", .value = count, .head = "LOST", .is_fault = true}; }

// Rates of a row that counts builds.
void add_rates(fields& row, double build, double find, double find_absent) {
  row.push_back({"build_per_second", build, "build", 8, ".1f", 1e-6});
  row.push_back({"find_per_second", find, "find", 8, ".1f", 1e-6});
  row.push_back({"find_absent_per_second", find_absent, "absent", 8, ".1f", 1e-6});
}

}  // namespace

fields fields_of(const cuckoo_row& row) {
  const cuckoo_case& c = row.what;
  fields all{{"design", "published_cuckoo"},
             {"space", row.space},
             {"functions", c.functions, "H", 2},
             {"stash", c.stash, "stash", 5},
             {"size", c.size, "size", 6, ".4g"},
             {"items", c.items, "items", 9},
             {"builds", c.builds, "builds", 7},
             {"failed_builds", row.failed, "failed", 7},
             {"lost", row.lost, "lost", 8},
             {"stash_used", row.stash_used, "used", 6},
             {"most_unplaced", row.most_unplaced, "unplaced", 9},
             {"mean_chain", row.mean_chain, "mean chain", 10, ".4f"},
             {"longest_chain", row.longest_chain, "longest", 8},
             {"most_allowed", row.most_allowed, "allowed", 8}};
  add_rates(all, row.build, row.find, row.find_absent);
  all.push_back(wrong_answers(row.wrong));
  return all;
}

fields fields_of(const two_level_row& row) {
  fields all{{"design", row.what.exact ? "published_two_level_exact" : "published_two_level"},
             {"", row.what.exact ? "exact" : "equal", "tables", 6},
             {"space", row.space},
             {"items", row.what.items, "items", 9},
             {"builds", row.what.builds, "builds", 7},
             {"size", row.size, "size", 6, ".4g"},
             {"failed_builds", row.failed, "failed", 7},
             {"partitions", row.partitions, "partitions", 10},
             {"buckets", row.buckets, "buckets", 9},
             {"restarts", row.restarts, "restarts", 8},
             {"mean_rounds", row.mean_rounds, "rounds", 8, ".3f"},
             {"longest", row.longest, "longest", 7}};
  add_rates(all, row.build, row.find, row.find_absent);
  all.push_back(wrong_answers(row.wrong));
  return all;
}

fields fields_of(const multiplicity_row& row) {
  fields all{{"space", row.space},
             {"items", row.what.items},
             {"copies", row.what.copies, "copies", 7},
             {"keys", row.what.keys(), "keys", 9},
             {"bytes_per_item", row.bytes, "B/item", 7, ".2f"}};
  nlohmann::ordered_json seconds, rates;
  for (const auto op : multiplicity_ops) {
    const char* const name = multiplicity_names[static_cast<u32>(op)];
    const double rate = row.rate(op) / 1e6;
    seconds[name] = as_json(row.seconds[static_cast<u32>(op)]);
    rates[name] = rate;
    all.push_back({"", rate, name, 16, ".1f"});
  }
  all.push_back({"seconds", std::move(seconds)});
  all.push_back({"mitems_per_s", std::move(rates)});
  all.push_back(wrong_answers(row.wrong));
  return all;
}

fields fields_of(const probe_statistics& row) {
  fields all{{"probing", row.probing, "probing", -16},
             {"hash", row.hash, "hash functions", -15},
             {"jump_prime", row.jump_prime},
             {"", row.jump_prime == 0 ? "" : std::to_string(row.jump_prime), "jump mod", 8},
             {"items", row.items, "items", 9},
             {"size", row.size, "size / N", 8, ".2f"},
             {"found", row.found},
             {"", row.found ? "found" : "missing", "keys", 7},
             {"average", row.average, "average", 8, ".2f"},
             {"at_50_80_90_99_100_percent", row.at}};
  for (std::size_t i = 0; i < row.at.size(); ++i)
    all.push_back({"", row.at[i], std::array{"50 %", "80 %", "90 %", "99 %", "100 %"}[i], 6});
  all.push_back(refused_items(row.refused, "refused"));
  return all;
}

std::string line_of_table_3_2(const probe_statistics& row) {
  const published* its = thesis_of(row);
  if (its == nullptr) return {};
  return fmt::format("{:>68} {:>8.2f} {:>6} {:>6} {:>6} {:>6} {:>6}\n", "thesis:", its->average, its->at[0],
                     its->at[1], its->at[2], its->at[3], its->at[4]);
}

fields fields_of(const restart_counts& row) {
  const restart_case& c = row.what;
  return {{"design", "cuckoo"},
          {"functions", c.functions, "H", 2},
          {"stash", c.stash},
          {"", c.stash ? "101" : "none", "stash", 6},
          {"items", c.items, "items", 9},
          {"size", c.size, "size / N", 8, ".2f"},
          {"trials", c.trials, "trials", 7},
          {"restarted", row.restarted},
          {"", percent(row.restarted, c.trials), "restarted %", 11, ".2f"},
          {"larger", row.larger},
          {"", percent(row.larger, c.trials), "larger %", 8, ".2f"},
          {"stash_used", row.stash_used},
          {"", percent(row.stash_used, c.trials), "stash used %", 12, ".2f"},
          {"stashed", row.stashed, "in it", 8},
          lost_items(row.lost),
          {"hard_share", row.hard, "hard %", 7, ".2f", 100},
          {"walks", row.walks, "walks", 6, ".2f"},
          {"most_walks", row.most_walks, "most", 5}};
}

fields fields_of(const partition_counts& row) {
  const partition_case& c = row.what;
  return {{"design", "two_level_cuckoo"},
          {"items", c.items, "items", 9},
          {"regions", row.regions, "regions", 8},
          {"partitions", c.partitions, "partitions", 11},
          {"overfull", row.overfull},
          {"", percent(row.overfull, c.partitions), "over 512, %", 11, ".3f"},
          {"beyond", row.beyond},
          {"", percent(row.beyond, c.partitions), "over a region's slots, %", 24, ".3f"},
          {"builds", c.builds, "builds", 8},
          {"restarted", row.restarted, "restarted", 10},
          {"reseeded", row.reseeded, "reseeded", 9},
          lost_items(row.lost)};
}

fields fields_of(const sweep_row& row) {
  const measurement& m = row.what;
  const bool finds = m.op == "find", fills = m.op == "insert";
  const unsigned failed = m.queries.failed_percent;
  fields all{{"design", m.design},
             {"", m.queries.sorted ? m.design + ", sorted queries" : m.design, "design", -30},
             {"space", m.space},
             {"n", m.n, "items", 9},
             {"size", row.size, "size", 5, ".2f"},
             {"size_got", row.got(), "slots", fills ? 0 : 6, ".3f"},
             {"load_factor", m.load_factor},
             {"op", m.op}};
  if (finds) {
    all.push_back({"failed_percent", failed});
    all.push_back({"sorted", m.queries.sorted});
  }
  const std::string head = fills                   ? fmt::format("{:.2f}", m.load_factor)
                           : !finds || failed == 0 ? m.op
                                                   : fmt::format("{} % fail", failed);
  all.push_back({.name = {},
                 .value = m.rate(),
                 .head = head,
                 .width = fills ? 7 : 9,
                 .format = ".1f",
                 .scale = 1e-6,
                 .across = true});
  add_rate(all, m);
  return all;
}

}  // namespace tilehash::bench
