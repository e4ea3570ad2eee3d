// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "alcantara/thesis_cuckoo.hpp"
#include "alcantara/thesis_two_level.hpp"
#include "rows.hpp"

namespace tilehash::bench {

std::string cuckoo_heading() {
  return fmt::format(
      "rates in million items a second; chains in evictions\n{:>2} {:>5} {:>9} {:>6} {:>7} {:>7} {:>8} {:>6} "
      "{:>9} "
      "{:>10} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
      "H", "stash", "items", "size", "builds", "failed", "lost", "used", "unplaced", "mean chain", "longest",
      "allowed", "build", "find", "absent");
}

std::string cuckoo_line(const cuckoo_row& row) {
  const cuckoo_case& c = row.what;
  return fmt::format(
      "{:>2} {:>5} {:>9} {:>6.4g} {:>7} {:>7} {:>8} {:>6} {:>9} {:>10.4f} {:>8} {:>8} {:>8.1f} {:>8.1f} "
      "{:>8.1f}{}\n",
      c.functions, c.stash, c.items, c.size, c.builds, row.failed, row.lost, row.stash_used,
      row.most_unplaced, row.mean_chain, row.longest_chain, row.most_allowed, row.build / 1e6, row.find / 1e6,
      row.find_absent / 1e6, faults({{"WRONG", row.wrong}}));
}

nlohmann::ordered_json cuckoos_as_json(const std::vector<cuckoo_row>& rows) {
  return rows_as_json(rows, [](const cuckoo_row& row) -> nlohmann::ordered_json {
    return {{"design", "published_cuckoo"},
            {"space", row.space},
            {"functions", row.what.functions},
            {"stash", row.what.stash},
            {"size", row.what.size},
            {"items", row.what.items},
            {"builds", row.what.builds},
            {"failed_builds", row.failed},
            {"lost", row.lost},
            {"stash_used", row.stash_used},
            {"most_unplaced", row.most_unplaced},
            {"mean_chain", row.mean_chain},
            {"longest_chain", row.longest_chain},
            {"most_allowed", row.most_allowed},
            {"build_per_second", row.build},
            {"find_per_second", row.find},
            {"find_absent_per_second", row.find_absent},
            {"wrong", row.wrong}};
  });
}

std::string two_level_heading() {
  return fmt::format(
      "rates in million items a second; rounds and restarts are of buckets\n{:>6} {:>9} {:>6} {:>7} {:>7} "
      "{:>10} "
      "{:>9} {:>8} {:>8} {:>7} {:>8} {:>8} {:>8}\n",
      "tables", "items", "size", "builds", "failed", "partitions", "buckets", "restarts", "rounds", "longest",
      "build", "find", "absent");
}

std::string two_level_line(const two_level_row& row) {
  const two_level_case& c = row.what;
  return fmt::format(
      "{:>6} {:>9} {:>6.4g} {:>7} {:>7} {:>10} {:>9} {:>8} {:>8.3f} {:>7} {:>8.1f} {:>8.1f} {:>8.1f}{}\n",
      c.exact ? "exact" : "equal", c.items, row.size, c.builds, row.failed, row.partitions, row.buckets,
      row.restarts, row.mean_rounds, row.longest, row.build / 1e6, row.find / 1e6, row.find_absent / 1e6,
      faults({{"WRONG", row.wrong}}));
}

nlohmann::ordered_json two_levels_as_json(const std::vector<two_level_row>& rows) {
  return rows_as_json(rows, [](const two_level_row& row) -> nlohmann::ordered_json {
    return {{"design", row.what.exact ? "published_two_level_exact" : "published_two_level"},
            {"space", row.space},
            {"items", row.what.items},
            {"builds", row.what.builds},
            {"size", row.size},
            {"failed_builds", row.failed},
            {"partitions", row.partitions},
            {"buckets", row.buckets},
            {"restarts", row.restarts},
            {"mean_rounds", row.mean_rounds},
            {"longest", row.longest},
            {"build_per_second", row.build},
            {"find_per_second", row.find},
            {"find_absent_per_second", row.find_absent},
            {"wrong", row.wrong}};
  });
}

}  // namespace tilehash::bench
