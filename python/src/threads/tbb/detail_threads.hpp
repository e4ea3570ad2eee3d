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
#include <type_traits>
#include <utility>
#include <vector>

namespace tbb {
namespace detail_threads {

inline int automatic_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }
inline thread_local int concurrency = 1;
inline thread_local bool inside = false;  // nested loops run on the thread that meets them

// work(piece) for every piece of [0, pieces); a thread takes the next piece when it is done with one. The first
// exception comes out.
template <class Work>
void run(std::size_t pieces, const Work& work) {
  const std::size_t threads = std::min(static_cast<std::size_t>(concurrency), pieces);
  if (inside || threads <= 1) {
    for (std::size_t piece = 0; piece < pieces; ++piece) work(piece);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto run_share = [&] {
    inside = true;
    try {
      for (std::size_t piece; (piece = next.fetch_add(1)) < pieces;) work(piece);
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

template <class Index>
class blocked_range {
 public:
  using const_iterator = Index;
  blocked_range(Index begin, Index end, std::size_t grain = 1)
      : begin_(begin), end_(end), grain_(std::max<std::size_t>(grain, 1)) {
    const std::size_t most = 16 * static_cast<std::size_t>(detail_threads::concurrency);
    each_ = (std::max(grain_, (size() + most - 1) / most) + grain_ - 1) / grain_ * grain_;
  }
  Index begin() const { return begin_; }
  Index end() const { return end_; }
  std::size_t grainsize() const { return grain_; }
  std::size_t size() const { return begin_ < end_ ? static_cast<std::size_t>(end_ - begin_) : 0; }
  bool empty() const { return size() == 0; }

  // The range cut into at most 16 pieces a thread of the caller, of the grain's size or more.
  std::size_t pieces() const { return (size() + each_ - 1) / each_; }
  blocked_range piece(std::size_t i) const {
    const Index first = begin_ + static_cast<Index>(i * each_);
    return {first, first + static_cast<Index>(std::min(each_, static_cast<std::size_t>(end_ - first))),
            grain_};
  }

 private:
  Index begin_, end_;
  std::size_t grain_, each_;
};

template <class Index, class Body, class... Partitioner>
void parallel_for(const blocked_range<Index>& range, const Body& body, Partitioner&&...) {
  detail_threads::run(range.pieces(), [&](std::size_t i) { body(range.piece(i)); });
}

template <class Index, class Body>
  requires std::is_integral_v<Index>
void parallel_for(Index first, Index last, const Body& body) {
  if (first < last) {
    detail_threads::run(static_cast<std::size_t>(last - first),
                        [&](std::size_t i) { body(static_cast<Index>(first + static_cast<Index>(i))); });
  }
}

// In two passes, both parallel: the sum of each piece, then each piece again with what comes before it.
template <class Index, class Value, class Scan, class Join>
Value parallel_scan(const blocked_range<Index>& range, const Value& identity, const Scan& scan,
                    const Join& join) {
  const std::size_t pieces = range.pieces();
  std::vector<Value> sums(pieces, identity);
  detail_threads::run(pieces, [&](std::size_t i) { sums[i] = scan(range.piece(i), identity, false); });
  Value total = identity;
  for (Value& sum : sums) {
    const Value before = total;
    total = join(before, sum);
    sum = before;
  }
  detail_threads::run(pieces, [&](std::size_t i) { scan(range.piece(i), sums[i], true); });
  return total;
}

template <class Index, class Value, class Body, class Join>
Value parallel_reduce(const blocked_range<Index>& range, const Value& identity, const Body& body,
                      const Join& join) {
  std::vector<Value> sums(range.pieces(), identity);
  detail_threads::run(sums.size(), [&](std::size_t i) { sums[i] = body(range.piece(i), identity); });
  Value total = identity;
  for (const Value& sum : sums) total = join(total, sum);
  return total;
}

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

template <class... Work>
void parallel_invoke(const Work&... work) {
  detail_threads::run(sizeof...(work), [&](std::size_t i) {
    std::size_t at = 0;
    ((at++ == i ? work() : void()), ...);
  });
}

class task_arena {
 public:
  static constexpr int automatic = -1;
  explicit task_arena(int threads = automatic, unsigned = 1)
      : threads_(threads > 0 ? threads : detail_threads::automatic_threads()) {}
  int max_concurrency() const { return threads_; }
  void initialize() {}
  template <class Work>
  decltype(auto) execute(Work&& work) {
    struct restore {
      int before = detail_threads::concurrency;
      ~restore() { detail_threads::concurrency = before; }
    } const keep;
    detail_threads::concurrency = threads_;
    return std::forward<Work>(work)();
  }

 private:
  int threads_;
};

namespace this_task_arena {
inline int max_concurrency() { return detail_threads::concurrency; }
}  // namespace this_task_arena

}  // namespace tbb
