// SPDX-License-Identifier: Apache-2.0
// Combines items of equal keys while an empty table is filled by regions, on a GPU:
//
//   items --partition--> | bin 0 | bin 1 | ...     outside the table: a bin may have more items than its
//                            |       |             region has slots
//   table                | region 0 | region 1 |   a block combines the items of a bin in its scratch
//                                                  (Design::region_combine), and writes the region
//
// Each item passes through memory once, and the table is written once. This pays where keys are many: a sample
// says so. Fewer keys are combined before (algorithm/aggregate.hpp), and then inserted.
//
// A key with so many items that they exceed a bin is left over by it. The items left over are combined by
// themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/algorithm/sketch.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/kernel/block_combine.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design, class Space, class Op>
constexpr bool combines_by_regions() {
  return Space::has_lanes && requires { typename Design::template region_combine<Op>; };
}

template <class Design, class Space>
bool has_regions_to_combine(const Space& space, const Design& design) {
  return design.regions() >= tuning::of<Space>::combined_regions_each * space.large_blocks_at_once();
}
// Can items be combined in the regions of this table, and does it pay?
template <class Op, class Design, class Space>
bool combining_regions_pay(const Space& space, const Design& design) {
  using build = typename Design::template region_combine<Op>;
  const u64 most = std::min<u64>(most_regions<typename Design::slot_type>(space), best_regions<Space>);
  return has_regions_to_combine(space, design) && design.regions() <= most &&
         design.region_slots() <= build::most_slots &&
         build::scratch_bytes(design.region_buckets()) <= space.largest_scratch();
}

// The memory to combine n items in so many regions: counters of items left over, illegal and inserted, the fill of
// each bin, the items left over, and the bins. That is 1.2 times the items' bytes. Throws out_of_memory.
template <class Word, class Space>
struct combining_memory {
  static constexpr u32 counters = 3;
  static_assert(sizeof(Word) == sizeof(u64));

  u32 capacity;  // of a bin. It has all items of a key, so bins vary more than those of different keys
  u64 header, spilled;
  buffer<Word, Space> words, bins;

  combining_memory(Space& space, u64 n, u32 regions)
      : capacity(most_in_a_bin(n + n / tuning::of<Space>::repeated_of_many, regions)),
        header(counters + divide_up(regions, 2)),
        spilled(n / tuning::of<Space>::repeated_of_many + 1024),
        words(space, header + spilled),
        bins(space, static_cast<u64>(capacity) * regions) {}

  u64* counts() const { return reinterpret_cast<u64*>(words.data()); }
  even_bins<Word> in() const { return {bins.data(), capacity, reinterpret_cast<u32*>(counts() + counters)}; }
  Word* left_over() const { return words.data() + header; }
  spill_list<Word> spill() const { return {left_over(), counts(), spilled}; }
};

// Combines n items in the regions of an empty table, whose slots may have any content. The items left over are in
// the memory.
template <class Design, class Space, class Source, class Op>
region_filled<Design, Space> combine_in_regions(
    Space& space, const Design& design, const Source& source, u64 n, const Op& op,
    const combining_memory<typename Design::word, Space>& memory) {
  using build = typename Design::template region_combine<Op>;
  u64* const counts = memory.counts();
  space.fill(memory.words.data(), memory.header, typename Design::word(0));
  send_by_blocks(space, design, source, n, memory.in(), memory.spill(), counts + 1);
  space.for_each_block(design.regions(), build::block_size, build::scratch_bytes(design.region_buckets()),
                       build{{design, memory.in(), 0, false, memory.spill(), counts + 2}, op});
  u64 found[counts_of_a_fill];
  space.copy_to_host(found, counts, sizeof found);
  region_filled<Design, Space> filled;
  filled.design = design;
  filled.left = found[0];
  filled.illegal = found[1];
  filled.inserted = found[2];
  filled.lists_left = filled.left <= memory.spilled;
  filled.spilled = memory.left_over();
  return filled;
}

// How many keys n items have, as a sample says. 0: few keys, or some that repeat often. `few`: all of them do.
template <class Space, class Key>
u64 many_keys_of(Space& space, const Key* keys, u64 n, bool& few) {
  using machine = tuning::of<Space>;
  const u64 size =
      std::clamp(n / machine::many_sampled_one_in, machine::least_many_sampled, machine::most_many_sampled);
  constexpr u64 each = count_different<Key, large_block<Space>>::most;
  const key_sample sample = sample_keys(space, keys, n, static_cast<u32>(divide_up(size, each)), size);
  const u64 repeated = sample.size - sample.different;
  few = sample.different <= sample.size / machine::few_of_sampled;
  if (repeated > sample.size / machine::repeated_of_many) return 0;
  // As if each item had one of so many keys, with equal probability. (The sample may have an item twice.)
  const double sampled = static_cast<double>(sample.size), all = static_cast<double>(n);
  const double one_in = 2 * static_cast<double>(repeated) / (sampled * sampled) - 1 / all;
  if (one_in * all < 1.0 / 16) return n;
  return std::max<u64>(1, static_cast<u64>(-std::expm1(-all * one_in) / one_in));
}

// Items left over get keys in place of hashes.
template <class Design>
struct unhash_left {
  Design design;
  typename Design::word* items;
  TILEHASH_FN void operator()(u64 i) const {
    using entry = routed_item<typename Design::slot_type>;
    items[i] = entry::pack(design.unhash(entry::hash_of(items[i])), entry::value_of(items[i]));
  }
};

// Inserts the items that regions left over, of which many may have one key. Takes the memory of their list.
template <class Design, class Space, class Op, class Update>
insert_report insert_left(engine::insertion<Design, Space>& table, Space& space, const Design& design,
                          typename Design::word* left, u64 n, const Op& op, const Update& update) {
  using list_type = combined<typename Design::slot_type, Space>;
  if (n == 0) return {};
  space.for_each(n, unhash_left<Design>{design, left});
  const typename list_type::source_type source{{}, left};
  list_type list;
  if (n >= least_to_combine(space)) {
    try {
      list = combine<typename Design::slot_type>(space, source, n, op);
    } catch (const out_of_memory&) {
    }
  }
  if (!list.complete) return table.insert_more(space, source, n, update);
  insert_report report = table.insert_more(space, list.source(), list.size, update);
  const insert_report rest = table.insert_more(space, list.rest(), list.left, update);
  report.inserted += rest.inserted;
  report.restarts += rest.restarts;
  report.refused += rest.refused;
  return report;
}

// Combines n items in the regions of an empty table (engine/combined_regions.hpp), which gets capacity for an
// estimate of their keys if it may grow. Returns nothing, and has inserted nothing, if that does not pay or
// memory is missing. The same holds if more items are left over than a list can hold, or if a table that may
// not grow refuses a key. `few`: whether a sample has shown few keys.
template <class Design, class Space, class Op, class Update>
std::optional<insert_report> insert_by_regions(engine::insertion<Design, Space>& table, Space& space,
                                               const array_source<typename Design::slot_type>& items, u64 n,
                                               const Op& op, const Update& update, bool& few) {
  using memory_type = combining_memory<typename Design::word, Space>;
  using machine = tuning::of<Space>;
  const bool grows = table.options().grow;
  std::optional<memory_type> memory;
  buffer<u64, Space> missing;
  bool grew = false;
  try {
    // A table that is far too small for many keys was not made for these items.
    const bool will_grow = grows && table.limit() < n / machine::repeated_of_many;
    if (!has_regions_to_combine(space, will_grow ? table.layout_for(n) : table.view().design))
      return std::nullopt;
    u64 keys = many_keys_of(space, items.keys, n, few);
    if (keys == 0 || (!grows && keys > table.capacity())) return std::nullopt;
    if (grows && keys > table.limit()) {
      if (!has_regions_to_combine(space, table.layout_for(keys + keys / 8))) return std::nullopt;
      const double counted = count_by_sketch(space, items.keys, 0, n, nullptr, drawn_seed());
      const double most = counted * (1 + 3 * sketch_ranks::deviation());
      keys = static_cast<u64>(std::min(most, static_cast<double>(n)));
      grew = keys > table.limit();
    }
    const Design layout = grew ? table.layout_for(keys) : table.view().design;
    if (!combining_regions_pay<Op>(space, layout)) return std::nullopt;
    missing = buffer<u64, Space>(space, 1);
    memory.emplace(space, n, layout.regions());
    if (grew) table.renew_unwiped(space, keys);
  } catch (const out_of_memory&) {
    return std::nullopt;
  }
  auto filled = combine_in_regions(space, table.view().design, items, n, op, *memory);
  const u64 left = std::exchange(filled.left, 0);
  if (filled.lists_left) {
    insert_report report = table.insert_filled(space, items, n, filled);
    memory->bins = {};
    const insert_report rest =
        insert_left(table, space, filled.design, memory->left_over(), left, op, update);
    if (rest.refused == 0 || grows) {
      report.inserted += rest.inserted;
      report.restarts += rest.restarts + u64(grew);
      report.refused = filled.illegal;
      if (rest.refused != 0) {  // each represents all items of its key
        space.fill(missing.data(), 1, u64(0));
        table.look_up(space, items.keys, n, missing_sink{missing.data()});
        report.refused = read_one(space, missing.data());
      }
      report.present = n - report.inserted - report.refused;
      return report;
    }
  }
  table.clear(space);
  return std::nullopt;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
