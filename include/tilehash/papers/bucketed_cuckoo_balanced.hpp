// SPDX-License-Identifier: Apache-2.0
// Bucketed cuckoo hashing whose inserts take the emptier of a key's two buckets, as MegaKV and MemC3 do.
//
//   key k ---- first(k) ----> | a b c . . . . . |
//          \-- second(k) ---> | m . . . . . . . |  <-- k goes here
//
// Hits read 1.5 buckets, misses 2: an empty slot says nothing about the other bucket. Two inserts of one key meet
// at the lock of first(k). All else is designs/bucketed_cuckoo.hpp's.
//
// Source: the baseline of A. Breslow et al., Horton Tables, USENIX ATC 2016, section 3.
#pragma once

#include <tilehash/designs/bucketed_cuckoo.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

struct balanced {
  static constexpr const char* name = "bucketed_cuckoo_balanced";
  static constexpr bool fills_first = false;

  // Puts a key into the emptier of its buckets, under the lock of the first. `full`: a displacement may still
  // help.
  template <class Design, class Tile>
  TILEHASH_FN static insert_result<typename Design::key_bits, typename Design::slot_type::value_bits> insert(
      const Design& design, Tile t, typename Design::key_bits key,
      typename Design::slot_type::value_bits value, bool active) {
    const auto p = design.locate(key);
    const bool held = lock_one(design, t, p.first, active);
    const insert_state then = place_in(design, t, p, key, Design::slot_type::pack(key, value), held);
    t.sync();
    if (held && t.rank() == 0) detail::unlock(design.locks(), p.first);
    return {held ? then : insert_state::again};
  }

 private:
  template <class Design, class Tile>
  TILEHASH_FN static bool lock_one(const Design& design, Tile t, u64 a, bool wanted) {
    bool got = false;
    if (wanted && t.rank() == 0) got = detail::try_lock(design.locks(), a);
    got = t.broadcast(u32(got), 0) != 0;
    t.sync();
    return got;
  }

  // One try to put a key into the emptier of its buckets, while no other tile may add this key. Returns `again`
  // if another key took the slot first, `full` if both buckets are full.
  template <class Design, class Tile>
  TILEHASH_FN static insert_state place_in(const Design& design, Tile t, const typename Design::location& p,
                                           typename Design::key_bits wanted, typename Design::word content,
                                           bool active) {
    using slot_type = typename Design::slot_type;
    using bucket_type = typename Design::template bucket_type<Tile>;
    using word = typename Design::word;
    const auto b1 = bucket_type::read_shared(t, design.bucket_at(p.first), active);
    const auto b2 = bucket_type::read_shared(t, design.bucket_at(p.second), active);
    const bool here = b1.has(t, wanted), there = b2.has(t, wanted), known = here || there;
    const u32 empty1 = b1.match_empty(t), free1 = empty1 | b1.match_tombstone(t);
    const u32 empty2 = b2.match_empty(t), free2 = empty2 | b2.match_tombstone(t);
    const bool in_first = detail::count_ones(free1) >= detail::count_ones(free2);
    const u32 empty = in_first ? empty1 : empty2, free = in_first ? free1 : free2;
    const u32 at = free != 0 ? detail::lowest(free) : 0;
    const word old = empty >> at & 1 ? slot_type::empty_word : slot_type::tombstone_word;
    const bool won = try_claim(t, design.bucket_at(in_first ? p.first : p.second) + at, old, content,
                               active && !known && free != 0);
    return known       ? insert_state::present
           : won       ? insert_state::inserted
           : free != 0 ? insert_state::again
                       : insert_state::full;
  }
};

template <class Key, class Value, class Hash = murmur,
          u32 Slots = 64 / sizeof(typename slot<Key, Value>::word)>
using bucketed_cuckoo_balanced = bucketed_cuckoo<Key, Value, Hash, Slots, balanced>;

static_assert(self_inserting<bucketed_cuckoo_balanced<u32, u32>> &&
              displacing<bucketed_cuckoo_balanced<u32, u32>> && steady<bucketed_cuckoo_balanced<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash
