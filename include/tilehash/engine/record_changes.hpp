// SPDX-License-Identifier: Apache-2.0
// Changes values of records: a word by an atomic operation, another value under its record's lock. On a GPU, all threads
// of a call with few keys would wait for few records. So a thread tries to change its record once, and then lists its item:
//
//   try      a thread an item: changes the value, or lists the item
//   group    the listed items by record; if there are fewer items than records, by record modulo their number
//   combine  for an associative op, in rounds: a thread reads a part, some neighbours in the order of groups. If all
//            have one record, their combined value is an item of the next round. Otherwise the thread changes records
//   in turn  for other ops: a thread a group, one item after the other
//
//   listed   | a b a a c a a b a |          parts of 3:  | a a a | a a a | b b c |     b and c change under locks
//   grouped  | a a a a a a b b c |          next round:  |   a   |   a   |   -   |
//
// In a round at most two threads change a record, those of its first and its last part. No order of items is promised,
// so op::assign needs no second try: the first thread that takes the lock writes its value, and all others end.
// Ops that change a word in place need no try. A warp combines its items of a record, and one lane changes the word.
//
// Memory: 4 bytes an item. For each listed item 20 more, and for an associative op 1/31 of a value and of 4 bytes. Where
// these are not free, threads wait for locks.
#pragma once

#include <concepts>
#include <utility>

#include <tilehash/algorithm/rank.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/engine/records_view.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Changes the value of each item, or lists the item.
template <class Changer>
struct change_or_list {
  Changer changer;
  u64 n;
  u32* list;
  u64* count;
  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    const bool listed = i < n && changer.became[i] == outcome::present &&
                        !changer.change_if_free(changer.ids[i], changer.values[i]);
    const u64 at = lane.append(count, listed);
    if (listed) list[at] = static_cast<u32>(i);
  }
};
// Changes values in place: the lowest lane of a warp's items of one record combines their values. A warp looks for
// equal records some times, or `tried` times if it finds none.
template <class Changer>
struct change_in_place {
  using value = typename Changer::value;
  static constexpr u32 most_records = tuning::gpu::warp_records, tried = tuning::gpu::warp_tries;
  static constexpr u32 none = ~0U;

  Changer changer;
  u64 n;
  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<bits_a_word>();
    const u64 i = lane.index();
    const bool changes = i < n && changer.became[i] == outcome::present;
    const u32 id = changes ? changer.ids[i] : none;
    const u32 all = t.ballot(changes);
    u32 waiting = all, mine = 0;
    for (u32 found = 0; waiting != 0 && found < most_records; ++found) {
      if (found == tried && count_ones(waiting) + tried == count_ones(all)) break;
      const u32 its = t.broadcast(id, lowest(waiting)), equal = t.ballot(id == its);
      if (id == its) mine = equal;
      waiting &= ~equal;
    }
    if (!changes) return;
    if (mine == 0) return changer.change(id, changer.values[i]);
    if (lowest(mine) != t.rank()) return;
    value sum = changer.values[i];
    for (u32 others = mine & (mine - 1); others != 0; others &= others - 1)
      sum = changer.op(sum, changer.values[i - t.rank() + lowest(others)]);
    changer.change(id, sum);
  }
};

template <class Changer>
struct change_listed {
  Changer changer;
  const u32* list;
  TILEHASH_FN void operator()(u64 j) const { changer(list[j]); }
};

// Writes one of the values that are given to each record. Locks stay taken, so that the others are not written.
template <class Changer>
struct assign_once {
  Changer changer;
  TILEHASH_FN void operator()(u64 i) const {
    if (changer.became[i] != outcome::present) return;
    const u32 id = changer.ids[i];
    if (changer.take_if_free(id)) changer.records[id].value = changer.values[i];
  }
};
struct release_locks {
  const u32* ids;
  const outcome* became;
  u32* locks;
  TILEHASH_FN void operator()(u64 i) const {
    if (became[i] == outcome::present) store_relaxed(locks + ids[i] / 32, 0U);
  }
};

struct group_of_listed {
  const u32 *ids, *list;
  u32 groups;
  u32* of;
  TILEHASH_FN void operator()(u64 j) const { of[j] = ids[list[j]] % groups; }
};
// Groups have their places in any order.
struct place_change_groups {
  const u32 *of, *ranks, *counts;
  u32 *starts, *placed;
  TILEHASH_FN void operator()(u64 j) const {
    if (ranks[j] == 0) starts[of[j]] = fetch_add(placed, counts[of[j]]);
  }
};

// Listed items by group. The constructor throws out_of_memory before any work.
template <class Space>
class grouped_items {
 public:
  grouped_items() = default;
  // `records`: ids are below.
  grouped_items(Space& space, const u32* ids, const u32* list, u64 n, u64 records)
      : of_(space, n), ranks_(space, n), items_(space, n) {
    const u32 groups = static_cast<u32>(n < records ? n : records);
    counts_ = buffer<u32, Space>(space, groups);
    starts_ = buffer<u32, Space>(space, groups);
    placed_ = buffer<u32, Space>(space, 1);
    space.fill(counts_.data(), groups, 0U);
    space.fill(placed_.data(), 1, 0U);
    space.for_each(n, group_of_listed{ids, list, groups, of_.data()});
    rank(space, of_.data(), n, counts_.data(), ranks_.data());
    space.for_each(
        n, place_change_groups{of_.data(), ranks_.data(), counts_.data(), starts_.data(), placed_.data()});
    scatter(space, scatter_to_groups<u32, u32>{of_.data(), ~0U, ranks_.data(), starts_.data(), list,
                                               items_.data(), n});
  }
  const u32* items() const { return items_.data(); }
  // The items of a group, at the first item of it that was listed; none at the others.
  struct bounds {
    const u32 *of, *ranks, *starts, *counts;
    TILEHASH_FN u32 first(u64 j) const { return starts[of[j]]; }
    TILEHASH_FN u32 end(u64 j) const { return ranks[j] == 0 ? first(j) + counts[of[j]] : first(j); }
  };
  bounds groups() const { return {of_.data(), ranks_.data(), starts_.data(), counts_.data()}; }

 private:
  buffer<u32, Space> of_, ranks_, items_, counts_, starts_, placed_;
};

// Items of a round: the record of each, or none, and its value.
template <class Value>
struct items_of_call {
  const u32 *list, *ids;
  const Value* values;
  TILEHASH_FN u32 record(u64 j) const { return ids[list[j]]; }
  TILEHASH_FN const Value& value(u64 j) const { return values[list[j]]; }
};
template <class Value>
struct items_of_round {
  const u32* records;
  const Value* values;
  TILEHASH_FN u32 record(u64 j) const { return records[j]; }
  TILEHASH_FN const Value& value(u64 j) const { return values[j]; }
};

// Combines the items of part p, or changes their records.
template <class Changer, class Items>
struct combine_part {
  using value = typename Changer::value;
  static constexpr u64 part_items = tuning::gpu::record_part_items;
  static constexpr u32 none = ~0U;

  Changer changer;
  Items items;
  u64 n;
  u32* next_records;  // null in the last round, which has one part
  value* next_values;

  TILEHASH_FN void operator()(u64 p) const {
    const u64 last = (p + 1) * part_items < n ? (p + 1) * part_items : n;
    u64 j = p * part_items;
    while (j < last && items.record(j) == none) ++j;
    bool goes_on = next_records != nullptr && j < last;
    if (next_records != nullptr) next_records[p] = none;
    if (j == last) return;
    u32 record = items.record(j);
    value all = items.value(j);
    for (++j; j < last; ++j) {
      const u32 its = items.record(j);
      if (its == none) continue;
      if (its == record) {
        all = changer.op(all, items.value(j));
        continue;
      }
      changer.change(record, all);
      goes_on = false;
      record = its;
      all = items.value(j);
    }
    if (!goes_on) return changer.change(record, all);
    next_records[p] = record;
    next_values[p] = all;
  }
};

template <class Value, class Space>
struct round_memory {
  buffer<u32, Space> records;
  buffer<Value, Space> values;
  round_memory() = default;
  round_memory(Space& space, u64 n) : records(space, n), values(space, n) {}
};
// So many items has the round after one of n.
inline u64 items_of_next_round(u64 n) {
  constexpr u64 part_items = tuning::gpu::record_part_items;
  return n <= part_items ? 0 : divide_up(n, part_items);
}

// Rounds of an associative op. Its memory is taken before anything changes.
template <class Changer, class Space>
class combining_rounds {
  using value = typename Changer::value;

 public:
  combining_rounds() = default;
  combining_rounds(Space& space, u64 n)
      : from_(space, items_of_next_round(n)), to_(space, items_of_next_round(items_of_next_round(n))) {}
  void run(Space& space, const Changer& changer, const u32* list, u64 n) {
    round(space, changer, items_of_call<value>{list, changer.ids, changer.values}, n, from_);
    for (n = items_of_next_round(n); n != 0; n = items_of_next_round(n)) {
      round(space, changer, items_of_round<value>{from_.records.data(), from_.values.data()}, n, to_);
      std::swap(from_, to_);
    }
  }

 private:
  template <class Items>
  static void round(Space& space, const Changer& changer, const Items& items, u64 n,
                    round_memory<value, Space>& next) {
    const bool is_last = items_of_next_round(n) == 0;
    space.for_each(divide_up(n, tuning::gpu::record_part_items),
                   combine_part<Changer, Items>{changer, items, n, is_last ? nullptr : next.records.data(),
                                                next.values.data()});
  }
  round_memory<value, Space> from_, to_;
};

// Changes the records of a group, one item after the other. Other threads change other records. Four items are read
// before the first of them is applied.
template <class Changer, class Groups>
struct change_in_turn {
  using value = typename Changer::value;
  Changer changer;
  Groups groups;
  const u32* list;
  TILEHASH_FN void operator()(u64 j) const {
    const u32 end = groups.end(j);
    for (u32 k = groups.first(j); k < end; k += 4) {
      u32 item[4];
      TILEHASH_UNROLL
      for (u32 q = 0; q < 4; ++q) item[q] = list[k + q < end ? k + q : k];
      const u32 ids[4] = {changer.ids[item[0]], changer.ids[item[1]], changer.ids[item[2]],
                          changer.ids[item[3]]};
      const value given[4] = {changer.values[item[0]], changer.values[item[1]], changer.values[item[2]],
                              changer.values[item[3]]};
      TILEHASH_UNROLL
      for (u32 q = 0; q < 4; ++q) {
        if (k + q >= end) continue;
        value& stored = changer.records[ids[q]].value;
        stored = changer.op(stored, given[q]);
      }
    }
  }
};

// Changes the records of the first n items of the list. Returns whether there was memory for it.
template <class Changer, class Space>
bool change_by_groups(Space& space, const Changer& changer, const u32* list, u64 n, u64 records) {
  using op_type = decltype(Changer::op);
  constexpr bool combines = requires { op_type::is_associative; };
  grouped_items<Space> items;
  combining_rounds<Changer, Space> rounds;
  try {
    if constexpr (combines) rounds = combining_rounds<Changer, Space>(space, n);
    items = grouped_items<Space>(space, changer.ids, list, n, records);
  } catch (const out_of_memory&) {
    return false;
  }
  if constexpr (combines)
    rounds.run(space, changer, items.items(), n);
  else
    space.for_each(n, change_in_turn<Changer, typename grouped_items<Space>::bounds>{changer, items.groups(),
                                                                                     items.items()});
  space.synchronize();  // before the memory is released
  return true;
}

// Changes the values of the present items. `records`: their ids are below. Throws what the op throws.
template <class Changer, class Space>
void change_records(Space& space, u64 n, u64 records, const Changer& changer) {
  using op_type = decltype(Changer::op);
  constexpr bool assigns = std::same_as<op_type, op::assign>;
  if constexpr (!Space::has_lanes || (Changer::is_word && assigns)) {
    space.for_each(n, changer);
  } else if constexpr (Changer::in_place && requires { op_type::is_associative; }) {
    space.for_each_lane(n, change_in_place<Changer>{changer, n});
  } else if constexpr (assigns) {
    space.for_each(n, assign_once<Changer>{changer});
    const u64 words = divide_up(records, 32);
    if (n < words)
      space.for_each(n, release_locks{changer.ids, changer.became, changer.locks});
    else
      space.fill(changer.locks, words, 0U);
  } else {
    buffer<u32, Space> list;
    buffer<u64, Space> count;
    try {
      list = buffer<u32, Space>(space, n);
      count = buffer<u64, Space>(space, 1);
    } catch (const out_of_memory&) {
      return space.for_each(n, changer);
    }
    space.fill(count.data(), 1, u64(0));
    space.for_each_lane(n, change_or_list<Changer>{changer, n, list.data(), count.data()});
    const u64 listed = read_one(space, count.data());
    if (listed == 0 || change_by_groups(space, changer, list.data(), listed, records)) return;
    space.for_each(listed, change_listed<Changer>{changer, list.data()});
    space.synchronize();
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
