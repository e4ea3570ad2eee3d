// SPDX-License-Identifier: Apache-2.0
// Items of equal keys in one call, into a table that is changed in place (engine/insertion.hpp):
//
//   insert_combined   combines their values before the insert, where that pays for so many items
//                     (algorithm/aggregate.hpp)
//   insert_repeated   the same for many more items than slots, of which any one of equal keys is inserted
//   insert_few_keys   the same, where a sketch has counted few keys in a table that grows
//   fill_first,       insert the first item of each key (algorithm/contested.hpp, algorithm/first.hpp)
//   combine_first
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/algorithm/contested.hpp>
#include <tilehash/algorithm/first.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/assigned_regions.hpp>
#include <tilehash/engine/combined_regions.hpp>
#include <tilehash/engine/frequent_keys.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/engine/thread_combined.hpp>
#include <tilehash/kernel/block_combine.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/prefetch.hpp>
#include <tilehash/space/tuning.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Combines what a list leaves over with the list itself, and what two windows of a call have of a key. (A part
// that several of few keys select can be full.)
template <class Slot, class Space, class Op>
combined<Slot, Space> combine_again(Space& space, const combined<Slot, Space>& first, const Op& op,
                                    u64 seed) {
  const u64 n = first.size + first.left;
  const buffer<typename Slot::word, Space> all(space, n);
  space.copy(all.data(), first.list.data(), first.size * sizeof(typename Slot::word));
  space.copy(all.data() + first.size, first.left_over.data(), first.left * sizeof(typename Slot::word));
  auto again = combine<Slot>(space, typename combined<Slot, Space>::source_type{{}, all.data()}, n, op, seed);
  again.illegal = first.illegal;
  return again;
}

// ... until each key is on the list once, and none is left over, if that pays: where many different keys are left, it
// takes longer than to insert them one by one.
template <class Slot, class Space, class Op>
void combine_until_unique(Space& space, combined<Slot, Space>& list, u64 n, const Op& op) {
  const u64 most = n / tuning::of<Space>::combined_again_share;
  for (u32 round = 1; round <= 3; ++round) {
    const bool each_once = list.left == 0 && list.unique;
    if (!list.complete || each_once || list.size + list.left > most) return;
    list = combine_again(space, list, op, round);
  }
}

// Combines items of few keys: in blocks, which read each item once, and then what the blocks have. Returns nothing if
// there are more keys. Synchronizes with the host.
template <class Slot, class Space, class Op>
std::optional<combined<Slot, Space>> combine_few(Space& space, const array_source<Slot>& items, u64 n,
                                                 const Op& op) {
  const buffer<u64, Space> counts(space, call_counters::words);
  space.fill(counts.data(), counts.size(), u64(0));
  const auto memory = start_combining(space, items, n, op, {counts.data()}, true);
  if (!memory) return std::nullopt;
  const auto words = memory->words.to_host();  // the length, and how keys repeat
  if (static_cast<u32>(words[1]) == 0 || words[0] > n / tuning::of<Space>::combined_again_share)
    return std::nullopt;
  auto list = combine<Slot>(space, typename combined<Slot, Space>::source_type{{}, memory->items.data()},
                            words[0], op);
  for (const u64 illegal : counts.to_host()) list.illegal += illegal;
  return list;
}
// Does that pay for n items, if the table has their keys?
template <class Slot, class Op, class Space>
bool few_pay(u64 n, u64 capacity) {
  using work = combine_in_blocks<Slot, Op, large_block<Space>>;
  return n >= tuning::of<Space>::met_waited && n / tuning::of<Space>::crowd_copies >= capacity &&
         capacity <= few_keys<work>;
}

// Are n items many more than the slots of a table, and enough to be combined?
template <class Space>
constexpr bool is_crowd(u64 n, u64 capacity) {
  return n >= least_to_partition<Space> && n / tuning::of<Space>::crowd_copies >= capacity;
}
// Would a table hold so many items that copies of a key wait for each other? Those do that need displacement.
constexpr bool is_rather_full(u64 items, u64 capacity) {
  return static_cast<double>(items) >= tuning::gpu::waiting_load * static_cast<double>(capacity);
}

// Do keys repeat, as a sample says? Not known without memory.
template <class Space, class Key>
bool sample_repeats_keys(Space& space, const Key* keys, u64 n) {
  try {
    return keys_repeat(space, keys, n);
  } catch (const out_of_memory&) {
    return false;
  }
}
// Does each key have many items, as a sample says: more than `copies`? And does the table not have nearly all of the keys?
template <class Table, class Space, class Key>
bool repeats_and_is_new(Space& space, const Table& table, const Key* keys, u64 n, u64 copies) {
  try {
    return !has_nearly_all(space, table, keys, n) &&
           sample_keys(space, keys, n).more_uneven_than(static_cast<double>(copies));
  } catch (const out_of_memory&) {
    return false;
  }
}

// Combines the values of n items by `op`, and inserts each key once with `update`. A refused item represents
// all items of its key, so these are counted afterwards. Returns nothing, and has inserted nothing, if memory
// is missing. The same holds if the table may not grow and might get a key twice: it could refuse the key
// once and insert it once. An empty table with many slots hardly ever refuses one; if it does, it is cleared.
template <class Design, class Space, class Op, class Update>
std::optional<insert_report> insert_list(engine::insertion<Design, Space>& table, Space& space,
                                         const array_source<typename Design::slot_type>& items, u64 n,
                                         const Op& op, const Update& update, bool few_known = false) {
  using slot_type = typename Design::slot_type;
  combined<slot_type, Space> list;
  buffer<u64, Space> missing;
  try {
    missing = buffer<u64, Space>(space, 1);
    const auto marked_op = marked<Space, typename slot_type::mapped_type>(op);
    std::optional<combined<slot_type, Space>> few;
    if (few_pay<slot_type, Op, Space>(n, table.capacity())) few = combine_few(space, items, n, marked_op);
    if constexpr (combines_by_regions<Design, Space, Op>()) {
      if (!few && !few_known && table.size() == 0) {
        bool are_few = false;
        if (const auto report = insert_by_regions(table, space, items, n, op, update, are_few)) return report;
        if (are_few && n >= tuning::of<Space>::met_sampled) few = combine_few(space, items, n, marked_op);
      }
    }
    list = few ? std::move(*few) : combine<slot_type>(space, items, n, marked_op);
    if (!table.options().grow) combine_until_unique(space, list, n, marked_op);
  } catch (const out_of_memory&) {
    list.complete = false;
  }
  const bool may_part = !table.options().grow && !(list.left == 0 && list.unique);
  const bool can_undo =
      table.size() == 0 && static_cast<double>(list.size + list.left) <=
                               tuning::gpu::never_full * static_cast<double>(table.capacity());
  if (!list.complete || (may_part && !can_undo)) return std::nullopt;
  insert_report report = !list.unique ? table.insert(space, list.source(), list.size, nullptr, update)
                         : table.size() == 0
                             ? table.insert_different(space, list.source(), list.size, keep_stored{})
                             : table.insert_different(space, list.source(), list.size, update);
  const insert_report rest = table.insert_more(space, list.rest(), list.left, update);
  report.inserted += rest.inserted;
  report.restarts += rest.restarts;
  if (may_part && report.refused + rest.refused != 0) {
    table.clear(space);
    return std::nullopt;
  }
  if (report.refused + rest.refused == 0) {
    report.refused = list.illegal;
  } else {
    space.fill(missing.data(), 1, u64(0));
    table.look_up(space, items.keys, n, missing_sink{missing.data()});
    report.refused = read_one(space, missing.data());
  }
  report.present = n - report.inserted - report.refused;
  return report;
}

template <class Design, class Space, class Op>
insert_report insert_combined(engine::insertion<Design, Space>& table, Space& space,
                              const array_source<typename Design::slot_type>& items, u64 n, const Op& op) {
  const apply<Op> update{op};
  const auto one_by_one = [&] { return table.insert(space, items, n, nullptr, update); };
  if constexpr (!Space::has_lanes) {
    if (combining_pays(space, items.keys, n)) {
      using slot_type = typename Design::slot_type;
      const key_value_arrays<typename slot_type::key_type, typename slot_type::mapped_type> source{
          items.keys, items.values};
      if (const auto report = insert_thread_combined(table, space, source, n, update)) return *report;
    }
  } else if constexpr (!combines_given<apply<Op>>) {
    if constexpr (applies_in_turn<Design, Space>()) {
      if (const auto report = insert_in_turn(table, space, items, n, op)) return *report;
    }
  } else if constexpr (can_combine<typename Design::slot_type>()) {
    // If keys do not repeat, it costs a quarter of the insert's time.
    if (n < least_to_combine(space)) return one_by_one();
    if (n < table.capacity() / 2) {
      const bool waits = displacing<Design> && is_rather_full(table.size() + n, table.capacity());
      if (!waits || !sample_repeats_keys(space, items.keys, n)) return one_by_one();
    }
    if constexpr (std::same_as<Op, op::assign>) {
      if (table.size() != 0 && assigns_uncombined(space, table.view().design, items.keys, n))
        return one_by_one();
    }
    if (const auto report = insert_list(table, space, items, n, op, update)) return *report;
  }
  return one_by_one();
}

// Can items of equal keys be combined first on a GPU?
template <class Design, class Space, class Update>
constexpr bool combines_repeated() {
  using slot_type = typename Design::slot_type;
  return Space::has_lanes && can_combine<slot_type>() && !slot_type::is_set && combines_given<Update>;
}
// Inserts items of few keys: each key once. Returns nothing, and has inserted nothing, without memory.
template <class Design, class Space, class Update>
std::optional<insert_report> insert_few_keys(engine::insertion<Design, Space>& table, Space& space,
                                             const array_source<typename Design::slot_type>& items, u64 n,
                                             const Update& update) {
  return insert_list(table, space, items, n, op_of_list(update), update, true);
}
// Inserts more items on a GPU than a table has slots for. If it may not grow, most are copies of a key, which
// wait for each other's locks if their key needs displacement, or are refused. If it may, they are inserted window
// by window, so samples decide: keys repeat, and they are not nearly all present. (The keys of a call for an empty
// table are counted anyway: engine/item_windows.hpp.) Returns nothing where combining does not pay.
template <class Design, class Space>
  requires(Space::has_lanes)
std::optional<insert_report> insert_repeated(engine::insertion<Design, Space>& table, Space& space,
                                             const array_source<typename Design::slot_type>& items, u64 n) {
  if constexpr (combines_repeated<Design, Space, keep_stored>()) {
    const u64 slots = table.capacity();
    const bool crowd = is_crowd<Space>(n, slots);
    if (!table.options().grow) {
      if (!crowd || n < least_to_combine(space)) return std::nullopt;
      return insert_list(table, space, items, n, op::assign{}, keep_stored{});
    }
    const bool waits = n >= least_to_combine(space) && is_rather_full(table.size(), slots);
    if (table.size() == 0 || table.size() + n <= table.limit() || !(crowd || waits)) return std::nullopt;
    const u64 copies = crowd ? tuning::of<Space>::crowd_copies : tuning::of<Space>::waiting_copies;
    if (repeats_and_is_new(space, table, items.keys, n, copies))
      return insert_few_keys(table, space, items, n, keep_stored{});
  }
  return std::nullopt;
}

// Fills an empty table by regions, which need not be wiped: each region's build keeps the first of its bin's
// equal keys. If the build leaves an item over, all items of its key are found again
// (algorithm/contested.hpp), and the first sets the value. Returns nothing where filling does not pay, or
// failed and the table was cleared.
template <class Design, class Space>
std::optional<insert_report> fill_first(engine::insertion<Design, Space>& table, Space& space,
                                        const array_source<typename Design::slot_type>& items, u64 n) {
  using slot_type = typename Design::slot_type;
  if constexpr (builds_firsts<Design>()) {
    // If a sample has more copies of a key than this, a CPU takes less time by combine_first().
    constexpr double few_copies = tuning::cpu::few_first_copies;
    const Design layout = table.view().design;
    if (n > table.limit() || n >= ~u32(0) || layout.region_slots() > most_ordered_slots ||
        !regions_pay(space, layout, n, 0) || most_counted<slot_type, true>(space) == 0)
      return std::nullopt;
    if constexpr (!Space::has_lanes) {
      if (space.threads() == 1 && table.bytes() <= tuning::cpu::first_in_order) return std::nullopt;
      if (sample_keys(space, items.keys, n, 2).more_uneven_than(few_copies)) return std::nullopt;
    }
    try {
      const auto filled = fill_regions<true>(space, layout, items, n, false);
      if (filled.lists_left && filled.left <= n / 8) {
        const insert_report report = table.insert_filled(space, items, n, filled);
        if (filled.left == 0) return report;
        const contested_keys<Space> left(space, n);
        space.for_each(filled.left, add_left<Design>{filled.spilled, left.filter()});
        const auto contested = find_contested(space, layout, items.keys, n, left.filter(), filled.left);
        const auto put = [&](const auto& source, u64 keys) {
          [[maybe_unused]] const insert_report all_present =
              table.insert(space, source, keys, nullptr, apply<op::assign>{});
        };
        const with_numbers<slot_type> its{items, contested.numbers.data()};
        if (report.refused == filled.illegal && find_first(space, its, contested.size, drawn_seed(), put))
          return report;
      }
    } catch (const out_of_memory&) {
    }
    table.clear(space);
  }
  return std::nullopt;
}

// One after the other: few threads partition items no faster than one thread inserts them.
template <class Design, class Space>
insert_report insert_in_order(engine::insertion<Design, Space>& table, Space& space,
                              const array_source<typename Design::slot_type>& items, u64 n) {
  insert_report total;
  constexpr u64 ahead = tuning::cpu::inserted_ahead;
  for (u64 i = 0; i < n; ++i) {
    if (i + ahead < n) {
      const query<typename Design::slot_type> next(items.keys[i + ahead]);
      prefetch(table.view().design.address(table.view().design.locate(next.bits)));
    }
    const outcome became = table.insert_one(space, items.keys[i], items.values + i);
    total.inserted += became == outcome::inserted;
    total.refused += became == outcome::refused;
  }
  total.present = n - total.inserted - total.refused;
  return total;
}

// Inserts into any table, window by window: the table keeps the items of earlier windows. Each key of a window
// is inserted once. Windows get smaller where memory is short or their keys are too uneven, down to one item,
// which is the first of its key.
template <class Design, class Space>
insert_report combine_first(engine::insertion<Design, Space>& table, Space& space,
                            const array_source<typename Design::slot_type>& items, u64 n) {
  using slot_type = typename Design::slot_type;
  if constexpr (!Space::has_lanes && view_changeable<Design>) {
    if (n < least_to_partition<Space> || space.threads() <= tuning::cpu::few_threads)
      return insert_in_order(table, space, items, n);
  }
  insert_report total;
  constexpr u64 most = most_for_first<Space>;
  const u64 seed = drawn_seed();
  const buffer<u64, Space> missing(space, 1);  // may throw, so before anything changes
  const auto count_missing = [&](const auto* keys, u64 keys_n) {
    space.fill(missing.data(), 1, u64(0));
    table.look_up(space, keys, keys_n, missing_sink{missing.data()});
    return read_one(space, missing.data());
  };
  for (u64 done = 0, window = most; done < n;) {
    const u64 now = std::min(n - done, window);
    const array_source<slot_type> its{items.keys + done, items.values + done};
    u64 refused = 0;
    const auto put = [&](const auto& source, u64 keys) {
      const insert_report report = table.insert(space, source, keys, nullptr, keep_stored{});
      total.inserted += report.inserted;
      total.restarts += report.restarts;
      refused += report.refused;
    };
    try {
      if (now == 1) {
        put(its, 1);
      } else if (!find_first(space, with_numbers<slot_type>{its}, now, seed, put)) {
        window = (now + 1) / 2;  // the items inserted so far were firsts
        continue;
      }
    } catch (const out_of_memory&) {
      if (now > least_to_partition<Space>) {
        window = now / 2;
        continue;
      }
      if (total.inserted == 0) throw;
      total.refused += count_missing(its.keys, n - done);
      break;
    }
    // A refused item represents all items of its key.
    if (refused != 0 || has_nan<typename Design::key_type>) total.refused += count_missing(its.keys, now);
    done += now;
    window = std::min(most, 2 * window);
  }
  total.present = n - total.inserted - total.refused;
  return total;
}

// Fills a table that no caller has seen, which may not be wiped yet, with the first of equal keys.
template <class Design, class Space>
insert_report build_first(engine::insertion<Design, Space>& fresh, Space& space,
                          const array_source<typename Design::slot_type>& items, u64 n) {
  if (const auto report = fill_first(fresh, space, items, n)) return *report;
  fresh.clear(space);
  return combine_first(fresh, space, items, n);
}

// Inserts the first of equal keys.
template <class Design, class Space>
insert_report insert_first(engine::insertion<Design, Space>& table, Space& space,
                           const array_source<typename Design::slot_type>& items, u64 n) {
  if constexpr (!Space::has_lanes) {
    if (combining_pays(space, items.keys, n)) {
      if (const auto report = insert_thread_first(table, space, items, n)) return *report;
    }
  }
  if (table.size() == 0) {
    if (const auto report = fill_first(table, space, items, n)) return *report;
  }
  return combine_first(table, space, items, n);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
