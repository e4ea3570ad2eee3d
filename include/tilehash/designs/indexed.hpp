// SPDX-License-Identifier: Apache-2.0
// indexed: keys and values of any size, in records that a table of ids points to.
//
//   key -> ids    [ f7: 2 | 19: 0 | .. | c4: 1 ]           a key's fingerprint, and its id
//                       \      \            \ .
//   record (id)          \      0            1             2              3
//                         \   | key value  | key value   | key value    | (free)       |
//                          +-----------------------------^
//
// The ids of the first k keys are 0, 1, ... k - 1, in no given order. They are dense, so that they index the
// user's own arrays. A key keeps its id while it is in the table; the id of an erased key goes to a new one.
//
// A key of up to 8 bytes is stored in the table of ids itself. A larger one is represented there by its
// fingerprint, 64 bits of its hash, and a lookup compares the key in the record. No two keys of a table have
// the same fingerprint: where an insert meets such a pair, the table of ids is rebuilt with another hash
// function. (With 2^32 keys, that happens in one of two tables; with 2^26, in one of 8192.)
//
// Invariants. (1) A record is taken if and only if its id is in the table of ids, once. (2) Fingerprints in
// the table of ids are distinct. So if a lookup finds its fingerprint with another key, its own key is
// absent.
//
// A lookup reads a bucket of 64 bytes and a record. An insert finds out which keys are new, finds equal keys
// among them in a separate table, writes the records and then inserts their ids. Until that last step lookups
// see nothing of it, and a call that fails has changed nothing. Then values of present keys change
// (engine/record_changes.hpp).
//
// Safe to run at the same time: lookups with lookups.
#pragma once

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/tiled.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

// The form of a key in the table of ids.
template <class Key>
using fingerprint_type = std::conditional_t<detail::packed_bytes<Key> <= 8, Key, u64>;

namespace detail {

template <class Key, class Value>
struct record {
  Key key;
  Value value;
};
template <class Key>
struct record<Key, void> {
  Key key;
};
template <class Key, class Value>
inline constexpr bool copied_as_bytes<record<Key, Value>> =
    copied_as_bytes<Key> && (std::is_void_v<Value> || copied_as_bytes<Value>);

}  // namespace detail

// The verbs are in engine/records.hpp. `Hash` gives the fingerprints of keys over 8 bytes. `Ids` maps
// fingerprints to u32: any design that is changed in place (tiled, bucketed_cuckoo, cuckoo, linear_probing,
// ...).
template <class Key, class Value, class Hash = murmur, class Ids = tiled<fingerprint_type<Key>, u32>>
struct indexed {
  static_assert(detail::checked_key<Key>::is);
  static_assert(detail::checked_value<Value>::is);
  static_assert(std::same_as<typename Ids::key_type, fingerprint_type<Key>> &&
                    std::same_as<typename Ids::mapped_type, u32>,
                "tilehash: the table of ids must map indexed's fingerprints to 32 bits");
  static_assert(changed_in_place<Ids> && erasable<Ids>,
                "tilehash: the table of ids must be one that is changed in place: tiled, bucketed_cuckoo, "
                "cuckoo, linear_probing or the like");

  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  template <class Space>
  using engine = tilehash::engine::records<indexed, Space>;
  static constexpr bool engine_inserts = true, engine_erases = true;

  static constexpr const char* name = "indexed";
  static constexpr bool is_set = std::is_void_v<Value>;

  // Does the table of ids have the key itself, not a hash of it?
  static constexpr bool is_exact = detail::packed_bytes<Key> <= 8;
  using fingerprint = fingerprint_type<Key>;
  // The same with another table of ids, which maps `fingerprint` to 32 bits.
  template <class Other>
  using with_ids = indexed<Key, Value, Hash, Other>;
  using ids = Ids;
  // The table that finds equal keys of a call: a table of ids, but with numbers in its slots.
  using meeting = std::conditional_t<values_apart<Ids>, tiled<fingerprint, u32>, Ids>;
  static constexpr double max_load_factor = detail::highest_load_factor<ids>();
  static constexpr u32 none = ~0U;  // no id: a table has at most 2^32 - 1

  using record = detail::record<Key, Value>;

  Hash hash;

  indexed() = default;
  explicit indexed(u64 seed) : hash(seed) {}

  TILEHASH_FN fingerprint fingerprint_of(const Key& key) const {
    if constexpr (is_exact)
      return key;
    else
      return detail::hash_key(hash, key);
  }
};

static_assert(insertable<indexed<u32, u32>> && erasable<indexed<u32, u32>>);

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
