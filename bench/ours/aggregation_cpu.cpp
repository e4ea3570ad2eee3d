// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include <unordered_map>

#include "ours/aggregation_workload.hpp"

#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#endif

namespace tilehash::bench {
namespace {

#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
using rival_map = boost::unordered_flat_map<u32, u32>;
constexpr const char* rival_name = "boost::unordered_flat_map";
#else
using rival_map = std::unordered_map<u32, u32>;
constexpr const char* rival_name = "std::unordered_map";
#endif

}  // namespace

std::vector<aggregation> cpu_aggregations(const aggregation_case& the_case, unsigned repeat, int threads) {
  cpu space(threads);
  aggregation_workload<cpu> work(space, the_case, repeat);
  std::vector<aggregation> rows{work.measure_table("cpu")};
  rival_map sums;
  aggregation rival{rival_name, "cpu", the_case};
  rival.seconds = measure(
      space, repeat, [&] { sums.clear(), sums.reserve(the_case.groups); },
      [&] {
        for (u64 i = 0; i < the_case.items; ++i) sums[work.keys.data()[i]] += work.values.data()[i];
      });
  rival.wrong = sums.size() != work.groups_seen;
  rows.push_back(rival);
  return rows;
}

}  // namespace tilehash::bench
