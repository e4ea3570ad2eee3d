#include "verify.hpp"

#include <atomic>

namespace tilehash::app {

std::uint64_t wrong_counts(query_view queries, const std::vector<std::uint32_t>& counts, bool multivalue) {
  return count_in_parallel(queries.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t wrong = 0;
    for (std::size_t i = first; i < last; ++i) {
      const std::uint32_t all = queries.expected[i].multiplicity;
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

bool contents_check::saw(std::size_t place) {
  if (place == oracle::nowhere) return false;
  std::atomic_ref(times_[place]).fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool contents_check::saw(std::size_t place, std::uint64_t key, std::uint64_t value) {
  if (!saw(place)) return false;
  const expectation its = work_.truth.at(place);
  if (what_ == contents::tallies) return value == work_.occurrences_of(its);
  const bool right = what_ == contents::items ? work_.is_right(key, its, value)
                                              : value < keys().size() && keys()[value] == key;
  // With several items of one key, each must be there: right values alone could be one of them twice.
  return right &&
         (items_.empty() || std::atomic_ref(items_[value]).exchange(1, std::memory_order_relaxed) == 0);
}

std::uint64_t contents_check::missing() const {
  return count_in_parallel(times_.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t sum = 0;
    for (std::size_t place = first; place < last; ++place) {
      const expectation its = work_.truth.at(place);
      const std::uint32_t all = what_ == contents::items ? its.multiplicity : work_.occurrences_of(its);
      const std::uint32_t due = multivalue_ ? all : 1;
      sum += times_[place] > due ? times_[place] - due : due - times_[place];
    }
    return sum;
  });
}

std::uint64_t expected_size(query_view items, bool multivalue) {
  return count_in_parallel(items.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t size = 0;
    for (std::size_t item = first; item < last; ++item) {
      const expectation its = items.expected[item];
      if (its.multiplicity > 0 && (multivalue || its.item == item)) ++size;
    }
    return size;
  });
}

}  // namespace tilehash::app
