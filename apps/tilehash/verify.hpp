// SPDX-License-Identifier: Apache-2.0
// Compares a table's answers with the oracle's. Each returns the number of wrong answers; all threads
// count.
#pragma once

#include <tilehash/core/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "scramble.hpp"
#include "workload.hpp"

namespace tilehash::app {

// `values` is empty for a set. Where a key was given several times, the value of any of them is right.
template <class Values>
std::uint64_t wrong_lookups(const workload& work, query_view queries, std::span<const std::uint8_t> found,
                            const Values& values) {
  return count_in_parallel(queries.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t wrong = 0;
    for (std::size_t i = first; i < last; ++i) {
      const expectation expected = queries.answer(i);
      const bool there = expected.multiplicity > 0;
      const bool right = (found[i] != 0) == there &&
                         (!there || values.empty() || work.is_right(queries.keys[i], expected, values[i]));
      if (!right) ++wrong;
    }
    return wrong;
  });
}

// A table that keeps every item of a key (`multivalue`) counts them; any other counts 0 or 1.
std::uint64_t wrong_counts(query_view queries, std::span<const std::uint32_t> counts, bool multivalue);

// The right contents of a table: the items, all that a file holds (workload::occurrences()), or of these how often
// each comes.
enum class contents { items, occurrences, tallies };

// retrieve_all: nothing missing, nothing too much, nothing twice, and every value its key's.
class contents_check {
 public:
  contents_check(const workload& work, contents what, bool multivalue);

  template <class Keys, class Values>
  std::uint64_t wrong(const Keys& keys, const Values& values) {
    const std::uint64_t sum = count_in_parallel(keys.size(), [&](std::size_t first, std::size_t last) {
      std::uint64_t here = 0;
      work_.truth.places(
          first, last, [&](std::size_t i) { return std::uint64_t{keys[i]}; },
          [&](std::size_t i, std::size_t position) {
            here += values.empty() ? !saw(position)
                                   : !saw(position, keys[i], static_cast<std::uint64_t>(values[i]));
          });
      return here;
    });
    return sum + missing();
  }

 private:
  bool saw(std::size_t position);
  bool saw(std::size_t position, std::uint64_t key, std::uint64_t value);
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

// The same question asked cheaply: two sums over all items, each scrambled with its value, that do not depend
// on their order. Where they are what they must be, so are the items (but for a chance of 2^-128); where not,
// or where they are not determined, contents_check finds out what is wrong. Keys that come again may have the
// value of any of their items: that of the first is what counts.
class contents_sums {
 public:
  contents_sums(const workload& work, contents what, bool multivalue, bool with_values);

  template <class Keys, class Values>
  bool agree(const Keys& keys, const Values& values) const {
    if (!determined_ || keys.size() != items_) return false;
    sums all;
    in_parallel(keys.size(), [&](std::size_t first, std::size_t last) {
      std::uint64_t one = 0, other = 0;
      for (std::size_t i = first; i < last; ++i)
        add(one, other, keys[i],
            values.empty() ? 0 : canonical(keys[i], static_cast<std::uint64_t>(values[i])));
      all.one += one;
      all.other += other;
    });
    return all.one == due_.one && all.other == due_.other;
  }

 private:
  struct sums {
    std::atomic<std::uint64_t> one = 0, other = 0;
  };

  // Both halves of a product of the scrambled key: an item with another key's value changes either.
  static void add(std::uint64_t& one, std::uint64_t& other, std::uint64_t key, std::uint64_t value) {
    const u128 product = u128{scramble::mix(key + 0x9e3779b97f4a7c15)} * (value ^ 0x632be59bd9b4e019);
    one += static_cast<std::uint64_t>(product);
    other += static_cast<std::uint64_t>(product >> 64);
  }
  std::uint64_t canonical(std::uint64_t key, std::uint64_t value) const {
    const bool comes_again = value / 64 < again_.size() && (again_[value / 64] >> value % 64 & 1) != 0;
    if (!comes_again) return value;
    return work_.data.keys[value] == key ? work_.item_answers[value].item : ~value;
  }

  const workload& work_;
  bool determined_;
  std::uint64_t items_ = 0;
  std::vector<std::uint64_t>
      again_;  // a bit for every item whose key has others, where values are items' numbers
  sums due_;
};

template <class Keys, class Values>
std::uint64_t wrong_contents(const workload& work, const contents_sums& sums, const Keys& keys,
                             const Values& values, bool multivalue, contents what) {
  if (sums.agree(keys, values)) return 0;
  return contents_check(work, what, multivalue).wrong(keys, values);
}
template <class Keys, class Values>
std::uint64_t wrong_contents(const workload& work, const Keys& keys, const Values& values, bool multivalue,
                             contents what = contents::items) {
  return wrong_contents(work, contents_sums(work, what, multivalue, !values.empty()), keys, values,
                        multivalue, what);
}

}  // namespace tilehash::app
