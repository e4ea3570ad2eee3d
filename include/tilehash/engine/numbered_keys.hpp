// SPDX-License-Identifier: Apache-2.0
// Ids for the keys of an empty table of records, without another table that finds equal keys
// (engine/records.hpp):
//
//   insert    the table of ids takes all items, with their positions in the call as values: one of each key
//   number    each slot that is taken gets the next id in place of the position; the record is written
//   look up   all items find their ids
//
// The table of ids must have the keys themselves, and values in its slots.
#pragma once

#include <tilehash/algorithm/compact.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/record_memory.hpp>
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

// Of each item of a call: its id and its outcome. Either may be null.
struct item_results {
  u32* ids;
  outcome* became;
};

// Gives each slot that is taken an id, and writes its record. Tells its item that it was inserted.
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

// Numbers the `n` keys of a table of ids, and writes their records. `became` may be null; `count` is a number
// in the memory of the space. Does not synchronize with the host.
template <class Design, class Space, class Record, class Element>
void number_slots(Space& space, const typename Design::ids& ids, const record_memory<Record, Space>& memory,
                  const Element* values, u64 n, outcome* became, u64* count) {
  space.fill(count, 1, u64(0));
  compact(space, ids.capacity(), slot_numbering<Design, Element>{ids, memory.records.data(), values, became},
          count);
  space.for_each(divide_up(n, 32), first_taken{memory.taken.data(), n});
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
