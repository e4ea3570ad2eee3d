// SPDX-License-Identifier: Apache-2.0
// The loops of detail_threads.hpp, which says how they run: run(), share_size(), concurrency, automatic_threads().
// The Python package and the build with ThreadSanitizer (tests/sanitizers/) share them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbb {

template <class Index>
class blocked_range {
 public:
  using const_iterator = Index;
  blocked_range(Index begin, Index end, std::size_t grain = 1)
      : begin_(begin),
        end_(end),
        grain_(std::max<std::size_t>(grain, 1)),
        each_(detail_threads::share_size(size(), grain_)) {}
  Index begin() const { return begin_; }
  Index end() const { return end_; }
  std::size_t grainsize() const { return grain_; }
  std::size_t size() const { return begin_ < end_ ? static_cast<std::size_t>(end_ - begin_) : 0; }
  bool empty() const { return size() == 0; }

  // The range cut into shares of one size; the last may be shorter.
  std::size_t shares() const { return (size() + each_ - 1) / each_; }
  blocked_range share(std::size_t i) const {
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
  detail_threads::run(range.shares(), [&](std::size_t i) { body(range.share(i)); });
}

template <class Index, class Body>
  requires std::is_integral_v<Index>
void parallel_for(Index first, Index last, const Body& body) {
  if (first < last) {
    detail_threads::run(static_cast<std::size_t>(last - first),
                        [&](std::size_t i) { body(static_cast<Index>(first + static_cast<Index>(i))); });
  }
}

// In two passes, both parallel: the sum of each share, then each share again with what comes before it.
template <class Index, class Value, class Scan, class Join>
Value parallel_scan(const blocked_range<Index>& range, const Value& identity, const Scan& scan,
                    const Join& join) {
  const std::size_t shares = range.shares();
  std::vector<Value> sums(shares, identity);
  detail_threads::run(shares, [&](std::size_t i) { sums[i] = scan(range.share(i), identity, false); });
  Value total = identity;
  for (Value& sum : sums) {
    const Value before = total;
    total = join(before, sum);
    sum = before;
  }
  detail_threads::run(shares, [&](std::size_t i) { scan(range.share(i), sums[i], true); });
  return total;
}

template <class Index, class Value, class Body, class Join>
Value parallel_reduce(const blocked_range<Index>& range, const Value& identity, const Body& body,
                      const Join& join) {
  std::vector<Value> sums(range.shares(), identity);
  detail_threads::run(sums.size(), [&](std::size_t i) { sums[i] = body(range.share(i), identity); });
  Value total = identity;
  for (const Value& sum : sums) total = join(total, sum);
  return total;
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
