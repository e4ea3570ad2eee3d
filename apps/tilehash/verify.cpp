// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include <atomic>

namespace tilehash::app {

std::uint64_t wrong_counts(query_view queries, std::span<const std::uint32_t> counts, bool multivalue) {
  return count_in_parallel(queries.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t wrong = 0;
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t all = queries.answer(i).multiplicity;
      if (counts[i] != (multivalue ? all : std::min(all, 1U))) ++wrong;
    }
    return wrong;
  });
}

contents_check::contents_check(const workload& work, contents what, bool multivalue)
    : work_(work), what_(what), multivalue_(multivalue), times_(work.truth.distinct()) {
  const bool numbered =
      what == contents::occurrences || (what == contents::items && work.data.counts.empty());
  if (multivalue && numbered) items_.resize(keys().size());
}

bool contents_check::saw(std::size_t position) {
  if (position == oracle::nowhere) return false;
  std::atomic_ref(times_[position]).fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool contents_check::saw(std::size_t position, std::uint64_t key, std::uint64_t value) {
  if (!saw(position)) return false;
  const expectation its = work_.truth.at(position);
  if (what_ == contents::tallies) return value == work_.occurrences_of(its);
  const bool right = what_ == contents::items ? work_.is_right(key, its, value)
                                              : value < keys().size() && keys()[value] == key;
  // With several items of one key, each must be present: right values alone could be one of them twice.
  return right &&
         (items_.empty() || std::atomic_ref(items_[value]).exchange(1, std::memory_order_relaxed) == 0);
}

std::uint64_t contents_check::missing() const {
  return count_in_parallel(times_.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t sum = 0;
    for (std::size_t position = first; position < last; ++position) {
      const expectation its = work_.truth.at(position);
      const std::uint32_t all = what_ == contents::items ? its.multiplicity : work_.occurrences_of(its);
      const std::uint32_t due = multivalue_ ? all : 1;
      sum += times_[position] > due ? times_[position] - due : due - times_[position];
    }
    return sum;
  });
}

contents_sums::contents_sums(const workload& work, contents what, bool multivalue, bool with_values)
    : work_(work), determined_(what != contents::occurrences || !work.has_raw() || multivalue) {
  if (!determined_) return;
  const bool all = multivalue && what != contents::tallies;
  const auto given =
      what == contents::occurrences ? work.occurrences() : std::span<const std::uint64_t>(work.data.keys);
  const bool raw = what == contents::occurrences && work.has_raw();
  const bool numbered = with_values && what != contents::tallies && work.data.counts.empty();
  if (numbered && !all) {
    again_.resize((given.size() + 63) / 64);
    in_parallel(again_.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t i = 64 * first; i < std::min(64 * last, given.size()); ++i)
        again_[i / 64] |= std::uint64_t{work.item_answers[i].multiplicity > 1} << i % 64;
    });
  }
  std::atomic<std::uint64_t> items = 0;
  in_parallel(given.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t one = 0, other = 0, here = 0;
    for (std::size_t i = first; i < last; ++i) {
      if (!all && work.item_answers[i].item != i) continue;
      std::uint64_t value = 0;
      if (with_values) {
        value = what == contents::tallies ? work.occurrences_of(work.item_answers[i])
                : raw                     ? i
                                          : work.data.value(i);
      }
      add(one, other, given[i], value);
      ++here;
    }
    due_.one += one;
    due_.other += other;
    items += here;
  });
  items_ = items;
}

}  // namespace tilehash::app
