// SPDX-License-Identifier: Apache-2.0
// Hash functions with which a build must retry.
#pragma once

#include <tilehash/core/hash.hpp>

namespace tilehash::contract {

// A hash that sends all keys to one bucket, under the first `Bad` seeds.
template <u64 Bad>
struct bad_at_first {
  murmur good;
  bool bad = false;

  bad_at_first() = default;
  TILEHASH_FN explicit bad_at_first(u64 seed) : good(seed), bad(seed < Bad) {}
  template <class Bits>
  TILEHASH_FN u64 operator()(Bits key) const noexcept {
    return bad ? 0 : good(key);
  }
};

// A hash that sends all keys below 2000 to one bucket, under every seed.
struct bad_for_small {
  murmur good;

  bad_for_small() = default;
  TILEHASH_FN explicit bad_for_small(u64 seed) : good(seed) {}
  template <class Bits>
  TILEHASH_FN u64 operator()(Bits key) const noexcept {
    return key < 2000 ? 0 : good(key);
  }
};

// A hash with seven values, under every seed.
struct of_seven_places {
  of_seven_places() = default;
  TILEHASH_FN explicit of_seven_places(u64 /*seed*/) {}
  template <class Bits>
  TILEHASH_FN u64 operator()(Bits key) const noexcept {
    return static_cast<u64>(key % 7) << 61;
  }
};

}  // namespace tilehash::contract
