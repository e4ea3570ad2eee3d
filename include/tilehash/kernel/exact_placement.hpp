// SPDX-License-Identifier: Apache-2.0
// Places a key for which the design's own insert finds no slot. The search finds a path whenever one exists.
// Its only memory is a bit for each bucket. One thread runs it, with exclusive access to these buckets.
//
//   way out of a bucket   a free slot in it, or a key in it that may be stored in a bucket marked earlier
//   sweep                 repeated over the buckets: marks those with a way out, until it reaches one of the
//                         key's own buckets. The key takes the slot there; the key evicted from it goes on
//
// Termination: T(b) is the time at which a sweep marks bucket b. A key goes on from b to a bucket b' marked
// before b: T(b') < T(b). The exchange changes only b. The key newly stored in b gives b no earlier way out,
// as no bucket of that key was marked before b. So the next search marks the buckets marked before b at the
// same times, and ends at T(b') or earlier.
//
// Completeness: if all n keys can be placed and all but one are, an augmenting path leads from the buckets of
// the last key to a free slot (Berge). The sweeps mark every bucket with such a path.
//
// It is slow, O(slots) a sweep, and meant for the rare keys that nothing else places.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/designs/concepts.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design>
struct exact_placement {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using key_bits = typename slot_type::key_bits;
  using value_bits = typename slot_type::value_bits;
  using location = typename Design::location;
  static constexpr u32 slots = Design::bucket_slots, none = slots;

  Design design;
  u32* marks;          // a bit for each bucket of the table, zero afterwards unless the design uses it
  u64 first, buckets;  // the range that has all buckets of the keys

  // False: the key has no slot, and nothing has changed. The key must be absent from the table.
  TILEHASH_FN bool put(key_bits key, value_bits value) const {
    for (u64 moved = 0; moved <= buckets; ++moved) {  // fewer, as T falls
      u64 bucket = 0;
      u32 slot = none;
      location p{};
      clear();  // (the design may record where keys are stored in the same bits)
      const bool found = search(key, bucket, slot, p);
      clear();
      if (!found) return false;
      const u64 at = bucket * slots + slot;
      const word old = design.slots()[at];
      const bool was_free = slot_type::is_free(old);
      const key_bits next = was_free ? key : static_cast<key_bits>(design.key_at(at, old));
      const value_bits its_value = slot_type::value_of(old);
      stand(p, design.slots() + at, key, value);
      if (was_free) return true;
      key = next;
      value = its_value;
    }
    return false;
  }

 private:
  TILEHASH_FN bool search(key_bits key, u64& bucket, u32& slot, location& p) const {
    for (bool more = true; more;) {  // each sweep but the last marks a bucket
      more = false;
      for (bucket = first; bucket < first + buckets; ++bucket) {
        if (is_marked(bucket)) continue;
        slot = way_out(bucket);
        if (slot == none) continue;
        if (find_location(key, p, [&](u64 b) { return b == bucket; })) return true;
        marks[bucket / 32] |= 1U << bucket % 32;
        more = true;
      }
    }
    return false;
  }
  // The slot of the bucket's way out, or none.
  TILEHASH_FN u32 way_out(u64 bucket) const {
    const word* const words = design.bucket_at(bucket);
    u32 usable = ~0U >> (32 - slots);
    if constexpr (requires { Design::item_slots; }) usable = Design::item_slots;
    for (u32 s = 0; s < slots; ++s) {
      if ((usable >> s & 1) != 0 && slot_type::is_free(words[s])) return s;
    }
    for (u32 s = 0; s < slots; ++s) {
      if ((usable >> s & 1) == 0) continue;
      location p{};
      const auto key = static_cast<key_bits>(design.key_at(bucket * slots + s, words[s]));
      if (find_location(key, p, [&](u64 b) { return is_marked(b); })) return s;
    }
    return none;
  }
  TILEHASH_FN bool is_marked(u64 b) const { return (marks[b / 32] >> b % 32 & 1) != 0; }
  TILEHASH_FN void clear() const {
    for (u64 w = first / 32; w <= (first + buckets - 1) / 32; ++w) marks[w] = 0;
  }

  // Sets p to the first of the key's locations whose bucket passes the test.
  template <class Test>
  TILEHASH_FN bool find_location(key_bits key, location& p, const Test& will_do) const {
    p = design.locate(key);
    for (u32 step = 1;; ++step) {
      if (will_do(static_cast<u64>(design.where(p)))) return true;
      if (step >= design.max_steps()) return false;
      if constexpr (requires { design.next(p); })
        design.next(p);
      else
        design.advance(p, step);
    }
  }
  // Stores the key, and updates the bounds of the design so that lookups reach it.
  TILEHASH_FN void stand(const location& p, word* at, key_bits key, value_bits value) const {
    const location home = design.locate(key);
    if constexpr (requires { design.passes(home); }) {
      if (design.where(p) != design.where(home)) design.passes(home);
    }
    if constexpr (requires { design.raise_max_age(p.home, p.age); }) {
      if (p.age > 1) design.raise_max_age(p.home, p.age);
    }
    *at = slot_type::written_over(*at, design.stored(p, key), value);
  }
};

// Places items that the build of a region could not place, each in its region. Counts the items without a
// slot.
template <class Design, class Source>
struct place_in_regions {
  Design design;
  Source source;
  u64 n;
  u64* without;

  TILEHASH_FN void operator()(u64 /*i*/) const {
    u64 left = 0;
    for (u64 i = 0; i < n; ++i) {
      const auto x = source(i);
      const u64 buckets = design.region_buckets();
      const u64 region = design.region_of(design.hash(x.key.bits));
      const exact_placement<Design> placement{design, design.marks(), region * buckets, buckets};
      left += !placement.put(x.key.bits, x.value);
    }
    *without = left;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
