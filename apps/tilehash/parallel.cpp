#include "parallel.hpp"

#include <sched.h>

#include <tilehash/space/cpu_algorithms.hpp>

#include <algorithm>
#include <atomic>

namespace tilehash::app {
namespace {

cpu& all_threads() {
  static cpu space;
  return space;
}

}  // namespace

void in_parallel(std::size_t n, const piece& work) {
  all_threads().for_each_chunk(n, [&](u64 first, u64 last) { work(first, last); });
}

void each_in_parallel(std::size_t n, const std::function<void(std::size_t i)>& work) {
  all_threads().for_each_chunk(
      n,
      [&](u64 first, u64 last) {
        for (u64 i = first; i < last; ++i) work(i);
      },
      1);
}

std::uint64_t count_in_parallel(
    std::size_t n, const std::function<std::uint64_t(std::size_t first, std::size_t last)>& count) {
  std::atomic<std::uint64_t> sum = 0;
  in_parallel(n, [&](std::size_t first, std::size_t last) { sum += count(first, last); });
  return sum;
}

void sort_in_parallel(std::vector<std::uint64_t>& numbers) {
  all_threads().sort(numbers.data(), numbers.size());
}

int threads_that_run(int asked) {
  const int most = all_threads().threads();
  return asked <= 0 ? most : std::min(asked, most);
}

int cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

}  // namespace tilehash::app
