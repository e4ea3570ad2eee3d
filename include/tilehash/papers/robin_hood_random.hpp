// SPDX-License-Identifier: Apache-2.0
// Robin Hood hashing with the random probe sequence: the paper's alternative to the coherent one.
//
// Keys are mixed before they get their home, so neighbouring keys are scattered over the table. All else is
// designs/robin_hood.hpp's.
//
// Source: I. Garcia et al., Coherent Parallel Hashing, SIGGRAPH Asia 2011, sections 3.1 and 4.
#pragma once

#include <tilehash/designs/robin_hood.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

// A probe sequence of `robin_hood`.
struct random_sequence {
  static constexpr const char* name = "robin_hood_random";
  static constexpr bool keeps_neighbours = false;
  template <class Bits>
  TILEHASH_FN static constexpr Bits scattered(Bits key, Bits seed) {
    if constexpr (sizeof(Bits) == 4)
      return mix32(key ^ seed);
    else
      return mix64(key ^ seed);
  }
  template <class Bits>
  TILEHASH_FN static constexpr Bits gathered(Bits key, Bits seed) {
    if constexpr (sizeof(Bits) == 4)
      return unmix32(key) ^ seed;
    else
      return unmix64(key) ^ seed;
  }
};

template <class Key, class Value, u32 Slots = 64 / sizeof(typename quotient_slot<Key, Value>::word),
          u32 MaxAgeBits = Slots == 1 ? 4 : 3>
using robin_hood_random = robin_hood<Key, Value, Slots, MaxAgeBits, random_sequence>;

static_assert(self_inserting<robin_hood_random<u32, u32>> && replacing<robin_hood_random<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash
