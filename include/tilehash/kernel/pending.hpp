// How many items of each group of 256 are pending: what the host plans its windows by.
#pragma once

#include <tilehash/kernel/recorder.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u64 window_step = 256;  // windows of items begin and end at multiples of it
// A smaller table is made at once as large as a call of many items will have it: windows are not smaller, and
// those of a window for which there is no room search for it in vain, or wait for each other's locks.
inline constexpr u64 least_room = 8 * window_step;

// Where nearly all items were new so far: for how many a table of `size` makes room, if there will be `all`.
// 64 times as many, or twice that where all are no more: the next growth would double it for the few that are
// left.
inline u64 room_to_grow_to(u64 size, u64 all) {
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

// A look at keys that changes nothing: those that are not there are pending.
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
  TILEHASH_FN void operator()(u64 /*i*/, const Hit& /*hit*/) const {}  // a CPU looks by upsert_items
};

// What stands in the slots of a table, as a source: (core/item.hpp).
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

// The entries of a list of keys that lost their places (kernel/upsert.hpp), as a source.
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
