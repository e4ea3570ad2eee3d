// SPDX-License-Identifier: Apache-2.0
// multi: all values of a key in one contiguous array, behind a table of dense ids.
//
//   key -> ids   [ 19: 1 | .. | 7: 0 | 4: 2 ]       any design that maps a key to 32 bits; k keys
//                        \        \       \ .
//   starts       | 0      | 3      | 4         | 9 |       k + 1; the values of id r begin at starts[r]
//                  |         \        \ .
//   values       | a  a  a | b      | c c c c c |         n, contiguous
//
//   keys         | 7       | 19     | 4         |         k: from an id to its key
//
// The number and start of a key's values cost a lookup of its id and one read of two neighbouring words:
// O(1), however often the key occurs. The values are an array. The cost of reading all values of many keys
// depends on the number of values, not on how many each key has (algorithm/segments.hpp).
//
// Three builds:
//
//   by regions   (engine/multi_regions.hpp) for keys with few values each: a partition by hash, then a count
//                of each region's keys in a block's scratch. The keys stay where the build of the table of
//                ids reads them.
//   by sort      a radix sort of the keys as they are, with their values. One pass over the sorted keys
//                counts where new ones begin, and one writes these positions. The table of ids is built in
//                bulk from the unique keys. Nothing is hashed before the sort and nothing copied after it.
//   by counting  all keys are inserted into a table, which counts them and gives them ids. Then each item
//                looks up its id and takes a number among the items of its key. A prefix sum gives the
//                starts, and each value is written at start plus number. Keys of over 8 bytes can only be
//                counted; their table of ids is an `indexed`, whose records hold the keys.
//
// Invariants. (1) The ids are 0 ... k - 1; each key has one, and each id has at least one value: starts rises
// strictly. (2) starts[0] = 0 and starts[k] = n. The order of a key's values is not promised.
//
// The table is not changed in place: an insert rebuilds it from its items and the given ones.
//
// Safe to run at the same time: any number of lookups and retrievals.
//
// Source: the multi-value hash tables of D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis,
// UC Davis 2011, sections 5.3 (by counting, all at once and by regions) and 6.3, algorithm 6.4 (by sort).
#pragma once

#include <limits>
#include <type_traits>

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/indexed.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/space/algorithms.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

template <class Ids>
inline constexpr bool is_indexed_set = false;
template <class Key, class Hash, class Ids>
inline constexpr bool is_indexed_set<indexed<Key, void, Hash, Ids>> = true;

template <class Key>
using default_ids =
    std::conditional_t<packed_bytes<Key> <= 8,
                       tiled<std::conditional_t<packed_bytes<Key> <= 8, Key, u64>, u32>, indexed<Key, void>>;

}  // namespace detail

// The way a build groups the values of a key.
enum class grouping {
  automatic,   // the faster way (engine/multi.hpp has the rule)
  by_regions,  // keys of up to 8 bytes; by sort if keys occur too often, items are few or values larger
  by_sort,     // keys of up to 8 bytes
  by_count,    // keys of any type
};

// The verbs are in engine/multi.hpp. `Ids` maps Key to u32 and finds keys in buckets (tiled, cuckoo,
// two_level_cuckoo, bucketed_cuckoo, linear_probing ...), or is indexed<Key, void>. `Offset` u32 serves up to
// 2^32 - 1 items; take u64 for more.
template <class Key, class Value, class Ids = detail::default_ids<Key>, class Offset = u32>
struct multi {
  static_assert(detail::checked_key<Key>::is);
  static_assert(
      value_like<Value> && !std::is_void_v<Value>,
      "tilehash: a multimap has values, and they must be trivially copyable; to count keys alone take "
      "map and insert_or_apply, or hash_graph<Key, void>");
  static_assert(std::same_as<Key, typename Ids::key_type>, "tilehash: the table of ids has other keys");

  using key_type = Key;
  using mapped_type = Value;
  using hasher = typename Ids::hasher;
  using ids_design = Ids;
  using offset = Offset;
  template <class Space>
  using engine = tilehash::engine::multi<multi, Space>;

  using grouping_type = grouping;
  static constexpr const char* name = "multi";
  static constexpr bool is_set = false;
  static constexpr bool keeps_duplicates = true;
  static constexpr double max_load_factor = detail::highest_load_factor<Ids>();
  static constexpr u64 max_items = std::numeric_limits<Offset>::max() - 1;
  static constexpr u32 none = ~0U;  // no id: there are at most 2^32 - 1

  // Are the keys stored in the records of the table of ids?
  static constexpr bool in_records = detail::is_indexed_set<Ids>;
  static_assert(in_records || std::same_as<typename Ids::mapped_type, u32>,
                "tilehash: the table of ids must map keys to 32 bits: tiled<Key, std::uint32_t> or the like");
  static_assert(
      in_records || (bucketed<Ids> && !values_apart<Ids>),
      "tilehash: the table of ids must find keys in buckets, with their values next to them: tiled, "
      "cuckoo, linear_probing, two_level_cuckoo or the like");

  // ---- the sort ----
  static constexpr bool can_sort = !in_records && detail::packed_bytes<Key> <= 8;
  // Keys that are words of 4 or 8 bytes are sorted as they are; a pass converts others to words.
  static constexpr bool keys_are_words = can_sort && std::integral<Key> && sizeof(Key) >= 4;
  using word = typename std::conditional_t<
      keys_are_words, std::make_unsigned<Key>,
      std::type_identity<detail::bits_t<can_sort ? detail::packed_bytes<Key> : 8>>>::type;
  static constexpr bool moves_values = sizeof(Value) <= 8;  // along with the keys; else items' numbers
  using carried = std::conditional_t<moves_values, Value, Offset>;

  // ---- regions ----
  static constexpr bool can_group = can_sort && moves_values && std::is_default_constructible_v<Value>;
};

static_assert(multivalue<multi<u32, u32>>);

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
