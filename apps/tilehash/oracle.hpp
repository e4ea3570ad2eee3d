// SPDX-License-Identifier: Apache-2.0
// The right answers: how often each key occurs among the items, and where first.
//
// A sorted array, and no hash table's word against another's: keys are scrambled, sorted, and each once; an
// index of their first bits says where to begin to look, so a lookup reads two places of memory. Most of
// the absent keys are recognised by one bit, of sixteen to a bucket of the index. It is sorted in parts by
// all threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scramble.hpp"

namespace tilehash::app {

struct expectation {
  std::uint32_t multiplicity = 0;  // how many items have the key; 0: not in the data set
  std::uint32_t item = 0;          // the first of them
};

class oracle {
 public:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  // At most 2^32 keys. `answers`, if given, are those of all items, in their order.
  explicit oracle(std::span<const std::uint64_t> keys, std::span<expectation> answers = {});

  std::size_t distinct() const { return entries_.size(); }
  std::size_t position(
      std::uint64_t key) const {  // of the key among the distinct ones, in no order of use; or nowhere
    return place_of_hash(hash_(key));
  }
  // use(i, place) for the keys key(i), i from first to last: memory is asked for some keys ahead.
  template <class Key, class Use>
  void places(std::size_t first, std::size_t last, Key key, Use use) const {
    constexpr std::size_t ahead = 32;
    std::array<std::uint64_t, ahead> hashes;
    for (std::size_t from = first; from < last; from += ahead) {
      const std::size_t here = std::min(ahead, last - from);
      for (std::size_t j = 0; j < here; ++j) {
        hashes[j] = hash_(key(from + j));
        __builtin_prefetch(&begins_[hashes[j] >> shift_]);
      }
      for (std::size_t j = 0; j < here; ++j)
        __builtin_prefetch(entries_.data() + begins_[hashes[j] >> shift_]);
      for (std::size_t j = 0; j < here; ++j) use(from + j, place_of_hash(hashes[j]));
    }
  }
  // Takes the keys that are present out of `keys`.
  void keep_absent(std::vector<std::uint64_t>& keys) const;
  expectation at(std::size_t position) const { return entries_[position].its; }
  expectation find(std::uint64_t key) const {
    const std::size_t at = position(key);
    return at == nowhere ? expectation{} : entries_[at].its;
  }

 private:
  struct entry {
    std::uint64_t hash;
    expectation its;
  };

  std::size_t place_of_hash(std::uint64_t hash) const {
    const auto bucket = static_cast<std::size_t>(hash >> shift_);
    for (std::size_t at = begins_[bucket]; at < begins_[bucket + 1]; ++at) {
      if (entries_[at].hash == hash) return at;
    }
    return nowhere;
  }

  scramble hash_{64, 0x6f7261636c65};
  unsigned shift_ = 63;  // a bucket is a hash's bits from here on
  std::vector<entry> entries_;
  std::vector<std::uint64_t> begins_;  // where each bucket begins, and the end
  std::vector<std::uint64_t> marks_;   // bits, by a hash's bits from mark_shift_ on: is such a key there?
  unsigned mark_shift_ = 60;
};

}  // namespace tilehash::app
