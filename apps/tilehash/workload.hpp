// SPDX-License-Identifier: Apache-2.0
// A data set, the questions to ask of a table that holds it, and the right answers (oracle.hpp). Made once,
// by all threads, and used by every design.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataset.hpp"
#include "oracle.hpp"
#include "scramble.hpp"

namespace tilehash::app {

// Keys to ask for, each with the right answer; with none if all are absent.
struct query_view {
  std::span<const std::uint64_t> keys;
  std::span<const expectation> expected;

  std::size_t size() const { return keys.size(); }
  expectation answer(std::size_t i) const { return expected.empty() ? expectation{} : expected[i]; }
  query_view first(std::size_t n) const {
    return {keys.first(n), expected.empty() ? expected : expected.first(n)};
  }
};

struct query_set {
  std::vector<std::uint64_t> keys;
  std::vector<expectation> expected;

  std::size_t size() const { return keys.size(); }
  void resize(std::size_t n);  // to n zeros
  void push_back(std::uint64_t key, expectation its_answer);
  operator query_view() const { return {keys, expected}; }
};

// n different keys that are surely not in the data set, in the range of those that are: from the least to the
// greatest of them, and twice, four times ... as far where that has not so many. Fewer only where there are
// not so many keys of `key_bits` bits.
query_set misses(const oracle& truth, std::span<const std::uint64_t> present, std::uint64_t n,
                 unsigned key_bits, std::uint64_t seed);

struct workload {
  // `queries` = 0 asks as often as there are items; `hit_rate` is the share of the mix that is found.
  workload(dataset given, std::uint64_t queries, double hit_rate, std::uint64_t seed);

  // Every item's key, in the order of the data set.
  query_view items() const { return {data.keys, item_answers}; }
  query_view some_after_erase() const { return {some.keys, some_answers_after_erase_}; }
  // The erase takes out about half of the keys, with all their items.
  bool is_erased(std::uint64_t key) const { return (scramble::mix(key ^ coin_) & 1) != 0; }
  // How many items a table holds, before and after; `all` or one of each key.
  std::uint64_t items_of(bool all) const { return all ? data.size() : truth.distinct(); }
  std::uint64_t items_left(bool all) const { return all ? data.size() - erased.size() : keys_left_; }

  // All that a file holds, repeated keys and all; what is counted where it is the keys' own count.
  bool has_raw() const { return !data.raw.empty(); }
  std::span<const std::uint64_t> occurrences() const { return has_raw() ? data.raw : data.keys; }
  std::uint32_t occurrences_of(expectation its) const {
    return has_raw() ? data.counts[its.item] : its.multiplicity;
  }

  // Whether a table may give this value for a key that it found.
  bool is_right(std::uint64_t key, expectation expected, std::uint64_t found_value) const;

  dataset data;
  std::vector<expectation> item_answers;
  oracle truth;
  double hit_rate;
  query_set hit, miss, mix;  // in random order; `hit` asks for every item before it asks for one again
  // Different keys of items, about `enough` of many: for checks next to the measurements.
  static constexpr std::size_t enough = 1 << 20;
  query_set some;
  std::vector<std::uint32_t> erased;  // items

 private:
  std::uint64_t coin_;
  std::uint64_t keys_left_ = 0;
  std::vector<expectation> some_answers_after_erase_;
};

}  // namespace tilehash::app
