// A data set, the questions to ask of a table that holds it, and the right answers (oracle.hpp). Made once,
// by all threads, and used by every design.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataset.hpp"
#include "oracle.hpp"

namespace tilehash::app {

// Keys to ask for, each with the right answer.
struct query_view {
  std::span<const std::uint64_t> keys;
  std::span<const expectation> expected;

  std::size_t size() const { return keys.size(); }
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

  // Every item's key, in the order of the data set; and with the answers once about half of the keys are
  // erased.
  query_view items() const { return {data.keys, item_answers}; }
  query_view items_after_erase() const { return {data.keys, answers_after_erase}; }
  bool is_erased(std::size_t item) const { return answers_after_erase[item].multiplicity == 0; }

  // All that a file holds, repeated keys and all; what is counted where it is the keys' own count.
  bool has_raw() const { return !data.raw.empty(); }
  std::span<const std::uint64_t> occurrences() const { return has_raw() ? data.raw : data.keys; }
  std::uint32_t occurrences_of(expectation its) const {
    return has_raw() ? data.counts[its.item] : its.multiplicity;
  }

  // Whether a table may give this value for a key that it found.
  bool is_right(std::uint64_t key, expectation expected, std::uint64_t found_value) const;

  dataset data;
  oracle truth;
  std::vector<expectation> item_answers, answers_after_erase;
  double hit_rate;
  query_set each;            // every key once: what costs as much as the key has items is asked no more often
  query_set hit, miss, mix;  // in random order; `hit` asks for every item before it asks for one again
};

}  // namespace tilehash::app
