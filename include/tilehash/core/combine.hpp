// How a value that is in a table and one that comes for the same key become one: op(stored, given).
//
// Any callable will do; items of one key come in no given order, so its result is certain only when the order
// does not matter. The ones here say, where the machine has it, how to do it in one atomic operation; others
// compare and swap until nobody was faster.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilehash/core/atomic.hpp>

namespace tilehash {

template <class Op, class Value>
concept combines = std::is_invocable_r_v<Value, const Op&, const Value&, const Value&>;

// Integers that the machine adds and compares in place.
template <class Value>
concept atomic_integer = std::integral<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8);

struct assign {  // the value that came last stays
  template <class Value>
  TILEHASH_FN Value operator()(const Value& /*stored*/, const Value& given) const {
    return given;
  }
};

struct sum {  // integers wrap round
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return static_cast<Value>(stored + given);
  }
  template <atomic_integer Value>
  TILEHASH_FN static void in_place(Value* at, Value given) {
    detail::fetch_add(at, given);
  }
};

struct minimum {
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return given < stored ? given : stored;
  }
  template <atomic_integer Value>
  TILEHASH_FN static void in_place(Value* at, Value given) {
    detail::shared_ref<Value>(*at).fetch_min(given, detail::relaxed);
  }
};

struct maximum {
  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return stored < given ? given : stored;
  }
  template <atomic_integer Value>
  TILEHASH_FN static void in_place(Value* at, Value given) {
    detail::shared_ref<Value>(*at).fetch_max(given, detail::relaxed);
  }
};

namespace detail {

template <class Op, class Value>
concept combines_in_place = requires(Value* at, Value given) { Op::in_place(at, given); };

}  // namespace detail
}  // namespace tilehash
