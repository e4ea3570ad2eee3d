// SPDX-License-Identifier: Apache-2.0
// Changes values of records that are not words. Each changes under its record's lock. If many items of a call
// have one key, their threads would wait for one lock. So a thread tries it a few times, and then lists its item.
//
//   try      a thread an item: changes the value, or lists the item
//   sort     the listed items by record
//   combine  for an associative op, in rounds: a thread combines the items of a part. It applies those of a record
//            that has no items in other parts. The first and the last record of the part may have some there: what
//            is combined of these are two items of the next round. Round r has 2 / part_items of the items of r - 1
//   in turn  for other ops: a thread a record, one item after the other
//
// No lock is needed after the sort: one thread changes a record. Memory: 4 bytes an item; for each listed one 12
// more, and for an associative op 1/14 of its value. Where there is not as much, threads wait for locks.
#pragma once

#include <utility>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/engine/records_view.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Changes item i's value, or lists i.
template <class Changer>
struct change_or_list {
  static constexpr u32 attempts = tuning::gpu::record_lock_attempts;
  Changer changer;
  u32* list;
  u64* count;
  TILEHASH_FN void operator()(u64 i) const {
    if (changer.became[i] != outcome::present) return;
    for (u32 attempt = 0; attempt < attempts; ++attempt) {
      if (changer.change_if_free(i)) return;
    }
    list[fetch_add(count, u64(1))] = static_cast<u32>(i);
  }
};
template <class Changer>
struct change_listed {
  Changer changer;
  const u32* list;
  TILEHASH_FN void operator()(u64 j) const { changer(list[j]); }
};
struct list_records {
  const u32 *ids, *list;
  u32* of;
  TILEHASH_FN void operator()(u64 j) const { of[j] = ids[list[j]]; }
};

// Items of a round: the record of each, and its value, if it has one.
template <class Value>
struct given_in_round {
  const u32* list;  // sorted by record
  const Value* values;
  TILEHASH_FN bool has_value(u64 /*j*/) const { return true; }
  TILEHASH_FN const Value& value(u64 j) const { return values[list[j]]; }
};
template <class Value>
struct combined_in_round {
  const u8* full;
  const Value* values;
  TILEHASH_FN bool has_value(u64 j) const { return full[j] != 0; }
  TILEHASH_FN const Value& value(u64 j) const { return values[j]; }
};

// Part p of a round. The two items that it writes are next to each other; an item without a value has the record of
// the other, so that the items of a record stay neighbours.
template <class Design, class Op, class Items>
struct combine_round_part {
  using value = typename Design::mapped_type;
  static constexpr u32 none = ~0U;
  static constexpr u64 part_items = tuning::gpu::record_part_items;

  typename Design::record* records;
  Op op;
  u64 n;
  const u32* of;  // the record of each item, or none
  Items items;
  u32* next_of;
  u8* next_full;
  value* next;

  TILEHASH_FN void operator()(u64 p) const {
    const u64 first = p * part_items, last = first + part_items < n ? first + part_items : n;
    u32 before = none, after = none;
    for (u64 j = first; j < last;) {
      const u32 record = of[j];
      const bool continues = j == first && j != 0 && of[j - 1] == record;
      while (j < last && of[j] == record && !items.has_value(j)) ++j;
      if (j == last || of[j] != record) continue;
      value sum = items.value(j);
      for (++j; j < last && of[j] == record; ++j) {
        if (items.has_value(j)) sum = op(sum, items.value(j));
      }
      if (continues)
        put(2 * p, before = record, sum);
      else if (j == last && j != n && of[j] == record)
        put(2 * p + 1, after = record, sum);
      else
        records[record].value = op(records[record].value, sum);
    }
    if (next_of == nullptr) return;
    if (before == none) put_none(2 * p, after);
    if (after == none) put_none(2 * p + 1, before);
  }

 private:
  TILEHASH_FN void put(u64 to, u32 record, const value& sum) const {
    next_of[to] = record;
    next_full[to] = 1;
    next[to] = sum;
  }
  TILEHASH_FN void put_none(u64 to, u32 record) const {
    next_of[to] = record;
    next_full[to] = 0;
  }
};

// Item j, if it is the first of its record, and the record's other items.
template <class Design, class Op>
struct change_in_turn {
  using value = typename Design::mapped_type;
  typename Design::record* records;
  Op op;
  u64 n;
  const u32 *of, *list;
  const value* values;
  TILEHASH_FN void operator()(u64 j) const {
    const u32 record = of[j];
    if (j != 0 && of[j - 1] == record) return;
    value& stored = records[record].value;
    for (; j < n && of[j] == record; ++j) stored = op(stored, values[list[j]]);
  }
};

// The items of a round, and those that it writes for the next one.
template <class Value, class Space>
struct round_memory {
  buffer<u32, Space> of;
  buffer<u8, Space> full;
  buffer<Value, Space> values;
  round_memory() = default;
  round_memory(Space& space, u64 n) : of(space, n), full(space, n), values(space, n) {}
};

// So many items has the round after one of `items`.
inline u64 items_of_next_round(u64 items) {
  constexpr u64 part_items = tuning::gpu::record_part_items;
  return items <= part_items ? 0 : 2 * divide_up(items, part_items);
}

// The memory for the listed items, which are sorted. Nothing throws out_of_memory once it is taken.
template <class Changer, class Space>
class listed_changes {
  using design = typename Changer::design_type;
  using value = typename design::mapped_type;
  using op_type = decltype(Changer::op);
  static constexpr bool combines = requires { op_type::is_associative; };
  static constexpr u64 part_items = tuning::gpu::record_part_items;

 public:
  listed_changes() = default;
  listed_changes(Space& space, const Changer& changer, u32* list, u64 n, u64 records)
      : n_(n), list_(list), of_(space, n) {
    if constexpr (combines) {
      from_ = round_memory<value, Space>(space, items_of_next_round(n));
      to_ = round_memory<value, Space>(space, items_of_next_round(from_.of.size()));
    }
    space.for_each(n, list_records{changer.ids, list, of_.data()});
    space.sort_pairs(of_.data(), list, n, bit_width(records));
  }
  bool is_ready() const { return n_ != 0; }
  void apply(Space& space, const Changer& changer) {
    if constexpr (combines)
      combine(space, changer);
    else
      space.for_each(n_, change_in_turn<design, op_type>{changer.records, changer.op, n_, of_.data(), list_,
                                                         changer.values});
    space.synchronize();  // before the memory is released
  }

 private:
  void combine(Space& space, const Changer& changer) {
    const given_in_round<value> given{list_, changer.values};
    round<given_in_round<value>>(space, changer, n_, of_.data(), given, from_);
    for (u64 items = items_of_next_round(n_); items != 0; items = items_of_next_round(items)) {
      const combined_in_round<value> combined{from_.full.data(), from_.values.data()};
      round<combined_in_round<value>>(space, changer, items, from_.of.data(), combined, to_);
      std::swap(from_, to_);
    }
  }
  template <class Items>
  static void round(Space& space, const Changer& changer, u64 n, const u32* of, const Items& items,
                    const round_memory<value, Space>& next) {
    u32* const next_of = items_of_next_round(n) == 0 ? nullptr : next.of.data();
    space.for_each(divide_up(n, part_items),
                   combine_round_part<design, op_type, Items>{changer.records, changer.op, n, of, items,
                                                              next_of, next.full.data(), next.values.data()});
  }

  u64 n_ = 0;
  u32* list_ = nullptr;
  buffer<u32, Space> of_;
  round_memory<value, Space> from_, to_;
};

// Changes the values of the present items. `records`: their ids are below. Throws what the op throws.
template <class Changer, class Space>
void change_records(Space& space, u64 n, u64 records, const Changer& changer) {
  if constexpr (!Space::has_lanes || Changer::is_word) {
    space.for_each(n, changer);
  } else {
    buffer<u32, Space> list;
    buffer<u64, Space> count;
    try {
      list = buffer<u32, Space>(space, n);
      count = buffer<u64, Space>(space, 1);
    } catch (const out_of_memory&) {
      list = buffer<u32, Space>();
    }
    if (list.size() == 0) return space.for_each(n, changer);
    space.fill(count.data(), 1, u64(0));
    space.for_each(n, change_or_list<Changer>{changer, list.data(), count.data()});
    const u64 listed = read_one(space, count.data());
    if (listed == 0) return;
    listed_changes<Changer, Space> changes;
    try {
      changes = listed_changes<Changer, Space>(space, changer, list.data(), listed, records);
    } catch (const out_of_memory&) {
      changes = listed_changes<Changer, Space>();
    }
    if (changes.is_ready()) return changes.apply(space, changer);
    space.for_each(listed, change_listed<Changer>{changer, list.data()});
    space.synchronize();
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
