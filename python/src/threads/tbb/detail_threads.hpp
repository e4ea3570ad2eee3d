// SPDX-License-Identifier: Apache-2.0
// What tilehash uses of oneTBB, written with std::thread. A call starts its threads and joins them, so a process
// has no threads between calls: a fork is safe, and an import starts none. The wheel needs no shared library.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tbb {
namespace detail_threads {

inline int automatic_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }
inline thread_local int concurrency = 1;
inline thread_local bool inside = false;  // nested loops run on the thread that meets them

// Range loops have at most 16 shares a thread, of whole grains.
inline std::size_t share_size(std::size_t size, std::size_t grain) {
  const std::size_t most = 16 * static_cast<std::size_t>(concurrency);
  return (std::max(grain, (size + most - 1) / most) + grain - 1) / grain * grain;
}

// work(share) for every share of [0, shares); a thread takes the next share when it is done with one. The first
// exception comes out.
template <class Work>
void run(std::size_t shares, const Work& work) {
  const std::size_t threads = std::min(static_cast<std::size_t>(concurrency), shares);
  if (inside || threads <= 1) {
    for (std::size_t share = 0; share < shares; ++share) work(share);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run_share = [&] {
    inside = true;
    try {
      for (std::size_t share; (share = next.fetch_add(1)) < shares;) work(share);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
    inside = false;
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run_share);
  } catch (const std::system_error&) {  // fewer threads do the work, too
  }
  run_share();
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace detail_threads
}  // namespace tbb

#include <tbb/detail_loops.hpp>  // after what it uses

namespace tbb {

// Halves are sorted by threads, and merged.
template <class Iterator, class... Less>
void parallel_sort(Iterator first, Iterator last, const Less&... less) {
  const auto size = last - first;
  if (detail_threads::concurrency < 2 || detail_threads::inside || size < 65536) {
    std::sort(first, last, less...);
    return;
  }
  const auto quarter = [&](std::size_t i) { return first + size / 4 * static_cast<std::ptrdiff_t>(i); };
  detail_threads::run(4,
                      [&](std::size_t i) { std::sort(quarter(i), i == 3 ? last : quarter(i + 1), less...); });
  detail_threads::run(2, [&](std::size_t i) {
    std::inplace_merge(quarter(2 * i), quarter(2 * i + 1), i == 1 ? last : quarter(2), less...);
  });
  std::inplace_merge(first, quarter(2), last, less...);
}

}  // namespace tbb
