// How a value that is in a table and one that comes for the same key become one: op(stored, given).
//
// Any callable will do; items of one key come in no given order, so its result is certain only when the order
// does not matter. The ones here say, where the machine has it, how to do it in one atomic operation; others
// compare and swap until nobody was faster.
//
// An op may say that two given values may become one before they meet the stored one, as in
// op(stored, op(given, given)): `static constexpr bool is_associative = true`. A table then combines the
// items of equal keys first (bulk_combine.hpp), where many come. All ops here are (sums of floating-point
// numbers up to rounding); an op that counts calls, op(stored, given) = stored + 1, is not.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash {

template <class Op, class Value>
concept combines = std::is_invocable_r_v<Value, const Op&, const Value&, const Value&>;

template <class Op>
concept associative = Op::is_associative;

// Integers that the machine adds and compares in place.
template <class Value>
concept atomic_integer = std::integral<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8);

struct assign {  // the value that came last stays
  static constexpr bool is_associative = true;
  template <class Value>
  TILEHASH_FN Value operator()(const Value& /*stored*/, const Value& given) const {
    return given;
  }
};

struct sum {  // integers wrap round
  static constexpr bool is_associative = true;
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return static_cast<Value>(stored + given);
  }
  template <class At, atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_add;
    fetch_add(at, given);
  }
};

struct minimum {
  static constexpr bool is_associative = true;
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return given < stored ? given : stored;
  }
  template <class At, atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_min;
    fetch_min(at, given);
  }
};

struct maximum {
  static constexpr bool is_associative = true;
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return stored < given ? given : stored;
  }
  template <class At, atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_max;
    fetch_max(at, given);
  }
};

namespace detail {

template <class Op, class Value>
concept combines_in_place = requires(Value* at, Value given) { Op::in_place(at, given); };

// As what values stand in memory where many threads combine: `at` below points to such.
template <class Op, class Value>
using combinable = std::conditional_t<combines_in_place<Op, Value>, Value, bits_t<sizeof(Value)>>;

// Combines `given` with what stands there, whatever others do to it meanwhile.
template <class Op, class Value, class At>
TILEHASH_FN void combine_at(At at, const Value& given, const Op& op) {
  if constexpr (combines_in_place<Op, Value>) {
    Op::in_place(at, given);
  } else {
    using bits = combinable<Op, Value>;
    for (bits old = load_relaxed(at);;) {  // until nobody was faster
      const bits next = to_bits<bits>(Value(op(from_bits<Value>(old), given)));
      const bits seen = compare_and_swap(at, old, next);
      if (seen == old) return;
      old = seen;
    }
  }
}

}  // namespace detail
}  // namespace tilehash
