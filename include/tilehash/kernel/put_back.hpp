// SPDX-License-Identifier: Apache-2.0
// Puts evicted items without a slot back into the table if there is no memory for a new table
// (engine/put_back.hpp). Evicted items are those that are not stored again yet.
#pragma once

#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/erase.hpp>
#include <tilehash/kernel/exact_placement.hpp>
#include <tilehash/kernel/find.hpp>
#include <tilehash/kernel/upsert.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The evicted items, and a bit for each that is stored again.
template <class Design>
struct unplaced_keys {
  using entry = typename unplaced_items<typename Design::slot_type>::entry;
  entry* entries;
  u64 n;
  u32* done;

  TILEHASH_FN bool evicted(u64 i) const { return (load_relaxed(done + i / 32) >> i % 32 & 1) == 0; }
  TILEHASH_FN void settle(u64 i) const { set_bits(done + i / 32, 1U << i % 32); }
};

// Continues each item's insert for as many tries again, and counts the items that are still evicted.
template <class Design, u32 Width>
struct walk_on {
  Design design;
  unplaced_keys<Design> keys;
  u64* left;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    one(lane.template tile<Width>(), lane.index());
  }
  void operator()(u64 from, u64 to) const {
    for (u64 i = from; i < to; ++i) one(solo_tile{}, i);
  }

 private:
  template <class Tile>
  TILEHASH_FN void one(Tile t, u64 i) const {
    const bool mine = i < keys.n && keys.evicted(i);
    auto e = mine ? keys.entries[i] : typename unplaced_keys<Design>::entry{};
    bool open = mine, landed = false;
    u32 rounds = 0;
    for (u32 todo = t.ballot(open); t.any(todo != 0); todo = t.ballot(open)) {
      const u32 j = todo != 0 ? lowest(todo) : 0;
      const auto r = design.insert(t, t.broadcast(e.key, j), t.broadcast(e.value, j), todo != 0, true);
      if (todo == 0 || t.rank() != j) continue;
      ++rounds;
      landed = r.what == insert_state::inserted;
      if (r.what == insert_state::replaced) e.key = r.key, e.value = r.value;
      open = !landed && r.what != insert_state::full && rounds < Design::max_rounds;
    }
    if (!mine) return;
    keys.entries[i] = e;
    if (landed)
      keys.settle(i);
    else
      fetch_add(left, u64(1));
  }
};

// Erases the new keys of a phase from the table, or drops them from the list if they are evicted. Their items
// are pending again. Counts them.
template <class Design, class Source>
struct take_out_new {
  using slot_type = typename Design::slot_type;
  Design design;
  sentinel_cells<slot_type> sentinels;
  Source source;
  u64 first;         // of the items
  const u32* fresh;  // a bit for each: the item inserted its key
  outcome_recorder recorder;
  unplaced_keys<Design> keys;
  u64* taken;

  TILEHASH_FN void operator()(u64 nth) const {
    const u64 i = first + nth;
    if ((fresh[i / bits_a_word] >> i % bits_a_word & 1) == 0) return;
    const auto x = source(i);
    if (!erase_one(design, sentinels, x.key)) drop(x.key.bits);
    set_bits(recorder.pending + i / bits_a_word, 1U << i % bits_a_word);
    if (recorder.outcomes != nullptr) recorder.outcomes[i] = outcome::refused;
    fetch_add(taken, u64(1));
  }

 private:
  TILEHASH_FN void drop(typename slot_type::key_bits key) const {
    for (u64 i = 0; i < keys.n; ++i) {
      if (!keys.evicted(i) || keys.entries[i].key != key) continue;
      keys.settle(i);
      design.drop(key);
      return;
    }
  }
};

// Makes an item pending if its key was present at its insert and has been erased by take_out_new.
template <class Design, class Source>
struct find_copies {
  using slot_type = typename Design::slot_type;
  Design design;
  sentinel_cells<slot_type> sentinels;
  Source source;
  u64 first;
  outcome_recorder recorder;

  TILEHASH_FN void operator()(u64 nth) const {
    const u64 i = first + nth;
    if ((load_relaxed(recorder.pending + i / bits_a_word) >> i % bits_a_word & 1) != 0) return;
    const auto x = source(i);
    if (!x.valid || !x.key.legal || is_present(x.key)) return;
    set_bits(recorder.pending + i / bits_a_word, 1U << i % bits_a_word);
    if (recorder.outcomes != nullptr) recorder.outcomes[i] = outcome::refused;
  }

 private:
  TILEHASH_FN bool is_present(const query<slot_type>& q) const {
    if constexpr (slot_type::reserves_keys) {
      if (q.reserved) return sentinels.find(q.bits).found();
    }
    return look_up_by_one<true>(design, q.bits).result.found();
  }
};

// One thread places each evicted item by exact_placement, and counts those without a slot.
template <class Design>
struct place_exactly {
  Design design;
  unplaced_keys<Design> keys;
  u64* left;

  TILEHASH_FN void operator()(u64 /*i*/) const {
    const exact_placement<Design> placement{design, design.marks(), 0,
                                            design.capacity() / Design::bucket_slots};
    for (u64 i = 0; i < keys.n; ++i) {
      if (!keys.evicted(i)) continue;
      if (placement.put(keys.entries[i].key, keys.entries[i].value))
        keys.settle(i);
      else
        fetch_add(left, u64(1));
    }
  }
};
// Before and after place_exactly: clears the marks, and restores the state of a table with no evicted key.
template <class Design>
struct clear_marks {
  Design design;
  TILEHASH_FN void operator()(u64 i) const { design.marks()[i] = 0; }
};
template <class Design>
struct end_marks {
  Design design;
  TILEHASH_FN void operator()(u64 i) const { design.none_evicted(i); }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
