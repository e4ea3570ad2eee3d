// SPDX-License-Identifier: Apache-2.0
// The insert of a view into a design whose keys have two buckets, the second only if the first is full: each thread
// for itself, without moving another key.
//
//   first bucket --+-- holds the key -----------> present
//                  +-- has a free slot ---------> claim it
//                  +-- full --> second bucket --+-- holds the key --> present
//                                               +-- has a free slot > claim it
//                                               +-- full -----------> refused: displace
//
// A thread claims the first free slot in the key's order. If another item was faster, the compare-and-swap returns
// that item: it has the same key, or the thread tries the next free slot. It need not read the bucket again, as the
// walk of kernel/upsert.hpp does, for all lanes of a warp if one of them must.
//
// The lanes of a warp claim together, those of first buckets and those of second ones. So a warp waits for one
// compare-and-swap, and its code needs fewer registers.
//
// Exact under races, without a lock: while keys are only inserted, a free slot becomes taken and stays taken. A thread
// passes a slot only if it has another key. So of two threads with one key neither passes the slot of the other.
//
// A bucket with filter bits and a free slot has lost keys, so the key may be in the second bucket all the same. The
// thread reads that too, and claims the free slot in the first. If that bucket fills up meanwhile, the key may have
// moved there or to the second bucket, which the thread reads again.
#pragma once

#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design>
class insert_by_thread {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using stored_key = typename Design::stored_key;
  using value_bits = typename slot_type::value_bits;
  using location = typename Design::location;
  using bucket_type = typename Design::template bucket_type<solo_tile>;

 public:
  static_assert(!slot_type::reserves_keys);

  // Each thread with `mine` inserts one item. The threads of `t` leave together, of which any() asks.
  template <class Tile>
  TILEHASH_FN static outcome run(const Design& design, const Tile& t, const item<slot_type>& x, bool mine) {
    outcome became = outcome::refused;
    const location first = design.locate(x.key.bits);
    word* memory = design.bucket_at(design.where(first));
    stored_key stored = first.stored;
    bool on = mine && x.key.regular(), seeks = false;  // seeks: in the second bucket
    u32 free = 0;
    {
      const auto b = bucket_type::read_stale(solo_tile{}, memory);
      free = free_in(b);
      if (on && b.has(solo_tile{}, stored)) on = false, became = outcome::present;
      seeks = on && (free == 0 || b.has_bits(solo_tile{}, slot_type::filter_mask));
    }
    TILEHASH_UNROLL_BY(1)
    for (;;) {  // at most three times
      if (seeks) {
        location second = first;
        design.turn(second);
        word* const there = design.bucket_at(design.where(second));
        const auto b = bucket_type::read_shared(solo_tile{}, there);
        if (b.has(solo_tile{}, second.stored)) {
          on = false, became = outcome::present;
        } else if (free == 0) {
          memory = there;
          stored = second.stored;
          free = free_in(b);
          if (free != 0) design.passes(first);
        }
      }
      t.sync();
      if (on) became = claim(memory, free, stored, x.value);
      on = seeks = on && became == outcome::refused && stored == first.stored;  // the first bucket filled up
      if (!t.any(seeks)) return became;
      free = 0;
    }
  }

 private:
  // The free slots. Other bits of theirs than filter bits are zero, so a test of all bits has the same result as one
  // of the key's. If no instruction used the other bits, the compiler would load the parts of each word by themselves.
  // A processor without AVX may read the halves of a word one after the other, so there the key's bits alone are tested.
  TILEHASH_FN static u32 free_in(const bucket_type& b) {
#if !defined(__CUDA_ARCH__)
    return b.match_empty(solo_tile{});
#else
    return b.match_if(solo_tile{}, [](word w) {
      u32 bits = static_cast<u32>(w) & ~static_cast<u32>(slot_type::filter_mask);
      TILEHASH_UNROLL
      for (u32 at = 32; at < 8 * sizeof(word); at += 32)
        bits |= static_cast<u32>(w >> at % (8 * sizeof(word))) &
                ~static_cast<u32>(slot_type::filter_mask >> at % (8 * sizeof(word)));
      return bits == 0;
    });
#endif
  }
  // Claims a free slot of a bucket. Refused: all of them are taken by now.
  TILEHASH_FN static outcome claim(word* memory, u32 free, stored_key stored, value_bits value) {
    const u32 start = bucket_type::start_of(static_cast<u32>(slot_type::remainder_of(stored)));
    TILEHASH_UNROLL_BY(1)
    for (u32 left = free; left != 0;) {
      const u32 slot = bucket_type::first_from_start(left, start);
      left &= ~(1U << slot);
      word old = slot_type::empty_word, seen;
      do {
        seen = compare_and_swap(memory + slot, old, slot_type::written_over(old, stored, value));
        if (seen == old) return outcome::inserted;
        if (slot_type::stored_in(seen) == stored) return outcome::present;
        old = seen;
      } while (slot_type::is_free(seen));  // it has filter bits
    }
    return outcome::refused;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
