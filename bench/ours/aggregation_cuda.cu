// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>

#include "ours/aggregation_workload.hpp"

namespace tilehash::bench {
namespace {

// The items sorted by key, then each key's sum: CUB, as fast as it goes, with its memory made beforehand.
class sort_and_reduce {
 public:
  sort_and_reduce(cuda& space, aggregation_workload<cuda>& work, u64 items)
      : space_(space),
        work_(work),
        items_(static_cast<int>(items)),
        keys_(space, items),
        values_(space, items),
        groups_(space, items),
        sums_(space, items),
        number_(space, 1) {
    std::size_t to_sort = 0, to_reduce = 0;
    sort(nullptr, to_sort);
    fast_range(nullptr, to_reduce);
    scratch_ = buffer<char, cuda>(space, std::max(to_sort, to_reduce));
  }
  void run() {
    std::size_t bytes = scratch_.bytes();
    sort(scratch_.data(), bytes);
    fast_range(scratch_.data(), bytes);
  }
  u64 groups() { return read_one(space_, number_.data()); }

 private:
  void sort(void* scratch, std::size_t& bytes) {
    detail::check_cuda(
        cub::DeviceRadixSort::SortPairs(scratch, bytes, work_.keys.data(), keys_.data(), work_.values.data(),
                                        values_.data(), items_, 0, 32, space_.stream()),
        "CUB's sort");
  }
  void fast_range(void* scratch, std::size_t& bytes) {
    detail::check_cuda(cub::DeviceReduce::ReduceByKey(scratch, bytes, keys_.data(), groups_.data(),
                                                      values_.data(), sums_.data(), number_.data(),
                                                      ::cuda::std::plus<>{}, items_, space_.stream()),
                       "CUB's reduce by key");
  }

  cuda& space_;
  aggregation_workload<cuda>& work_;
  int items_;
  buffer<u32, cuda> keys_, values_, groups_, sums_;
  buffer<u64, cuda> number_;
  buffer<char, cuda> scratch_;
};

}  // namespace

std::vector<aggregation> cuda_aggregations(const aggregation_case& the_case, unsigned repeat) {
  cuda space;
  aggregation_workload<cuda> work(space, the_case, repeat);
  std::vector<aggregation> rows{work.measure_table("cuda")};
  sort_and_reduce rival(space, work, the_case.items);
  aggregation row{"CUB sort, reduce by key", "cuda", the_case};
  row.seconds = measure(
      space, repeat, [] {}, [&] { rival.run(); });
  row.wrong = rival.groups() != work.groups_seen;
  rows.push_back(row);
  return rows;
}

}  // namespace tilehash::bench
