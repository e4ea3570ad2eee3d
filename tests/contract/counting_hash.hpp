// SPDX-License-Identifier: Apache-2.0
// Counts the calls of a table's hash function, so tests bound work by counts, not by time.
#pragma once

#include <atomic>

#include <tilehash/core/config.hpp>
#include <tilehash/core/hash.hpp>

namespace tilehash::contract {

struct counting_hash : murmur {
  static inline std::atomic<u64> calls = 0;
  using murmur::murmur;
  template <class Bits>
  u64 operator()(Bits key) const noexcept {
    ++calls;
    return murmur::operator()(key);
  }
};

}  // namespace tilehash::contract
