// SPDX-License-Identifier: Apache-2.0
// Inserts the items that regions left over (engine/region_fill.hpp), and ends the call, for a host that does
// not wait to learn how many there are.
//
//   left                  place                         displace
//   none                  -                             the first block ends the call
//   all are in the list   updates the present ones      for the listed items
//   more                  all items of the call         for those that are pending
//
// In the last case the list is incomplete. Most items of the call are present then; their pending bits take
// the memory of the list. Keys may move while others are displaced, so these are two kernels, unless there
// is one block.
//
// A given-up item may represent others: regions drop all items but one of a key, and another copy may
// have found a slot since. So if there is any, all items of the call are looked up afterwards, and those with
// absent keys are refused. A third kernel does that where a table may be full after the call; else the last
// block, since then items are hardly ever given up, and another kernel takes time in each call.
#pragma once

#include <algorithm>
#include <concepts>

#include <tilehash/algorithm/bins.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/displace.hpp>
#include <tilehash/kernel/pending_lookup.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The counts of regions and the list of items that they leave over, in the memory of the call.
template <class Word>
struct left_counts {
  u64* at;  // the numbers of remaining, illegal and inserted items
  Word* list;
  u64 capacity;  // of the list

  TILEHASH_FN u64 left() const { return at[0]; }
  TILEHASH_FN bool lists_all() const { return left() <= capacity; }
  TILEHASH_FN u32* bits() const { return reinterpret_cast<u32*>(list); }
  // All items of a call whose list is incomplete are counted by place_all.
  TILEHASH_FN counts_of_regions counted() const { return {lists_all() ? at[1] : 0, at[2]}; }
  TILEHASH_FN void clear() const { at[0] = at[1] = at[2] = 0; }
};

// A source of the items left over, which also says which items of a word are pending.
template <class Design, class Source>
struct late_source {
  using word = typename Design::word;
  Design design;
  Source all;
  u64 n;
  left_counts<word> counts;

  TILEHASH_FN u64 size() const { return counts.lists_all() ? counts.left() : n; }
  TILEHASH_FN auto operator()(u64 i) const {
    return counts.lists_all() ? routed_source<Design>{design, counts.list}(i) : all(i);
  }
  TILEHASH_FN u32 pending(u64 w) const {
    const u64 from = w * bits_a_word, end = size();
    if (from >= end) return 0;
    if (!counts.lists_all()) return counts.bits()[w];
    return end - from >= bits_a_word ? ~0U : (1U << (end - from)) - 1;
  }
};

template <displacing Design, class Source, class Update, u32 Width, u32 Threads>
struct insert_left_over {
  using source_type = late_source<Design, Source>;
  using place_type = upsert_items<Design, Source, Update, Width>;
  using displace_type = displace_items<Design, source_type, Width, Threads>;
  static constexpr u32 block_size = Threads, resident_blocks = displace_type::resident_blocks;
  static constexpr u32 words = 2;  // of pending bits, for a block at a time: an item for each tile
  static constexpr u64 scratch_bytes = displace_type::scratch_bytes(words);
  static constexpr bool updates = !std::same_as<Update, keep_stored>;

  place_type place;
  displace_type displace;
  call_end end;
  bool places, displaces, ends;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    if (places) {
      if (!counts().lists_all())
        place_all(block);
      else if constexpr (updates)
        update_listed(block);
    }
    if (displaces) {
      if (places) {
        block.barrier();
        device_fence();
      }
      displace_and_end(block);
    } else if (ends) {
      count_and_end(block);
    }
  }

 private:
  TILEHASH_FN const auto& counts() const { return displace.source.counts; }
  template <class Block>
  TILEHASH_FN void place_all(Block block) const {
    for (u64 from = block.index() * Threads; from < place.end; from += block.count() * Threads)
      place(numbered_lane<decltype(block.lane())>{block.lane(), from + block.rank()});
  }
  // Updates the listed keys that are present. A displacement inserts the others, and changes no value.
  template <class Block>
  TILEHASH_FN void update_listed(Block block) const {
    for_each_found(block, displace.source, displace.source.size(), block.index(), block.count(),
                   [](bool /*absent*/) {});
  }
  template <class Block>
  TILEHASH_FN void displace_and_end(Block block) const {
    const u64 items = displace.source.size();
    const auto scratch = block.template scratch<u64>();
    if (items == 0) {
      if (!ends || block.index() != 0) return;
    } else {
      for (u64 w = block.index() * words; w * bits_a_word < items; w += block.count() * words) {
        displace.serve(block, w);
        block.barrier();
      }
      if (!ends || !end.is_last_block(block, scratch)) return;
      if (load_relaxed(end.given_up) != 0) count_refused(block, 0, 1);
      block.barrier();
    }
    end_call(block);
  }
  // The kernel after the displacement.
  template <class Block>
  TILEHASH_FN void count_and_end(Block block) const {
    if (load_relaxed(end.given_up) == 0) {
      if (block.index() == 0) end_call(block);
    } else {
      count_refused(block, block.index(), block.count());
      if (end.is_last_block(block, block.template scratch<u64>())) end_call(block);
    }
  }
  template <class Block>
  TILEHASH_FN void end_call(Block block) const {
    end.by_block(block, block.template scratch<u64>(), counts().counted());
    if (block.rank() == 0) counts().clear();
  }
  // The part of the i-th of n blocks.
  template <class Block>
  TILEHASH_FN void count_refused(Block block, u64 i, u64 n) const {
    u64 absent = 0;
    for_each_found(block, place.source, place.end, i, n, [&](bool is_absent) { absent += is_absent; });
    if (absent != 0) end.counters.add(counter::left, block.rank(), absent, end.last_phase);
  }
  // As the i-th of n blocks: looks up `items` items of a source, updates the present ones, and calls
  // use(absent) for each.
  template <class Block, class Items, class Use>
  TILEHASH_FN void for_each_found(Block block, const Items& all, u64 items, u64 i, u64 n,
                                  const Use& use) const {
    place_type only_finds = place;
    only_finds.inserts = false;
    const auto t = block.lane().template tile<Width>();
    for (u64 from = i * Threads; from < items; from += n * Threads) {
      const u64 at = from + block.rank();
      const item<typename Design::slot_type> x = at < items ? all(at) : item<typename Design::slot_type>{};
      const bool seeks = at < items && x.valid && x.key.legal;
      use(only_finds.together(t, x, seeks) == outcome::refused && seeks);
    }
  }
};

// Starts the kernels. The call ends like `end`.
template <class Design, class Space, class Source, class Update>
void start_left_over(Space& space, const Design& design, const Source& source, const Update& update, u64 n,
                     const left_counts<typename Design::word>& counts, call_end end) {
  end.last_phase = 2;  // items that place or displace left pending are not refused if they are present then
  using body =
      insert_left_over<Design, Source, Update, Design::preferred_width, tuning::of<Space>::displace_block>;
  typename body::place_type place{.design = design,
                                  .source = source,
                                  .end = n,
                                  .inserts = true,
                                  .update = update,
                                  .recorder = {end.counters, counts.bits()}};
  const typename body::displace_type displace{
      .design = design,
      .source = {design, source, n, counts},
      .end = divide_up(n, bits_a_word) * bits_a_word,
      .words = body::words,
      .recorder = {.counters = end.counters, .phase = 1},
      .given_up = end.given_up,
  };
  const auto start = [&](u64 blocks, bool places, bool displaces, bool ends) {
    space.for_each_block(blocks, body::block_size, body::scratch_bytes,
                         body{place, displace, end, places, displaces, ends});
  };
  if (n <= tuning::gpu::left_to_one_block) return start(1, true, true, true);
  const u64 blocks =
      std::min(tuning::of<Space>::displace_blocks(space), divide_up(n, u64(body::words) * bits_a_word));
  const bool may_refuse =
      static_cast<double>(n) > tuning::gpu::never_full * static_cast<double>(design.capacity());
  start(blocks, true, false, false);
  start(blocks, false, true, !may_refuse);
  if (may_refuse) start(blocks, false, false, true);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
