// How a value that is in a table and one that comes for the same key become one: op(stored, given).
//
// Any callable will do; items of one key come in no given order, so its result is certain only when the order
// does not matter. The ones here say, where the machine has it, how to do it in one atomic operation; others
// compare and swap until nobody was faster.
//
// On a CPU an op may throw: table.hpp says what the table guarantees then. The value is stored after op has
// returned, so no value is half changed.
//
// An op may say that two given values may become one before they meet the stored one, as in
// op(stored, op(given, given)): `static constexpr bool is_associative = true`. A table then combines the
// items of equal keys first (algorithm/aggregate.hpp), where many come. All ops here are (sums of
// floating-point numbers up to rounding); an op that counts calls, op(stored, given) = stored + 1, is not.
//
// What an op is given need not be a value: with a member `given<Value>`, the type it is given, lift<Value>(x)
// makes a value of each x, and only then values are combined. `mean` is given numbers, `count` keys alone.
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

/// It says that given values may be combined before they meet the stored one.
template <class Op>
concept associative = Op::is_associative;

/// It is given something else than values.
template <class Op, class Value>
concept lifts = combines<Op, Value> && requires { typename Op::template given<Value>; };
/// What an op is given that wants keys alone.
struct nothing {};
/// It is given nothing but keys.
template <class Op, class Value>
concept lifts_nothing = lifts<Op, Value> && std::same_as<typename Op::template given<Value>, nothing>;

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
/// The type that an op is given in a table of such values.
template <class Op, class Value>
using given_to = typename detail::given_to<Op, Value>::type;

/// Integers that the machine adds and compares in place.
template <class Value>
concept atomic_integer = std::integral<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8);

namespace detail {

// a + b. Integers wrap round: as unsigned numbers, because the sum of signed ones may not overflow.
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

// Does the value given take the stored one's place as the least one, or as the greatest one?
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

/// The ops that tables know; docs/verbs.md says which verbs take one.
namespace op {

/// The value given takes the place of the stored one; of several, any one stays.
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
  /// Adds to what stands at `at`, in one atomic operation.
  template <class At, atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_add;
    fetch_add(at, given);
  }
};

/// How often a key came. It is given keys alone.
struct count : sum {
  template <class Value>
  using given = nothing;
  /// Each key counts 1.
  template <class Value>
  TILEHASH_FN static Value lift(nothing /*given*/) {
    return Value(1);
  }
};

/// The least value, whatever the order of the values. Floating-point numbers compare as IEEE 754's
/// minimumNumber does: a NaN loses against every number, so the result is a NaN only if all values are, and
/// -0.0 is less than 0.0. (Of several NaNs any one stays.) Other types compare by their operator <, which must
/// put all of their values in one order.
struct minimum {
  static constexpr bool is_associative = true;  ///< so items of equal keys may be combined first
  /// The smaller of the two; of equal ones the stored one.
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return detail::is_smaller(given, stored) ? given : stored;
  }
  /// The same with what stands at `at`, in one atomic operation.
  template <class At, atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_min;
    fetch_min(at, given);
  }
};

/// The greatest value, whatever the order of the values: a NaN loses against every number, and 0.0 is greater
/// than -0.0. Other types as for minimum.
struct maximum {
  static constexpr bool is_associative = true;  ///< so items of equal keys may be combined first
  /// The greater of the two; of equal ones the stored one.
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return detail::is_greater(given, stored) ? given : stored;
  }
  /// The same with what stands at `at`, in one atomic operation.
  template <class At, atomic_integer Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    using detail::fetch_max;
    fetch_max(at, given);
  }
};

}  // namespace op

/// A mean on its way: what was added up, and how many. Numbers are added up in T: integers wrap round, and in
/// a float little is left of a number that is added to one 2^24 times as large. 8 bytes for T of 4, 16 for T
/// of 8.
template <class T>
  requires(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8))
struct mean_of {
  using number = T;
  using counter = std::conditional_t<sizeof(T) == 4, u32, u64>;

  T total;        ///< what was added up
  counter items;  ///< how many numbers that were

  /// The mean, a double (float for float). There must be an item.
  TILEHASH_FN auto value() const {
    using result = std::conditional_t<std::is_same_v<T, float>, float, double>;
    return static_cast<result>(total) / static_cast<result>(items);
  }
  friend bool operator==(const mean_of&, const mean_of&) = default;
};

namespace op {

/// The mean of numbers T, in a table of mean_of<T>. It is given numbers.
struct mean {
  static constexpr bool is_associative = true;  ///< floating-point numbers: up to rounding
  template <class Value>
  using given = typename Value::number;
  /// One number, as a mean on its way.
  template <class Value>
  TILEHASH_FN static Value lift(typename Value::number x) {
    return {x, 1};
  }
  /// The mean of both's numbers.
  template <class T>
  TILEHASH_FN mean_of<T> operator()(const mean_of<T>& a, const mean_of<T>& b) const {
    return {detail::sum_of(a.total, b.total), a.items + b.items};
  }
};

}  // namespace op

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
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(op);
TILEHASH_PUBLIC(mean_of);
}  // namespace tilehash
