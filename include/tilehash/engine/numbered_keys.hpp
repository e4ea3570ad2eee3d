// SPDX-License-Identifier: Apache-2.0
// Ids for the keys of an empty table of records, without another table that finds equal keys
// (engine/records.hpp):
//
//   insert    the table of ids takes all items, with their positions in the call as values: one of each key
//   number    each slot that is taken gets the next id in place of the position; the record is written
//   look up   all items find their ids
//
// If all items have different keys, the positions are the ids, and the last two steps are one pass over the items.
//
// The table of ids must have the keys themselves, and values in its slots.
#pragma once

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/assigned_regions.hpp>
#include <tilehash/engine/record_memory.hpp>
#include <tilehash/engine/records_view.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Do the slots of a table that is filled by regions hold values as large as a position?
template <class Design>
constexpr bool numbers_in_slots() {
  using slot_type = typename Design::slot_type;
  if constexpr (partition_built<Design> && !values_apart<Design> && !slot_type::is_set &&
                requires { typename Design::template region_build<>; })
    return !slot_type::reserves_keys && sizeof(typename slot_type::value_bits) >= sizeof(u32);
  else
    return false;
}
// Can the keys of this indexed design be numbered so? (On a CPU that is not measured.)
template <class Design, class Space>
constexpr bool numbers_slots() {
  using ids = typename Design::ids;
  if constexpr (Space::has_lanes && Design::is_exact)
    return numbers_in_slots<ids>();
  else
    return false;
}

// The id and the outcome of each item of a call. Either may be null.
struct item_results {
  u32* ids;
  outcome* became;
};

// Gives each slot that is taken an id, and writes its record. Its item's outcome is `inserted`.
template <class Design, class Element>
struct slot_numbering {
  using slot_type = typename Design::ids::slot_type;
  using word = typename slot_type::word;

  typename Design::ids ids;
  typename Design::record* records;
  const Element* values;
  outcome* became;  // may be null

  TILEHASH_FN bool selects(u64 i) const { return holds_item(ids, i, ids.slots()[i]); }
  TILEHASH_FN void use(u64 i, u64 number) const {
    word* const slot = ids.slots() + i;
    const word w = *slot;
    const auto position = slot_type::value_of(w);
    auto& record = records[number];
    record.key = slot_type::decode(ids.key_at(i, w));
    if constexpr (!Design::is_set) record.value = values[position];
    if (became != nullptr) became[position] = outcome::inserted;
    *slot = slot_type::with_value(w, static_cast<typename slot_type::value_bits>(number));
  }
};

// Writes the record of an item whose position is the id of its key, and its results.
template <class Design, class Element>
struct position_numbering {
  using key_type = typename Design::key_type;
  using slot_type = typename Design::ids::slot_type;

  const key_type* keys;
  const Element* values;
  typename Design::record* records;
  item_results of;

  TILEHASH_FN void operator()(u64 i) const {
    auto& record = records[i];
    record.key = slot_type::decode(slot_type::encode(keys[i]));  // as the slots have it
    if constexpr (!Design::is_set) record.value = values[i];
    if (of.ids != nullptr) of.ids[i] = static_cast<u32>(i);
    if (of.became != nullptr) of.became[i] = outcome::inserted;
  }
};

// Writes an item's id, and whether it was refused.
struct numbered_sink {
  item_results of;
  u32 none;
  template <class IdHit>
  TILEHASH_FN void operator()(u64 i, const IdHit& met) const {
    const bool found = met.found();
    if (of.ids != nullptr) of.ids[i] = found ? u32(met.value()) : none;
    if (of.became != nullptr && !found) of.became[i] = outcome::refused;
  }
};

// Marks the first `n` records as taken.
struct first_taken {
  u32* taken;
  u64 n;
  TILEHASH_FN void operator()(u64 word) const {
    const u64 left = n - word * 32;
    taken[word] = left >= 32 ? ~u32(0) : (u32(1) << left) - 1;
  }
};

// Numbers the `inserted` keys of a table of ids, and writes their records and the results of all n items.
// `count` is a number in the memory of the space. Does not synchronize with the host.
template <class Design, class Space, class Ids, class Record, class Element>
void number_slots(Space& space, const Design& design, const Ids& ids,
                  const record_memory<Record, Space>& memory, const typename Design::key_type* keys,
                  const Element* values, u64 n, const insert_report& stored, item_results of, u64* count) {
  const u64 inserted = stored.inserted;
  Record* const records = memory.records.data();
  space.for_each(divide_up(inserted, 32), first_taken{memory.taken.data(), inserted});
  if (inserted == n) return space.for_each(n, position_numbering<Design, Element>{keys, values, records, of});
  if (of.became != nullptr) space.fill(of.became, n, outcome::present);
  space.fill(count, 1, u64(0));
  const auto slots = ids.view().design;
  compact(space, slots.capacity(), slot_numbering<Design, Element>{slots, records, values, of.became}, count);
  if (of.ids != nullptr || (of.became != nullptr && stored.refused != 0))
    ids.look_up(space, fingerprints<Design>{design, keys}, n, numbered_sink{of, Design::none});
}

// The items of a call that come first. If a sample has few keys, all of them are in the table after a short
// first window. The other items find them there, so no second table is needed to find equal keys. The window
// has some copies of each of the sample's keys, and fills all multiprocessors. A sample costs 1/20 of a call
// of different keys. So there is one only if a table gets far more items than it has capacity, and lacks many
// of their keys.
template <class Design, class Table, class Space, class Key>
u64 first_window(Space& space, const Table& table, const Key* keys, u64 n) {
  if constexpr (Space::has_lanes) {
    const u64 window = space.large_blocks_at_once() * tuning::gpu::first_window_items;
    constexpr u64 least =
        numbers_slots<Design, Space>() ? tuning::gpu::slots_windows : tuning::gpu::leaders_windows;
    if (n < least * window || n / tuning::gpu::first_copies < table.capacity()) return n;
    if (has_nearly_all(space, table, keys, n)) return n;
    return keys_repeat(space, keys, n, window / tuning::gpu::first_copies) ? window : n;
  } else {
    return n;
  }
}

// Do n items fill this empty table by regions, as it is or once it has grown to the number of keys? Then a pass
// over all slots costs little.
template <class Table, class Space>
bool fills_slots_at_once(const Space& space, const Table& table, u64 n) {
  if (table.size() != 0 || n < least_to_partition<Space> || n > ~u32(0)) return false;
  return (table.options().grow && n > table.limit()) || regions_pay(space, table.view().design, n, 0);
}

// Are n items numbered so, in this empty table of ids? All its slots are read and written.
template <class Design, class Ids, class Space>
bool numbering_pays(const Space& space, const Ids& ids, u64 n) {
  if constexpr (numbers_slots<Design, Space>())
    return fills_slots_at_once(space, ids, n);
  else
    return false;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
