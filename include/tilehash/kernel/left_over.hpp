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
  // All items of a call whose list is incomplete are counted by place_if_unlisted.
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
  bool places, displaces;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    if (places) {
      if (!counts().lists_all())
        place_all(block);
      else if constexpr (updates)
        update_listed(block);
    }
    if (!displaces) return;
    if (places) {
      block.barrier();
      device_fence();
    }
    displace_and_end(block);
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
    place_type only_updates = place;
    only_updates.inserts = false;
    const u64 items = displace.source.size();
    const auto t = block.lane().template tile<Width>();
    for (u64 from = block.index() * Threads; from < items; from += block.count() * Threads) {
      const u64 i = from + block.rank();
      const item<typename Design::slot_type> x =
          i < items ? displace.source(i) : item<typename Design::slot_type>{};
      only_updates.together(t, x, i < items && x.valid);
    }
  }
  template <class Block>
  TILEHASH_FN void displace_and_end(Block block) const {
    const u64 items = displace.source.size();
    const auto scratch = block.template scratch<u64>();
    if (items == 0) {
      if (block.index() != 0) return;
      end.by_block(block, scratch, counts().counted());
    } else {
      for (u64 w = block.index() * words; w * bits_a_word < items; w += block.count() * words) {
        displace.serve(block, w);
        block.barrier();
      }
      if (!end.by_last_block(block, scratch, counts().counted())) return;
    }
    if (block.rank() == 0) counts().clear();
  }
};

// Starts the kernels. The call ends like `end`.
template <class Design, class Space, class Source, class Update>
void start_left_over(Space& space, const Design& design, const Source& source, const Update& update, u64 n,
                     const left_counts<typename Design::word>& counts, call_end end) {
  end.last_phase = 1;  // items that place left pending are not refused if they are displaced
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
      .recorder = {.counters = end.counters, .phase = end.last_phase},
      .given_up = end.given_up,
  };
  const auto start = [&](u64 blocks, bool places, bool displaces) {
    space.for_each_block(blocks, body::block_size, body::scratch_bytes,
                         body{place, displace, end, places, displaces});
  };
  if (n <= tuning::gpu::left_to_one_block) return start(1, true, true);
  const u64 blocks =
      std::min(tuning::of<Space>::displace_blocks(space), divide_up(n, u64(body::words) * bits_a_word));
  start(blocks, true, false);
  start(blocks, false, true);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
