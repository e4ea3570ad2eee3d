// Where a key may live, as a sequence of positions in a table of `capacity` slots.
//
// A sequence is a place {at, jump}: advance() adds jump to at, modulo the capacity, and the policy then says
// what the next jump is. In a capacity that is prime, linear and double hashing visit every slot, quadratic
// probing half of them. (Alcantara's thesis, Table 3.1.)
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash::probe {

struct place {
  u64 at = 0;
  u64 jump = 1;
};

// a + b modulo n for a, b < n, without overflow.
TILEHASH_FN constexpr u64 add_modulo(u64 a, u64 b, u64 n) { return a >= n - b ? a - (n - b) : a + b; }

// g(k) + i: the next slot. Kind to caches, but keys cluster.
struct linear {
  static constexpr const char* name = "linear_probing";
  static constexpr bool needs_prime = false;
  TILEHASH_FN static constexpr u64 first_jump(u64 /*key*/, u64 /*capacity*/) { return 1; }
  TILEHASH_FN static constexpr u64 next_jump(u64 jump, u64 /*capacity*/) { return jump; }
};

// g(k) + i^2, as the sum of the odd numbers 1, 3, 5, ...
struct quadratic {
  static constexpr const char* name = "quadratic_probing";
  static constexpr bool needs_prime = true;
  TILEHASH_FN static constexpr u64 first_jump(u64 /*key*/, u64 /*capacity*/) { return 1; }
  TILEHASH_FN static constexpr u64 next_jump(u64 jump, u64 capacity) {
    return add_modulo(jump, 2 % capacity, capacity);
  }
};

// g(k) + i (1 + k mod 41): each key jumps its own way. A smaller prime keeps jumps within cached lines, a
// larger one leaves crowded places faster; 41 is the thesis' choice.
struct double_hash {
  static constexpr const char* name = "double_hashing";
  static constexpr bool needs_prime = true;
  static constexpr u64 jump_prime = 41;
  TILEHASH_FN static constexpr u64 first_jump(u64 key, u64 capacity) {
    return 1 + key % (capacity > jump_prime ? jump_prime : capacity - 1);
  }
  TILEHASH_FN static constexpr u64 next_jump(u64 jump, u64 /*capacity*/) { return jump; }
};

template <class Policy>
TILEHASH_FN constexpr void advance(place& p, u64 capacity) {
  p.at = add_modulo(p.at, p.jump, capacity);
  p.jump = Policy::next_jump(p.jump, capacity);
}

}  // namespace tilehash::probe
