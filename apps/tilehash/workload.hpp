// A data set, the questions to ask of a table that holds it, and the right answers, which come from
// std::unordered_map. Made once, used by every design.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dataset.hpp"

namespace tilehash::app {

struct expectation {
  std::uint32_t multiplicity = 0;  // how many items have the key; 0: not in the data set
  std::uint32_t item = 0;          // the first of them
};

class oracle {
 public:
  explicit oracle(const std::vector<std::uint64_t>& keys);

  expectation find(std::uint64_t key) const;
  std::size_t distinct() const { return answers_.size(); }

 private:
  std::unordered_map<std::uint64_t, expectation> answers_;
};

struct query_set {
  std::vector<std::uint64_t> keys;
  std::vector<expectation> expected;

  std::size_t size() const { return keys.size(); }
  void push_back(std::uint64_t key, expectation its_answer);
};

// n different keys that are surely not in the data set, fewer only where there are not so many.
query_set misses(const oracle& truth, std::uint64_t n, unsigned key_bits, std::uint64_t seed);

struct workload {
  // `queries` = 0 asks as often as there are items; `hit_rate` is the share of the mix that is found.
  workload(dataset given, std::uint64_t queries, double hit_rate, std::uint64_t seed);

  bool is_erased(std::size_t item) const { return items_after_erase.expected[item].multiplicity == 0; }

  // Whether a table may give this value for a key that it found.
  bool is_right(std::uint64_t key, expectation expected, std::uint64_t found_value) const;

  dataset data;
  oracle truth;
  query_set items;              // every item's key, in the order of the data set
  query_set hit, miss, mix;     // in random order; `hit` asks for every item before it asks for one again
  query_set items_after_erase;  // as `items`, with the answers once about half of the keys are erased
};

}  // namespace tilehash::app
