// What a table said against what the oracle says. Each returns the number of wrong answers; all threads
// count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "workload.hpp"

namespace tilehash::app {

// `values` is empty for a set. Where a key was given several times, the value of any of them is right.
template <class Value>
std::uint64_t wrong_lookups(const workload& work, query_view queries, const std::vector<std::uint8_t>& found,
                            const std::vector<Value>& values) {
  return count_in_parallel(queries.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t wrong = 0;
    for (std::size_t i = first; i < last; ++i) {
      const expectation expected = queries.expected[i];
      const bool there = expected.multiplicity > 0;
      const bool right = (found[i] != 0) == there &&
                         (!there || values.empty() || work.is_right(queries.keys[i], expected, values[i]));
      if (!right) ++wrong;
    }
    return wrong;
  });
}

// A table that keeps every item of a key (`multivalue`) counts them; any other counts 0 or 1.
std::uint64_t wrong_counts(query_view queries, const std::vector<std::uint32_t>& counts, bool multivalue);

// What a table should hold: the items, all that a file holds (workload::occurrences()), or of these how often
// each comes.
enum class contents { items, occurrences, tallies };

// retrieve_all: nothing missing, nothing too much, nothing twice, and every value its key's.
class contents_check {
 public:
  contents_check(const workload& work, contents what, bool multivalue);

  template <class Key, class Value>
  std::uint64_t wrong(const std::vector<Key>& keys, const std::vector<Value>& values) {
    const std::uint64_t sum = count_in_parallel(keys.size(), [&](std::size_t first, std::size_t last) {
      std::uint64_t here = 0;
      work_.truth.places(
          first, last, [&](std::size_t i) { return std::uint64_t{keys[i]}; },
          [&](std::size_t i, std::size_t place) {
            here +=
                values.empty() ? !saw(place) : !saw(place, keys[i], static_cast<std::uint64_t>(values[i]));
          });
      return here;
    });
    return sum + missing();
  }

 private:
  bool saw(std::size_t place);
  bool saw(std::size_t place, std::uint64_t key, std::uint64_t value);
  std::uint64_t missing() const;  // or there too often

  std::span<const std::uint64_t> keys() const {
    return what_ == contents::items ? work_.data.keys : work_.occurrences();
  }

  const workload& work_;
  contents what_;
  bool multivalue_;
  std::vector<std::uint32_t> times_;  // that each distinct key was seen
  std::vector<std::uint8_t>
      items_;  // those seen, where a key may have several and its values are their numbers
};

template <class Key, class Value>
std::uint64_t wrong_contents(const workload& work, const std::vector<Key>& keys,
                             const std::vector<Value>& values, bool multivalue,
                             contents what = contents::items) {
  return contents_check(work, what, multivalue).wrong(keys, values);
}

// How many items a table that holds `queries`' answers should say it has.
std::uint64_t expected_size(query_view items, bool multivalue);

}  // namespace tilehash::app
