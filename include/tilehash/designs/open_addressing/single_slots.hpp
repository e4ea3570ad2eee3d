// SPDX-License-Identifier: Apache-2.0
// Buckets of one slot, in which an erase leaves a tombstone: the part that open_addressing.hpp and
// papers/cuckoo.hpp share. The derived design says which bucket is next.
//
//   bucket   | a | . | x | b |      . empty   x erased, a tombstone   a letter is a key and its value
//
// A lookup ends at its key or at an empty slot, and goes on after an erased one. An insert may take both. A
// sweep removes the tombstones and marks the slots that walks still have to pass (kernel/sweep.hpp).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/slot.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Key, class Value>
class single_slots {
 public:
  using slot_type = slot<Key, Value>;
  using key_type = Key;
  using mapped_type = Value;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  template <class Tile>
  using bucket_type = bucket<slot_type, 1, Tile>;

  static constexpr u32 preferred_width = 1;

  TILEHASH_FN word* slots() const { return slots_; }
  TILEHASH_FN word* bucket_at(u64 i) const { return slots_ + i; }

  // ---- lookup. `at` of a location is the bucket's number ----
  TILEHASH_FN static key_bits stored(const auto& /*location*/, key_bits k) {
    return k;
  }  // compared with the slots of a bucket
  TILEHASH_FN static key_bits key_at(u64 /*slot*/, word w) { return slot_type::key_of(w); }
  TILEHASH_FN u64 where(const auto& location) const { return location.at; }
  TILEHASH_FN const word* address(const auto& location) const { return bucket_at(location.at); }

  template <class Tile>
  TILEHASH_FN auto examine(Tile t, const bucket_type<Tile>& b, key_bits wanted) const {
    auto a = b.look_up(t, wanted);
    const bool end = b.has_empty(t);
    if (a.what != lookup_state::found && !end) a.what = lookup_state::go_on;
    return a;
  }

  // ---- change ----
  template <class Tile>
  TILEHASH_FN insert_position<word> examine_for_insert(Tile t, const bucket_type<Tile>& b,
                                                       key_bits wanted) const {
    const bool same = b.has(t, wanted), empty = b.has_empty(t), erased = b.has(t, slot_type::tombstone_mark);
    return {same    ? lookup_state::found
            : empty ? lookup_state::absent
                    : lookup_state::go_on,
            empty || erased, 0, b.at(t, 0)};
  }
  TILEHASH_FN static word vacated(const insert_position<word>& /*result*/) {
    return slot_type::tombstone_word;
  }

  // ---- sweep ----
  TILEHASH_FN static word unmarked(u64 /*slot*/, word w) {
    return w == slot_type::tombstone_word ? slot_type::empty_word : w;
  }
  TILEHASH_FN void mark(const auto& location) const {
    compare_and_swap(slots_ + location.at, slot_type::empty_word, slot_type::tombstone_word);
  }

 protected:
  single_slots() = default;
  explicit single_slots(void* memory) : slots_(static_cast<word*>(memory)) {}

  word* slots_ = nullptr;
};

static_assert(requires(const single_slots<u32, u32> d) { d.unmarked(u64(0), 0); });

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
