// SPDX-License-Identifier: Apache-2.0
// An op combines a table's value with a given value of the same key: op(stored, given).
//
// An op is any callable. Items of one key are applied in no fixed order, so the result is certain only if the
// order does not matter. The ops here use one atomic operation where the machine has it. Other ops repeat a
// compare-and-swap until it succeeds.
//
// On a CPU an op may throw: table.hpp documents the table's guarantee. The value is stored after op has
// returned, so no value is half changed.
//
// `static constexpr bool is_associative = true` in an op permits to combine two given values first, as in
// op(stored, op(given, given)). A table then combines the items of equal keys first, if there are many
// (algorithm/aggregate.hpp). All ops here are associative (sums of floating-point numbers up to rounding). An
// op that counts calls, op(stored, given) = stored + 1, is not.
//
// An op may take another type than the table's value: its member `given<Value>`. Then lift<Value>(x) makes a
// value of each x before values are combined. `mean` takes numbers, `count` takes only keys.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// An op for values: op(stored, given) is a value.
template <class Op, class Value>
concept combines = std::is_invocable_r_v<Value, const Op&, const Value&, const Value&>;

/// An op that takes another type than the table's values.
template <class Op, class Value>
concept lifts = combines<Op, Value> && requires { typename Op::template given<Value>; };
/// The given type of an op that takes only keys.
struct nothing {};

namespace detail {
template <class Op, class Value>
struct given_to {
  using type = Value;
};
template <class Op, class Value>
  requires lifts<Op, Value>
struct given_to<Op, Value> {
  using type = typename Op::template given<Value>;
};
}  // namespace detail
/// The type that an op takes in a table of these values.
template <class Op, class Value>
using given_to = typename detail::given_to<Op, Value>::type;

namespace detail {

// a + b. Integers wrap round: they are added as unsigned numbers, because signed overflow is undefined.
template <class Value>
TILEHASH_FN Value sum_of(const Value& a, const Value& b) {
  if constexpr (std::same_as<Value, i128>) {
    return static_cast<Value>(static_cast<u128>(a) + static_cast<u128>(b));
  } else if constexpr (std::signed_integral<Value>) {
    using bits = std::make_unsigned_t<Value>;
    return static_cast<Value>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b)));
  } else {
    return static_cast<Value>(a + b);
  }
}

// Does the given value replace the stored one as the least one, or as the greatest one?
template <class Value>
TILEHASH_FN bool is_smaller(const Value& given, const Value& stored) {
  if constexpr (ieee_float<Value>)
    return is_nan(stored) ? !is_nan(given) : less_by_bits(given, stored);
  else
    return given < stored;
}
template <class Value>
TILEHASH_FN bool is_greater(const Value& given, const Value& stored) {
  if constexpr (ieee_float<Value>)
    return is_nan(stored) ? !is_nan(given) : less_by_bits(stored, given);
  else
    return stored < given;
}

}  // namespace detail

/// The ops of the library; docs/reference/verbs.md lists the verbs that take one.
namespace op {

/// Replaces the stored value by the given one; any one of several given values stays.
struct assign {
  static constexpr bool is_associative = true;  ///< any of the given values will do
  /// The value given.
  template <class Value>
  TILEHASH_FN Value operator()(const Value& /*stored*/, const Value& given) const {
    return given;
  }
};

/// The sum of all values. Integers wrap round.
struct sum {
  static constexpr bool is_associative = true;  ///< floating-point numbers: up to rounding
  /// stored + given.
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return detail::sum_of(stored, given);
  }
  /// Adds to the value at `at`, in one atomic operation.
  template <class At, detail::atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_add;
    fetch_add(at, given);
  }
};

/// Counts the items of each key. It takes only keys.
struct count : sum {
  template <class Value>
  using given = nothing;
  /// Each key counts 1.
  template <class Value>
  TILEHASH_FN static Value lift(nothing /*given*/) {
    return Value(1);
  }
};

/// The least value, in any order of the values. Floating-point numbers compare as in minimumNumber of IEEE 754.
/// A NaN loses against every number, so the result is a NaN only if all values are. Any one of several NaNs
/// stays. -0.0 is less than 0.0. Other types compare by their operator <, which must order all of their values.
struct minimum {
  static constexpr bool is_associative = true;  ///< so items of equal keys may be combined first
  /// The smaller of the two; of equal ones the stored one.
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return detail::is_smaller(given, stored) ? given : stored;
  }
  /// The same with the value at `at`, in one atomic operation.
  template <class At, detail::atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_min;
    fetch_min(at, given);
  }
};

/// The greatest value, in any order of the values: a NaN loses against every number, and 0.0 is greater than
/// -0.0. Other types as for minimum.
struct maximum {
  static constexpr bool is_associative = true;  ///< so items of equal keys may be combined first
  /// The greater of the two; of equal ones the stored one.
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return detail::is_greater(given, stored) ? given : stored;
  }
  /// The same with the value at `at`, in one atomic operation.
  template <class At, detail::atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_max;
    fetch_max(at, given);
  }
};

/// A running mean: the sum of numbers and their count. The sum is a T: integers wrap round, and a float loses
/// most of a number that is added to one 2^24 times as large. It has 8 bytes for T of 4 bytes, and 16 bytes
/// for T of 8 bytes.
template <class T>
  requires(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8))
struct mean_of {
  using number = T;
  using counter = std::conditional_t<sizeof(T) == 4, u32, u64>;

  T total;        ///< the sum of the numbers
  counter items;  ///< the count of the numbers

  /// The mean, a double (float for float). There must be an item.
  TILEHASH_FN auto value() const {
    using result = std::conditional_t<std::is_same_v<T, float>, float, double>;
    return static_cast<result>(total) / static_cast<result>(items);
  }
  friend bool operator==(const mean_of&, const mean_of&) = default;
};

/// The mean of numbers T, in a table of mean_of<T>. It takes numbers.
struct mean {
  static constexpr bool is_associative = true;  ///< floating-point numbers: up to rounding
  template <class Value>
  using given = typename Value::number;
  /// A running mean of one number.
  template <class Value>
  TILEHASH_FN static Value lift(typename Value::number x) {
    return {x, 1};
  }
  /// The running mean of the numbers of a and b.
  template <class T>
  TILEHASH_FN mean_of<T> operator()(const mean_of<T>& a, const mean_of<T>& b) const {
    return {detail::sum_of(a.total, b.total), a.items + b.items};
  }
};

}  // namespace op

namespace detail {

template <class Op, class Value>
concept combines_in_place = requires(Value* at, Value given) { Op::in_place(at, given); };

// The type of a value in memory that many threads combine into: `at` below points to one.
template <class Op, class Value>
using combinable = std::conditional_t<combines_in_place<Op, Value>, Value, bits_t<sizeof(Value)>>;

// Combines `given` with the value at `at`, which other threads may change concurrently.
template <class Op, class Value, class At>
TILEHASH_FN void combine_at(At at, const Value& given, const Op& op) {
  if constexpr (combines_in_place<Op, Value>) {
    Op::in_place(at, given);
  } else {
    using bits = combinable<Op, Value>;
    for (bits old = load_relaxed(at);;) {  // until the swap succeeds
      const bits next = to_bits<bits>(Value(op(from_bits<Value>(old), given)));
      const bits seen = compare_and_swap(at, old, next);
      if (seen == old) return;
      old = seen;
    }
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(op);
}  // namespace tilehash
