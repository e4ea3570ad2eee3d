// What became of the items of a bulk call, and the items that stand in a table.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>

namespace tilehash::detail {

template <class Design>
struct slots_source {
  using Slot = typename Design::slot_type;
  Design design;

  TILEHASH_FN item<Slot> operator()(u64 i) const {
    const auto w = design.slots()[i];
    item<Slot> x;
    x.valid = !Slot::is_free(w);
    x.key.bits = design.key_at(i, w);
    x.key.legal = true;
    x.value = Slot::value_of(w);
    return x;
  }
};

// Where a bulk insert reports: the list of those for which there was no room, and counts of what is rarer
// than an insertion.
struct outcome_recorder {
  u64* present;                  // one counter: keys that were there already
  u64* left;                     // one counter: the length of `list`
  u64* illegal;                  // one counter: keys that are NaN
  u64* list;                     // room for all items
  outcome* outcomes = nullptr;   // one each, by the item's number; may be null
  const u64* numbers = nullptr;  // the items' numbers when the source is a list, else null
  bool lists_present = false;    // a displacement lists, and does not count, the keys that it finds

  TILEHASH_FN u64 number(u64 i) const { return numbers != nullptr ? numbers[i] : i; }
  TILEHASH_FN bool lists(outcome o) const {
    return o == outcome::refused || (lists_present && o == outcome::present);
  }

  // What became of a lane's item, the i-th. A collective of the warp.
  template <class Lane, class Slot>
  TILEHASH_FN void record(Lane lane, u64 i, const item<Slot>& mine, outcome became) const {
    if (mine.valid && outcomes != nullptr) outcomes[number(i)] = became;
    const bool listed = mine.valid && mine.key.legal && lists(became);
    const u64 position = lane.append(left, listed);
    if (listed) list[position] = number(i);
    lane.tally(present, mine.valid && became == outcome::present && !listed);
    if constexpr (std::floating_point<typename Slot::key_type>)
      lane.tally(illegal, mine.valid && !mine.key.legal);
  }
  // What became of a thread's item, in a chunk whose counts come at its end.
  template <class Slot>
  TILEHASH_FN void record(u64 i, const item<Slot>& x, outcome became, u64& present_here,
                          u64& illegal_here) const {
    if (outcomes != nullptr) outcomes[number(i)] = became;
    illegal_here += !x.key.legal;
    if (x.key.legal && lists(became))
      list[detail::fetch_add(left, u64(1))] = number(i);
    else
      present_here += became == outcome::present;
  }
  TILEHASH_FN void add(u64 present_here, u64 illegal_here) const {
    if (present_here != 0) detail::fetch_add(present, present_here);
    if (illegal_here != 0) detail::fetch_add(illegal, illegal_here);
  }
};

}  // namespace tilehash::detail
