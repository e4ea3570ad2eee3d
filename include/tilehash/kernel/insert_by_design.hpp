// SPDX-License-Identifier: Apache-2.0
// Inserts by designs with their own insert() (core/result.hpp), called by kernel/upsert.hpp. A tile inserts
// its items one after the other.
//
// Where such inserts move keys (not `steady`), no value changes concurrently with them. An item whose key is
// present then stays pending, and a later phase that only finds updates its value.
#pragma once

#include <concepts>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/call.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Items that an insert evicted and could not place again. Bounded: an insert does not begin unless the list
// has a free entry for each lane that may be running.
template <class Slot>
struct unplaced_items {
  struct entry {
    typename Slot::key_bits key;
    typename Slot::value_bits value;
  };
  entry* entries = nullptr;
  u64 capacity = 0;  // entries, not counting one for each running lane
  u64* length = nullptr;
  u32* fresh = nullptr;  // a bit for each item: the item inserted its key

  TILEHASH_FN bool has_free_entry() const { return load_relaxed(length) <= capacity; }
  TILEHASH_FN void add(typename Slot::key_bits key, typename Slot::value_bits value) const {
    entries[fetch_add(length, u64(1))] = {key, value};
  }
  template <class Lane>
  TILEHASH_FN void note_fresh(Lane lane, u64 i, bool inserted) const {
    const auto warp = lane.template tile<bits_a_word>();
    const u32 bits = warp.ballot(inserted);
    if (warp.rank() == 0) fresh[i / bits_a_word] = bits;
  }
};

// One try for the tile's lane j.
template <class Design, class Tile, class Key, class Value>
TILEHASH_FN auto try_insert(const Design& design, Tile t, u32 j, Key key, Value value, bool active,
                            bool evicted) {
  key = t.broadcast(key, j);
  value = t.broadcast(value, j);
  if constexpr (replacing<Design>)
    return design.insert(t, key, value, active, t.broadcast(u32(evicted), j) != 0);
  else
    return design.insert(t, key, value, active);
}

// Returns the slot that holds the key, or null.
template <class Design, class Tile>
TILEHASH_FN typename Design::word* slot_of(const Design& design, Tile t,
                                           typename Design::slot_type::key_bits wanted, bool active) {
  using bucket_type = typename Design::template bucket_type<Tile>;
  typename Design::word* at = nullptr;
  for (u32 todo = t.ballot(active); t.any(todo != 0); todo &= todo - 1) {
    const u32 j = todo != 0 ? lowest(todo) : 0;
    const auto key = t.broadcast(wanted, j);
    auto now = design.locate(key);
    bool seeks = todo != 0;
    for (u32 steps = 1; t.any(seeks); ++steps) {
      auto* const memory = design.bucket_at(design.where(now));
      const auto b = bucket_type::read_shared(t, memory, seeks);
      const insert_position_of<Design> p = examine_for_insert(design, t, b, design.stored(now, key));
      if (!seeks) continue;
      if (p.what == lookup_state::found && t.rank() == j) at = memory + p.slot;
      seeks = p.what != lookup_state::found && steps < max_steps_of(design, now);
      if (seeks) design.advance(now, p);
    }
  }
  return at;
}

// The lanes with `open` insert one item each, one lane after the other. `became` is the outcome of the lane's
// item so far. A collective.
template <class Work, class Tile, class Key, class Value>
TILEHASH_FN outcome insert_by_design(const Work& work, Tile t, Key own, Value given, bool open,
                                     outcome became) {
  using Design = typename Work::design_type;
  Key key = own;
  Value value = given;
  bool replaced = false;  // key and value are those of an evicted item
  if constexpr (replacing<Design>) open = open && work.unplaced.has_free_entry();
  const bool tried = open;
  u32 rounds = 0;
  for (u32 todo = t.ballot(open); t.any(todo != 0); todo = t.ballot(open)) {
    const u32 j = todo != 0 ? lowest(todo) : 0;
    const auto r = try_insert(work.design, t, j, key, value, todo != 0, replaced);
    if (todo == 0 || t.rank() != j) continue;
    ++rounds;
    open = (r.what == insert_state::again || r.what == insert_state::replaced) && rounds < Design::max_rounds;
    if (r.what == insert_state::inserted) became = outcome::inserted, replaced = false;
    if (r.what == insert_state::present && !replaced) became = outcome::present;
    if (r.what == insert_state::replaced)
      became = outcome::inserted, replaced = true, key = r.key, value = r.value;
  }
  if constexpr (replacing<Design>) {
    if (replaced) work.unplaced.add(key, value);
  }
  if constexpr (Work::updates && !steady<Design>) {
    // The item stays pending.
    if (became == outcome::present) became = outcome::refused;
  } else if constexpr (Work::updates) {
    // A concurrent insert of the same key was faster.
    auto* const at = slot_of(work.design, t, own, tried && became == outcome::present);
    if (at != nullptr) work.combine(at, load_relaxed(at), given);
  }
  return became;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
