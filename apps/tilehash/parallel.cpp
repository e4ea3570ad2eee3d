// SPDX-License-Identifier: Apache-2.0
#include "parallel.hpp"

#include <sched.h>

#include <tilehash/space/cpu_algorithms.hpp>

#include <algorithm>
#include <atomic>
#include <future>

namespace tilehash::app {
namespace {

cpu& all_threads() {
  static cpu space;
  return space;
}

// Shares of `most` at a time. Without oneTBB the space has one thread, which is right for what is measured;
// what is not takes threads of its own all the same. A share that throws ends the work of its thread, and
// what it threw is the caller's once all are done.
void in_shares(std::size_t n, std::size_t most, const share& work) {
#if TILEHASH_HAS_TBB
  all_threads().for_each_share(
      n, [&](u64 first, u64 last) { work(first, last); }, most);
#else
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t first; (first = next.fetch_add(most)) < n;) work(first, std::min(n, first + most));
  };
  const std::size_t threads = std::min(static_cast<std::size_t>(cores()), (n + most - 1) / most);
  std::vector<std::future<void>> others;  // one that gets no thread works in get()
  for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(take));
  take();
  for (std::future<void>& other : others) other.get();
#endif
}

}  // namespace

void in_parallel(std::size_t n, const share& work) { in_shares(n, 4096, work); }

void each_in_parallel(std::size_t n, const std::function<void(std::size_t i)>& work) {
  in_shares(n, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) work(i);
  });
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
