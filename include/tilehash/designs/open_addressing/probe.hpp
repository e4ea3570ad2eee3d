// SPDX-License-Identifier: Apache-2.0
// The probe sequences of open addressing: a key's possible positions in a table of `capacity` slots.
//
// A sequence is a location {at, jump, growth}: advance() adds jump to at, modulo the capacity, and then lets
// the jump grow.
//
//   tables of up to 2^15 slots    linear        g(k) + i
//                                 quadratic     g(k) + i^2
//                                 double_hash   g(k) + i j(k)
//   larger ones                   quadratic     the i-th jump is i^2
//                                 double_hash   the i-th jump is i j(k)
//
// In a prime capacity, linear and double hashing visit every slot of a small table, and quadratic probing
// half of them. In a large table no sequence reaches its end; how soon it leaves a crowded region decides.
// With growing jumps double hashing is as good as random probing: 21.4 slots for a failed lookup at 1.05
// slots an item, where constant jumps need 29. Alcantara's thesis gives the first kind in its Table 3.1 and
// the second in its Listing 3.1; its measurements (Table 3.2) are those of the second.
#pragma once

#include <concepts>

#include <tilehash/core/hash.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace probe {

struct location {
  u64 at = 0;
  u64 jump = 1;
  u64 growth = 0;  // of the jump
};

// Large enough that jumps and their growth stay below the capacity for the longest sequence.
inline constexpr u64 largest_small_table = 1 << 15;

// A key without a slot after so many probes is refused: the thesis' limit.
inline constexpr u64 most_probes = 10'000;
// Growing jumps leave crowded regions soon: at load 0.98 one walk in 10^35 passes so many taken slots. Each
// costs a cache line, so a higher limit would only make full tables slow to refuse a key.
inline constexpr u64 most_growing_jumps = 4096;

// The next slot. Caches favour it, but keys cluster.
struct linear {
  static constexpr const char* name = "linear_probing";
  static constexpr bool jumps = false;  // beyond the next slot
  TILEHASH_FN static constexpr u64 max_probes(u64 /*capacity*/) { return most_probes; }
  static constexpr bool needs_prime = false;
  static constexpr u64 growth_step = 0;  // how the growth of the jump grows, in a large table
  // The load of the thesis' smallest tables. Fuller large tables have runs longer than the probe limit.
  static constexpr double max_load_factor = 1 / 1.05;
  TILEHASH_FN static constexpr location start(u64 home, u64 /*key*/, u64 /*capacity*/) {
    return {home, 1, 0};
  }
};

// Keys of one home slot share their sequence, which soon leads far away.
struct quadratic {
  static constexpr const char* name = "quadratic_probing";
  static constexpr bool jumps = true;
  TILEHASH_FN static constexpr u64 max_probes(u64 /*capacity*/) { return most_growing_jumps; }
  static constexpr bool needs_prime = true;
  static constexpr u64 growth_step = 2;
  TILEHASH_FN static constexpr location start(u64 home, u64 /*key*/, u64 capacity) {
    return {home, 1, capacity > largest_small_table ? 3 : 2 % capacity};
  }
};

// Each key has its own jump: j(k) = 1 + k mod a prime. The thesis (section 3.2) leaves the choice open: a
// smaller prime keeps the first jumps within cached lines, a larger one leaves crowded regions faster. 41 is
// the thesis' own. (With growing jumps the primes differ little: docs/measured/papers/alcantara.md.)
template <u64 JumpPrime>
struct double_hash_by {
  static constexpr const char* name = "double_hashing";
  static constexpr bool jumps = true;
  TILEHASH_FN static constexpr u64 max_probes(u64 capacity) {
    return capacity > largest_small_table ? most_growing_jumps : most_probes;
  }
  static constexpr bool needs_prime = true;
  static constexpr u64 growth_step = 0;
  static constexpr u64 jump_prime = JumpPrime;
  TILEHASH_FN static constexpr location start(u64 home, u64 key, u64 capacity) {
    const u64 jump = 1 + key % (capacity > jump_prime ? jump_prime : capacity - 1);
    return {home, jump, capacity > largest_small_table ? jump : 0};
  }
};
using double_hash = double_hash_by<41>;

template <class Policy>
TILEHASH_FN constexpr void advance(location& p, u64 capacity) {
  if constexpr (!Policy::jumps) {  // cheaper, for the longest walks
    p.at = p.at + 1 < capacity ? p.at + 1 : 0;
  } else {
    p.at = add_modulo(p.at, p.jump, capacity);
    p.jump = add_modulo(p.jump, p.growth, capacity);
    if (capacity > largest_small_table) p.growth += Policy::growth_step;
  }
}

}  // namespace probe
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
