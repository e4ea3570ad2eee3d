// SPDX-License-Identifier: Apache-2.0
// Updates on a GPU by an op that cannot combine given values, if some keys are frequent. Items of these keys
// are applied one after the other (kernel/frequent_keys.hpp), and other items in any order.
#pragma once

#include <optional>
#include <vector>

#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/frequent_keys.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>
#include <tilehash/table_view.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Space>
constexpr bool applies_in_turn() {
  using slot_type = typename Design::slot_type;
  if constexpr (Space::has_lanes && view_changeable<Design> && !slot_type::is_set)
    return sizeof(typename slot_type::key_bits) <= 8 && slot_type::value_bytes <= 8;
  else
    return false;
}

// The items of a call, split.
template <class Slot, class Space>
struct split_items {
  buffer<typename Slot::key_type, Space> keys;       // frequent ones, and those of the other items
  buffer<typename Slot::mapped_type, Space> values;  // of the frequent keys' items, and of the other items
  buffer<typename Slot::mapped_type, Space> firsts;
  buffer<frequent_run<Slot>, Space> runs;
  u64 first_other = 0, others = 0;

  array_source<Slot> first_items() const { return {keys.data(), firsts.data()}; }
  array_source<Slot> other_items() const { return {keys.data() + first_other, values.data() + first_other}; }
};

// Returns nothing if no key is frequent, or without memory. Synchronizes with the host.
template <class Slot, class Space>
std::optional<split_items<Slot, Space>> split_by_frequent_keys(Space& space, const array_source<Slot>& items,
                                                               u64 n) {
  using find = find_frequent<Slot, large_block<Space>>;
  using split = split_frequent<Slot, large_block<Space>>;
  using met = frequent_met<Slot>;
  if (find::scratch_bytes > space.largest_scratch()) return std::nullopt;
  try {
    const buffer<typename met::held_key, Space> frequent(space, met::all);
    const buffer<u64, Space> ends(space, split::targets + 1);
    u64* const any = ends.data() + split::targets;
    space.for_each_block(1, find::block_size, find::scratch_bytes, find{items.keys, n, frequent.data(), any});
    if (read_one(space, any) == 0) return std::nullopt;
    split_items<Slot, Space> result;
    result.keys = buffer<typename Slot::key_type, Space>(space, n);
    result.values = buffer<typename Slot::mapped_type, Space>(space, n);
    split work{items, n, frequent.data(), ends.data(), nullptr, nullptr};
    const auto run = [&] {
      space.for_each_block(space.large_blocks_at_once(), split::block_size, split::scratch_bytes(), work);
    };
    space.fill(ends.data(), split::targets, u64(0));
    run();
    auto counts = ends.to_host();
    const auto held = frequent.to_host();
    std::vector<frequent_run<Slot>> runs;
    u64 at = 0;
    for (u32 s = 0; s < split::targets; ++s) {
      const u64 from = at;
      at += counts[s];
      if (s < met::all && counts[s] != 0)
        runs.push_back(
            {Slot::decode(s + 1 == met::all ? 0 : static_cast<typename Slot::key_bits>(held[s])), from, at});
      if (s == split::others) result.first_other = from, result.others = at - from;
      counts[s] = from;
    }
    space.copy_from_host(ends.data(), counts.data(), split::targets * sizeof(u64));
    work.values = result.values.data(), work.keys = result.keys.data();
    run();
    result.firsts = buffer<typename Slot::mapped_type, Space>(space, runs.size());
    result.runs = buffer<frequent_run<Slot>, Space>(space, runs);
    space.for_each(runs.size(), first_of_runs<Slot>{result.runs.data(), result.values.data(),
                                                    result.keys.data(), result.firsts.data()});
    return result;
  } catch (const out_of_memory&) {
    return std::nullopt;
  }
}

// Inserts n items, if some keys are so frequent that their items would wait for each other; otherwise inserts
// nothing and returns nothing.
template <class Design, class Space, class Op>
std::optional<insert_report> insert_in_turn(engine::insertion<Design, Space>& table, Space& space,
                                            const array_source<typename Design::slot_type>& items, u64 n,
                                            const Op& op) {
  if (n < tuning::of<Space>::least_in_turn) return std::nullopt;
  const auto parts = split_by_frequent_keys(space, items, n);
  if (!parts) return std::nullopt;
  const apply<Op> update{op};
  const u64 frequent = parts->runs.size();
  buffer<u64, Space> missing;
  try {
    missing = buffer<u64, Space>(space, 1);
    space.fill(missing.data(), 1, u64(0));
  } catch (const out_of_memory&) {
    return std::nullopt;
  }
  insert_report report = table.insert(space, parts->first_items(), frequent, nullptr, update);
  using body = apply_runs<Design, Op>;
  space.for_each_block(
      frequent, body::block_size, 0,
      body{table.view().design, op, parts->runs.data(), parts->values.data(), missing.data()});
  const insert_report rest = table.insert_more(space, parts->other_items(), parts->others, update);
  report.inserted += rest.inserted;
  report.restarts += rest.restarts;
  report.refused += rest.refused + read_one(space, missing.data());
  report.present = n - report.inserted - report.refused;
  return report;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
