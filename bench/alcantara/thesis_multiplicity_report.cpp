// SPDX-License-Identifier: Apache-2.0
#include "alcantara/thesis_multiplicity_report.hpp"

#include <fmt/format.h>

#include "report.hpp"
#include "rows.hpp"

namespace tilehash::bench {
namespace {

const char* name_of(multiplicity_op op) {
  switch (op) {
    case multiplicity_op::sort:
      return "sort";
    case multiplicity_op::by_sort:
      return "by sort";
    case multiplicity_op::by_count:
      return "by counting";
    case multiplicity_op::automatic:
      return "automatic";
    case multiplicity_op::graph_build:
      return "hash_graph";
    case multiplicity_op::look_up:
      return "look up";
    case multiplicity_op::retrieve:
      return "retrieve";
    case multiplicity_op::graph_retrieve:
      return "hash_graph count";
    case multiplicity_op::compact:
      return "compacting";
    case multiplicity_op::compact_find:
      return "compacting ids";
    case multiplicity_op::two_level:
      return "two-level";
    case multiplicity_op::two_level_find:
      return "two-level ids";
    case multiplicity_op::list:
      return "sorted list";
    case multiplicity_op::list_find:
      return "sorted list ids";
    case multiplicity_op::index_build:
      return "index";
    case multiplicity_op::index_find:
      return "index ids";
  }
  return "";
}

}  // namespace

std::string multiplicity_heading() {
  std::string text = fmt::format(
      "million items a second; `sort` is that of the same pairs, the next four are builds of "
      "multimaps\n{:>7} {:>9} {:>7}",
      "copies", "keys", "B/item");
  for (const auto op : multiplicity_ops) text += fmt::format(" {:>16}", name_of(op));
  return text + "\n";
}

std::string multiplicity_line(const multiplicity_row& row) {
  std::string text = fmt::format("{:>7} {:>9} {:>7.2f}", row.what.copies, row.what.keys(), row.bytes);
  for (const auto op : multiplicity_ops) text += fmt::format(" {:>16.1f}", row.rate(op) / 1e6);
  return text + (row.wrong != 0 ? "  WRONG\n" : "\n");
}

nlohmann::ordered_json multiplicities_as_json(std::span<const multiplicity_row> rows) {
  return rows_as_json(rows, [](const multiplicity_row& row) {
    nlohmann::ordered_json one{{"space", row.space},
                               {"items", row.what.items},
                               {"copies", row.what.copies},
                               {"keys", row.what.keys()},
                               {"bytes_per_item", row.bytes}};
    for (const auto op : multiplicity_ops) {
      one["seconds"][name_of(op)] = as_json(row.seconds[static_cast<u32>(op)]);
      one["mitems_per_s"][name_of(op)] = row.rate(op) / 1e6;
    }
    one["wrong"] = row.wrong;
    return one;
  });
}

}  // namespace tilehash::bench
