// SPDX-License-Identifier: Apache-2.0
#include "ours/tail_report.hpp"

#include <fmt/format.h>

#include <string_view>

#include "report.hpp"
#include "rows.hpp"

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

std::string tail_heading(const std::string& machine) {
  return fmt::format(
      "{}\nbillion items a second: median (least to most); what share that is of as many random reads of 64 "
      "bytes, and\nof compare-and-swaps of 8, in memory of the table's size\n{:<24} {:<11} {:>4} {:>10} "
      "{:>10} "
      "{:>5}\n",
      machine, "design", "", "bits", "items", "of", "load");
}

std::string tail_line(const tail_row& row) {
  const tail_case& what = row.what;
  const double rate = row.rate(row.seconds.median);
  std::string text =
      fmt::format("{:<24} {:<11} {:>4} {:>10} {:>10} {:>5.2f} {:>8.3f} ({:.3f} to {:.3f}) {:>6.2f} {:>6.2f}",
                  row.design, name_of(what.op), what.bits, what.items, what.n, row.load_factor, rate / 1e9,
                  row.rate(row.seconds.max) / 1e9, row.rate(row.seconds.min) / 1e9, rate / row.ceilings.reads,
                  rate / row.ceilings.swaps);
  text += faults({{"REFUSED", row.failed}, {"WRONG", row.wrong}});
  return text + (row.failed + row.wrong == 0 ? "  ok\n" : "\n");
}

nlohmann::ordered_json tails_as_json(std::span<const tail_row> rows) {
  return rows_as_json(rows, [](const tail_row& row) {
    const spread& s = row.seconds;
    return nlohmann::ordered_json{{"design", row.design},
                                  {"space", row.space},
                                  {"op", name_of(row.what.op)},
                                  {"n", row.what.n},
                                  {"items", row.what.items},
                                  {"key_bytes", row.what.bits / 8},
                                  {"value_bytes", row.what.bits / 8},
                                  {"load_factor", row.load_factor},
                                  {"seconds", as_json(s)},
                                  {"gitems_per_s",
                                   {{"min", row.rate(s.max) / 1e9},
                                    {"median", row.rate(s.median) / 1e9},
                                    {"max", row.rate(s.min) / 1e9}}},
                                  {"ceiling_reads_gitems_per_s", row.ceilings.reads / 1e9},
                                  {"ceiling_swaps_gitems_per_s", row.ceilings.swaps / 1e9},
                                  {"ratio_reads", row.rate(s.median) / row.ceilings.reads},
                                  {"ratio_swaps", row.rate(s.median) / row.ceilings.swaps},
                                  {"failed", row.failed},
                                  {"wrong", row.wrong}};
  });
}

}  // namespace tilehash::bench
