// SPDX-License-Identifier: Apache-2.0
// Removes the marks that erases left and that no present key needs, within the table's own memory.
//
//   k's buckets   | a | x | x | k | x |     x  marked: a lookup goes on, and a table of fixed size keeps them
//   unmark        | a | . | . | k | . |     all marks go; nothing else runs on the table meanwhile
//   move          | a | k | . | . | . |     each key claims the first free slot of its walk
//   mark          | a | k | . | . | . |     ... and marks the buckets that its walk still passes
//
// No step allocates, and none can fail: a key leaves its slot only after it has claimed another. A walk ends
// at the key's own bucket, by its number, so no step depends on the marks. Keys end within 1.2 times the walks
// of a new table, where a second pass of `move` would gain little (docs/adr/0032-turnover.md).
//
// Concurrency of a step: a slot is freed only by the lane that has its number, and claimed by one
// compare-and-swap. A key that has moved may be moved on by the lane of its new slot. Then the first lane
// still frees its own slot, and the other lane frees the new one.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Erases leave marks that make lookups go on: tombstones, or bits of a filter. While other keys take the
// erased slots, marks add up. A sweep removes those that no present key needs, while nothing else runs on the
// table. A design whose tables are swept has:
//   unmarked(i, word)   the word of slot i without a mark
//   mark(at)            marks this bucket, since a key is in a later one of its walk; concurrent calls are
//                       allowed
//   sweeps_after(erased, items)   is a sweep due after so many erases, with so many items in the table?
// The next bucket of a walk must not depend on what a bucket says. Optional:
//   home_of(i, word)    locate() of the key in slot i, where stored() needs no more of the key than that
//   is_home(word)       true: this item is in its first bucket
struct no_result {};
template <class D>
concept sweepable = erases_in_place<D> && requires(const D d, typename D::location p, typename D::word w) {
  { d.unmarked(u64(0), w) } -> std::same_as<typename D::word>;
  d.mark(p);
  d.advance(p, no_result{});
  { d.sweeps_after(u64(0), u64(0)) } -> std::same_as<bool>;
};

template <sweepable Design>
struct unmark_slots {
  Design design;
  TILEHASH_FN void operator()(u64 i) const {
    auto* const at = design.slots() + i;
    const auto old = load_relaxed(at), now = design.unmarked(i, old);
    if (now != old) store_relaxed(at, now);
  }
};

// Has the slot an item that may be stored behind its first bucket?
template <sweepable Design>
TILEHASH_FN bool may_walk(const Design& design, u64 i, typename Design::word w) {
  if (!holds_item(design, i, w)) return false;
  if constexpr (requires { design.is_home(w); })
    return !design.is_home(w);
  else
    return true;
}

// The walk of the key in a slot, from its first bucket to the one before its own.
template <sweepable Design>
struct walk_of_slot {
  using word = typename Design::word;
  static constexpr u64 slots = solo_bucket<Design>::slots;

  using stored_key = stored_key_of<Design>;

  const Design& design;
  u64 own;            // the number of the key's bucket
  stored_key stored;  // ... and how it is stored there: a design may name one bucket twice (`tiled`)
  typename Design::key_bits key{};
  typename Design::location now{};
  u32 steps = 1;

  TILEHASH_FN walk_of_slot(const Design& of, u64 i, word w)
      : design(of), own(i / slots), stored(static_cast<stored_key>(w >> Design::slot_type::stored_shift)) {
    if constexpr (requires { of.home_of(i, w); }) {
      now = of.home_of(i, w);
    } else {
      key = of.key_at(i, w);
      now = of.locate(key);
    }
  }
  TILEHASH_FN bool is_at_its_end() const {
    return (design.where(now) == own && design.stored(now, key) == stored) ||
           steps >= max_steps_of(design, now);
  }
  TILEHASH_FN void go_on() {
    design.advance(now, no_result{});
    ++steps;
  }
};

template <sweepable Design>
struct move_keys {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  using bucket_type = solo_bucket<Design>;

  Design design;
  TILEHASH_FN void operator()(u64 i) const {
    word* const from = design.slots() + i;
    const word w = load_relaxed(from);
    if (!may_walk(design, i, w)) return;
    for (walk_of_slot<Design> walk(design, i, w); !walk.is_at_its_end(); walk.go_on()) {
      const claimed then = claim(walk, from, w);
      if (then == claimed::yes) store_relaxed(from, slot_type::empty_word);
      if (then != claimed::no) return;
    }
  }

 private:
  enum class claimed { no, yes, torn };
  // Puts the item in the slot `from` into a free slot of the bucket at which its walk is. A word of 16 bytes
  // may be torn: read in two halves while another lane wrote it. Such an item stays.
  TILEHASH_FN claimed claim(const walk_of_slot<Design>& walk, word* from, word w) const {
    if constexpr (requires { design.may_take(walk.now); }) {
      if (!design.may_take(walk.now)) return claimed::no;
    }
    word* const to = design.bucket_at(design.where(walk.now));
    const auto stored = design.stored(walk.now, walk.key);
    const solo_tile t;
    const auto result = examine_for_insert(design, t, bucket_type::read_shared(t, to), stored);
    if (!result.free) return claimed::no;
    if constexpr (sizeof(word) > 8) {
      if (compare_and_swap(from, w, w) != w) return claimed::torn;
    }
    const word content = slot_type::written_over(result.old, stored, slot_type::value_of(w));
    return compare_and_swap(to + result.slot, result.old, content) == result.old ? claimed::yes : claimed::no;
  }
};

template <sweepable Design>
struct mark_walks {
  Design design;
  TILEHASH_FN void operator()(u64 i) const {
    const auto w = load_relaxed(design.slots() + i);
    if (!may_walk(design, i, w)) return;
    for (walk_of_slot<Design> walk(design, i, w); !walk.is_at_its_end(); walk.go_on()) design.mark(walk.now);
  }
};

// O(slots + the lengths of all walks). Does not synchronize with the host.
template <sweepable Design, class Space>
void sweep(Space& space, const Design& design) {
  const u64 n = design.capacity();
  space.for_each(n, unmark_slots<Design>{design});
  if constexpr (probe_inserting<Design>) {
    space.for_each(n, move_keys<Design>{design});
  }
  space.for_each(n, mark_walks<Design>{design});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
