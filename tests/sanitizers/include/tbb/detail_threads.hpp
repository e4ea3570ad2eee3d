// SPDX-License-Identifier: Apache-2.0
// The parts of oneTBB that tilehash uses, written with std::thread, for the ThreadSanitizer build alone.
//
// ThreadSanitizer must see every instruction that orders one thread after another. The distribution's oneTBB
// is not compiled for that, so each hand-over of work between its threads looks like a race; and a
// suppression of oneTBB's frames would hide the races of the loop bodies, which run below those frames. Here
// threads are started and joined, which ThreadSanitizer knows, and nothing else orders the shares of a loop.
#pragma once

#define TILEHASH_THREADS_ARE_SEEN  // by ThreadSanitizer: see space/cpu.hpp

#include <algorithm>
#include <cstddef>
#include <exception>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace tbb {
namespace detail_threads {

// More threads than processors, so that they meet at odd moments.
inline int automatic_threads() { return 4; }
inline thread_local int concurrency = automatic_threads();
inline thread_local bool inside = false;  // nested loops run on the thread that meets them

inline std::size_t share_size(std::size_t /*size*/, std::size_t grain) { return grain; }

// work(share) for every share of [0, shares). Shares are dealt in turn to threads that start together, so
// that every thread has work, however short the loop. The first exception comes out.
template <class Work>
void run(std::size_t shares, const Work& work) {
  const std::size_t threads = std::min(static_cast<std::size_t>(concurrency), shares);
  if (inside || threads <= 1) {
    for (std::size_t share = 0; share < shares; ++share) work(share);
    return;
  }
  std::latch all_here(static_cast<std::ptrdiff_t>(threads));
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run_share = [&](std::size_t me) {
    all_here.arrive_and_wait();
    inside = true;
    try {
      for (std::size_t share = me; share < shares; share += threads) work(share);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
    inside = false;
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run_share, i);
  run_share(0);
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace detail_threads
}  // namespace tbb

#include <tbb/detail_loops.hpp>  // after what it uses

namespace tbb {

template <class Iterator, class... Less>
void parallel_sort(Iterator first, Iterator last, const Less&... less) {
  std::sort(first, last, less...);
}

}  // namespace tbb
