// SPDX-License-Identifier: Apache-2.0
#include "ours/tail_report.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tilehash::bench {
namespace {

std::string_view name_of(tail_op op) {
  switch (op) {
    case tail_op::insert:
      return "insert_last";
    case tail_op::erase:
      return "erase";
    case tail_op::find:
      return "find_zipf";
  }
  return "";
}

}  // namespace

std::vector<tail_case> tail_cases(u64 n, unsigned bits) {
  std::vector<tail_case> cases;
  for (const u64 part : {n / 16, n - n / 64}) {
    for (const double load_factor : {0.8, 0.9, 0.95})
      cases.push_back({tail_op::insert, n, load_factor, bits, part});
  }
  const u64 fewer = n / 16, more = 4 * n;
  cases.push_back({tail_op::insert, fewer, 0.8, bits, fewer / 16});
  cases.push_back({tail_op::insert, more, 0.8, bits, more - more / 64});
  for (const u64 all : {fewer, n}) cases.push_back({tail_op::erase, all, 0.8, bits, all / 2});
  cases.push_back({tail_op::find, n, 0.8, bits, n});
  return cases;
}

fields fields_of(const tail_row& row) {
  const tail_case& what = row.what;
  const spread& s = row.seconds;
  const double rate = row.rate(s.median), least = row.rate(s.max), most = row.rate(s.min);
  return {{"design", row.design, "design", -24},
          {"space", row.space},
          {"op", name_of(what.op), "op", -11},
          {"", what.bits, "bits", 4},
          {"items", what.items, "items", 10},
          {"n", what.n, "of", 10},
          {"key_bytes", what.bits / 8},
          {"value_bytes", what.bits / 8},
          {"load_factor", row.load_factor, "load", 5, ".2f"},
          {"seconds", as_json(s)},
          {"gitems_per_s", {{"min", least / 1e9}, {"median", rate / 1e9}, {"max", most / 1e9}}},
          {"", fmt::format("{:.3f} ({:.3f} to {:.3f})", rate / 1e9, least / 1e9, most / 1e9), "rate", 26},
          {"ceiling_reads_gitems_per_s", row.ceilings.reads / 1e9},
          {"ceiling_swaps_gitems_per_s", row.ceilings.swaps / 1e9},
          {"ratio_reads", rate / row.ceilings.reads, "reads", 6, ".2f"},
          {"ratio_swaps", rate / row.ceilings.swaps, "swaps", 6, ".2f"},
          refused_items(row.failed),
          wrong_answers(row.wrong)};
}

}  // namespace tilehash::bench
