// SPDX-License-Identifier: Apache-2.0
// The input of bulk verbs: keys as a design sees them, items, and sources, which return the i-th item.
#pragma once

#include <tilehash/core/slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A key as the design sees it, or the reason why the design never sees it.
template <class Slot>
struct query {
  typename Slot::key_bits bits = 0;
  bool legal = false;     // not a NaN compared by value
  bool reserved = false;  // is stored in a sentinel cell

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

// Keys, with their positions as values.
template <class Slot>
struct positioned_keys {
  using value_bits = typename Slot::value_bits;
  const typename Slot::key_type* keys;
  TILEHASH_FN item<Slot> operator()(u64 i) const {
    return {query<Slot>(keys[i]), static_cast<value_bits>(i), true};
  }
};

// Items of arrays, or of any other source, which is then called through a pointer: one code serves them all.
// Host only. The source must outlive it.
template <class Slot>
class called_source {
 public:
  template <class Source>
  explicit called_source(const Source& source)
      : source_(&source),
        get_([](const void* from, u64 i) { return (*static_cast<const Source*>(from))(i); }) {}
  explicit called_source(const array_source<Slot>& arrays) : arrays_(arrays) {}
  TILEHASH_FN item<Slot> operator()(u64 i) const { return get_ == nullptr ? arrays_(i) : get_(source_, i); }

 private:
  array_source<Slot> arrays_{};
  const void* source_ = nullptr;
  item<Slot> (*get_)(const void*, u64) = nullptr;
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

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
