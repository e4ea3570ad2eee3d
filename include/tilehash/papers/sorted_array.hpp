// SPDX-License-Identifier: Apache-2.0
// The sorted array: the baseline of every hash table.
//
//   keys      | 2 | 3 | 3 | 7 | 9 |        sorted by their bits
//   values    | b | a | e | d | c |        in the same order, in an array of their own
//
// One radix sort builds it, with no empty slots. A lookup is a binary search of log2(n) dependent accesses.
// It cannot be changed after the build; building again replaces it. A repeated key keeps all its items:
// find() gives any of them, count() counts them.
//
// The search has no branch but its loop. Each step halves the remaining range, in the same way for both
// halves, so that the lanes of a warp and a CPU's pipeline run it in step.
//
// Concurrency: any number of lookups.
//
// Source: the baseline of D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011,
// section 3.3.2.
#pragma once

#include <bit>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/built_once.hpp>
#include <tilehash/space/algorithms.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

template <class Key, class Value>
class sorted_array {
  static_assert(detail::checked_key<Key>::is && detail::checked_value<Value>::is);
  static_assert(detail::packed_bytes<Key> <= 16,
                "tilehash: sorted_array sorts keys of at most 16 bytes; use hash_graph");

 public:
  using key_type = Key;
  using mapped_type = Value;
  using hasher = identity;  // not used
  using bits = detail::bits_t<detail::packed_bytes<Key>>;
  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool keeps_duplicates = true;
  static constexpr bool is_sorted = true;  // so its capacity does not depend on a load factor
  template <class Space>
  using engine = tilehash::engine::built_once<sorted_array, Space>;

  static constexpr const char* name = "sorted_array";
  using stored = std::conditional_t<is_set, char, Value>;

  struct pair_item {
    Key key;
    stored value;
  };

  // The number of items, whatever the load factor.
  static u64 rows_for(u64 items, double load_factor) {
    detail::slots_for(items, load_factor);
    return items < 1 ? 1 : items;
  }
  static u64 bytes(u64 rows, u64 /*items*/) { return values_at(rows) + (is_set ? 0 : rows * sizeof(stored)); }

  sorted_array() = default;
  sorted_array(void* memory, u64 rows, u64 items, u64 /*seed*/)
      : keys_(static_cast<bits*>(memory)),
        values_(reinterpret_cast<stored*>(static_cast<char*>(memory) + values_at(rows))),
        rows_(rows),
        items_(items) {}

  // The same table, with its memory copied to `memory`.
  sorted_array moved_to(void* memory) const { return {memory, rows_, items_, 0}; }

  TILEHASH_FN bool has_memory() const { return keys_ != nullptr; }
  TILEHASH_FN u64 capacity() const { return rows_; }
  TILEHASH_FN u64 size() const { return items_; }
  TILEHASH_FN pair_item item(u64 i) const {
    if constexpr (is_set)
      return {detail::key_from_bits<Key>(keys_[i]), {}};
    else
      return {detail::key_from_bits<Key>(keys_[i]), values_[i]};
  }

  // ---- lookup: O(log n) ----
  struct location {
    bits wanted;
  };
  struct range {
    const bits* at;  // the first key that is not less than the wanted one
  };
  TILEHASH_FN location locate(const Key& key) const { return {detail::key_to_bits<bits>(key)}; }
  TILEHASH_FN const void* address(const location&) const { return keys_ + items_ / 2; }
  TILEHASH_FN const void* address(const range& r) const { return values_ + (r.at - keys_); }
  TILEHASH_FN range row(const location& p) const {
    const bits* from = keys_;
    for (u64 left = items_; left > 1; left -= left / 2) from += from[left / 2 - 1] < p.wanted ? left / 2 : 0;
    return {from + (items_ != 0 && *from < p.wanted)};
  }

  // The result of a search for a key.
  struct search_hit {
    bits wanted;
    const bits *at, *end;
    const stored* values;  // of the key at `at`
    u32 steps;

    TILEHASH_FN bool found() const { return at != end && *at == wanted; }
    TILEHASH_FN auto value() const
      requires(!is_set)
    {
      return *values;
    }
    TILEHASH_FN u32 count() const {
      u32 n = 0;
      for (const bits* k = at; k != end && *k == wanted; ++k) ++n;
      return n;
    }
    TILEHASH_FN u32 probes() const { return steps; }  // keys compared
  };
  TILEHASH_FN search_hit hit(const Key& key, const range& r) const {
    u32 steps = 1;
    while (items_ >> steps != 0) ++steps;
    return {locate(key).wanted, r.at, keys_ + items_, values_ + (r.at - keys_), steps};
  }

  // ---- build: one sort ----
  // Builds from `n` keys and, in a map, their values. Returns the number of legal keys; NaN keys are left
  // out.
  template <class Space, class MappedPointer>
  u64 build(Space& space, const Key* keys, MappedPointer given, u64 n) {
    constexpr bool moves_values = !is_set && sizeof(stored) <= 8;
    buffer<u64, Space> count(space, 1), order(space, is_set || moves_values ? 0 : n);
    space.fill(count.data(), 1, u64(0));
    space.for_each(n, take<MappedPointer>{*this, keys, given, moves_values ? values_ : nullptr, order.data(),
                                          count.data()});
    items_ = detail::has_nan<Key> ? read_one(space, count.data()) : n;
    if constexpr (is_set)
      space.sort(keys_, items_);
    else if constexpr (moves_values)
      space.sort_pairs(keys_, values_, items_, 8 * sizeof(bits));
    else {
      space.sort_pairs(keys_, order.data(), items_, 8 * sizeof(bits));
      space.for_each(items_, fetch<MappedPointer>{values_, given, order.data()});
    }
    return items_;
  }

  // The build's passes. (Public because nvcc launches no kernel on a private type.)
  template <class MappedPointer>
  struct take {
    sorted_array to;
    const Key* keys;
    MappedPointer given;
    stored* values;  // null: the items' numbers are sorted instead
    u64* order;
    u64* count;
    TILEHASH_FN void operator()(u64 i) const {
      u64 at = i;
      if constexpr (detail::has_nan<Key>) {
        if (!detail::is_legal(keys[i])) return;
        at = detail::fetch_add(count, u64(1));
      }
      to.keys_[at] = detail::key_to_bits<bits>(keys[i]);
      if constexpr (!is_set) {
        if (values != nullptr)
          values[at] = given[i];
        else
          order[at] = i;
      }
    }
  };
  template <class MappedPointer>
  struct fetch {
    stored* values;
    MappedPointer given;
    const u64* order;
    TILEHASH_FN void operator()(u64 i) const { values[i] = given[order[i]]; }
  };

 private:
  static constexpr u64 values_at(u64 rows) {
    constexpr u64 align = alignof(stored) > 16 ? alignof(stored) : 16;
    return (rows * sizeof(bits) + align - 1) / align * align;
  }

  bits* keys_ = nullptr;
  stored* values_ = nullptr;
  u64 rows_ = 1;
  u64 items_ = 0;
};

static_assert(rowed<sorted_array<u32, u32>> && multivalue<sorted_array<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash
