// What bulk verbs are given: keys as a design sees them, items, and sources that say what the i-th item is.
#pragma once

#include <tilehash/core/slot.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// A key as the design sees it, or why it does not.
template <class Slot>
struct query {
  typename Slot::key_bits bits = 0;
  bool legal = false;     // not a NaN compared by value
  bool reserved = false;  // lives in a sentinel cell

  query() = default;
  TILEHASH_FN explicit query(const typename Slot::key_type& key)
      : bits(Slot::encode(key)), legal(detail::is_legal(key)), reserved(legal && Slot::is_reserved(bits)) {}
  TILEHASH_FN bool regular() const { return legal && !reserved; }
};

template <class Slot>
struct item {
  query<Slot> key;
  typename Slot::value_bits value = 0;
  bool valid = false;  // false: there is no i-th item
};

template <class Slot>
struct array_source {
  const typename Slot::key_type* keys;
  const typename Slot::mapped_type* values;  // null in a set

  TILEHASH_FN item<Slot> operator()(u64 i) const {
    item<Slot> x{query<Slot>(keys[i]), 0, true};
    if constexpr (!Slot::is_set) x.value = detail::to_bits<typename Slot::value_bits>(values[i]);
    return x;
  }
};

// A source's items from number `first` on.
template <class Source>
struct shifted_source {
  Source source;
  u64 first = 0;

  TILEHASH_FN auto operator()(u64 i) const { return source(first + i); }
};

template <class Source>
shifted_source<Source> shifted(const Source& source, u64 first) {
  return {source, first};
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
