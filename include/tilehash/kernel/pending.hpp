// SPDX-License-Identifier: Apache-2.0
// Counts the pending items of each group of 256. The host plans its windows with these counts.
#pragma once

#include <tilehash/kernel/call.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u64 window_step =
    tuning::table::window_step;  // windows of items begin and end at multiples of it
// A call of many items enlarges a smaller table to this capacity at once. Windows are not smaller, and items
// of a window that exceed the free slots search in vain or wait for each other's locks.
inline constexpr u64 least_capacity = 8 * window_step;

// The number of items that a table of `size` grows to if nearly all items were new so far and the call may
// bring it to `all`. It is 64 times the size, or `all` if that is at most twice as many: the next growth
// would double the table for the few remaining items.
inline u64 capacity_to_grow_to(u64 size, u64 all) {
  const u64 far = 64 * size;
  return all <= 2 * far ? all : far;
}

struct count_pending {
  static constexpr u64 words_each = window_step / bits_a_word;
  const u32* pending;
  u64 words;
  u32* counts;

  TILEHASH_FN void operator()(u64 group) const {
    u32 n = 0;
    for (u64 w = group * words_each; w < (group + 1) * words_each && w < words; ++w)
      n += count_ones(pending[w]);
    counts[group] = n;
  }
};

// A lookup of the items' keys that changes nothing: items with absent keys are pending.
template <class Source>
struct keys_of_items {
  Source source;
  TILEHASH_FN auto operator[](u64 i) const { return source(i).key; }
};
struct pending_sink {
  outcome_recorder recorder;
  u64 first;
  template <class Lane>
  TILEHASH_FN void record(Lane lane, u64 i, bool mine, bool legal, bool found) const {
    recorder.record(lane, first + i, mine, legal, found ? outcome::present : outcome::refused);
  }
  template <class Hit>
  TILEHASH_FN void operator()(u64 /*i*/, const Hit& /*hit*/) const {}  // a CPU uses upsert_items
};

// The items in the slots of a table, as a source (core/item.hpp).
template <class Design>
struct slots_source {
  using Slot = typename Design::slot_type;
  Design design;

  TILEHASH_FN item<Slot> operator()(u64 i) const {
    const auto w = design.slots()[i];
    item<Slot> x;
    x.valid = holds_item(design, i, w);
    x.key.bits = design.key_at(i, w);
    x.key.legal = true;
    x.value = Slot::value_of(w);
    return x;
  }
};

// The list of evicted items without a slot (unplaced_items, kernel/insert_by_design.hpp), as a source.
template <class Slot, class Entry>
struct unplaced_source {
  const Entry* entries;
  TILEHASH_FN item<Slot> operator()(u64 i) const {
    item<Slot> x;
    x.valid = x.key.legal = true;
    x.key.bits = entries[i].key;
    x.value = entries[i].value;
    return x;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
