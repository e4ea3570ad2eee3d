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
// A given-up item may represent others: regions drop all items but one of a key, and another copy may have
// found a slot since. So if there is any, all items of the call are looked up afterwards, and those with
// absent keys are refused. If a table may be full after the call, a third kernel does that. Otherwise the
// last block does: items are hardly ever given up then, and another kernel takes time in each call.
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
  u64 capacity;                // of the list
  u32* bin_numbers = nullptr;  // the items of each bin, if they are in the memory of the table
  u32 bins = 0;

  TILEHASH_FN u32* bits() const { return reinterpret_cast<u32*>(list); }
  // The numbers, which no kernel after the regions' changes. All loads are issued before the first is used.
  struct numbers {
    u64 left, illegal, inserted;
  };
  TILEHASH_FN numbers read() const { return {load_relaxed(at), load_relaxed(at + 1), load_relaxed(at + 2)}; }
  template <class Block>
  TILEHASH_FN void clear(Block block) const {
    for (u32 i = block.rank(); i < bins; i += block.size()) bin_numbers[i] = 0;
    if (block.rank() == 0) at[0] = at[1] = at[2] = 0;
  }
};

// A source of the items left over, which also says which items of a word are pending.
template <class Design, class Source>
struct late_source {
  using word = typename Design::word;
  Design design;
  Source all;
  u64 n;
  left_counts<word> counts;
  u64 left = 0;  // set by the kernel

  TILEHASH_FN bool lists_all() const { return left <= counts.capacity; }
  TILEHASH_FN u64 size() const { return lists_all() ? left : n; }
  TILEHASH_FN auto operator()(u64 i) const {
    return lists_all() ? routed_source<Design>{design, counts.list}(i) : all(i);
  }
  TILEHASH_FN u32 pending(u64 w) const {
    const u64 from = w * bits_a_word, end = size();
    if (from >= end) return 0;
    if (!lists_all()) return counts.bits()[w];
    return end - from >= bits_a_word ? ~0U : (1U << (end - from)) - 1;
  }
};

template <displacing Design, class Source, class Update, u32 Width, u32 Threads>
struct insert_left_over {
  using word = typename Design::word;
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
  bool places, displaces, ends;  // false: another kernel does

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto counted = displace.source.counts.read();
    displace_type work = displace;
    work.source.left = counted.left;
    if (places && counted.left != 0) {
      if (!work.source.lists_all())
        place_all(block);
      else if constexpr (updates)
        update_listed(block, work);
      if (displaces) {
        block.barrier();
        device_fence();
      }
    }
    if (displaces)
      displace_and_end(block, work, counted);
    else if (ends)
      count_and_end(block, counted);
  }
  template <class Block>
  TILEHASH_FN void end_call(Block block, const typename left_counts<word>::numbers& counted) const {
    const auto& counts = displace.source.counts;
    // All items of a call whose list is incomplete were counted by place_all.
    const counts_of_regions more{counted.left <= counts.capacity ? counted.illegal : 0, counted.inserted};
    if (counted.left == 0)  // no item was counted by itself
      end.by_regions(block, more);
    else
      end.by_block(block, block.template scratch<u64>(), more);
    block.barrier();
    counts.clear(block);
    if (end.host == nullptr || counted.left != 0)
      return;  // without packed counts the host waits for the kernel
    block.barrier();
    if (block.rank() == 0) end.write_to_host(more.inserted, more.illegal);
  }
  // The end of a call that has inserted all items and counted nothing. All threads of its only block call this.
  template <class Block>
  TILEHASH_FN void end_inserted(Block block, u64 inserted) const {
    if (end.host == nullptr) return end.by_regions(block, {0, inserted});
    block.barrier();
    if (block.rank() == 0) end.write_to_host(inserted, 0);
  }

 private:
  template <class Block>
  TILEHASH_FN void place_all(Block block) const {
    for (u64 from = block.index() * Threads; from < place.end; from += block.count() * Threads)
      place(numbered_lane<decltype(block.lane())>{block.lane(), from + block.rank()});
  }
  // Updates the listed keys that are present. A displacement inserts the others, and changes no value.
  template <class Block>
  TILEHASH_FN void update_listed(Block block, const displace_type& work) const {
    for_each_found(block, work.source, work.source.size(), block.index(), block.count(),
                   [](bool /*absent*/) {});
  }
  template <class Block>
  TILEHASH_FN void displace_and_end(Block block, const displace_type& work,
                                    const typename left_counts<word>::numbers& counted) const {
    if (counted.left != 0) {
      for (u64 w = block.index() * words; w * bits_a_word < work.source.size(); w += block.count() * words) {
        work.serve(block, w);
        block.barrier();
      }
      if (!ends || !end.is_last_block(block, block.template scratch<u64>())) return;
      if (load_relaxed(end.given_up) != 0) count_refused(block, 0, 1);
      block.barrier();
    } else if (!ends || block.index() != 0) {
      return;
    }
    end_call(block, counted);
  }
  // The kernel after the displacement.
  template <class Block>
  TILEHASH_FN void count_and_end(Block block, const typename left_counts<word>::numbers& counted) const {
    if (load_relaxed(end.given_up) == 0) {
      if (block.index() == 0) end_call(block, counted);
    } else {
      count_refused(block, block.index(), block.count());
      if (end.is_last_block(block, block.template scratch<u64>())) end_call(block, counted);
    }
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

// The phase of the items that are refused. Those that place or displace left pending may be present.
inline constexpr u32 left_over_phase = 2;

// The body of the kernel that inserts all items left over, and ends the call like `end`.
template <u32 Threads, class Design, class Source, class Update>
auto left_over_of(const Design& design, const Source& source, const Update& update, u64 n,
                  const left_counts<typename Design::word>& counts, call_end end) {
  end.last_phase = left_over_phase;
  using body = insert_left_over<Design, Source, Update, Design::preferred_width, Threads>;
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
  return body{place, displace, end, true, true, true};
}
// Builds a region, and does the same in one block.
template <class Build, class Rest>
struct build_and_insert_left_over {
  static constexpr u32 block_size = Rest::block_size;
  static constexpr u64 scratch_bytes(u64 buckets) {
    return std::max(Build::scratch_bytes(buckets), Rest::scratch_bytes);
  }
  Build build;
  Rest rest;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    build(block);
    block.barrier();
    const auto counted = rest.displace.source.counts.read();
    if (counted.left == 0) return rest.end_call(block, counted);
    rest(block);
  }
};

// The same for few items, if their keys differ.
template <class Build, class Rest>
struct build_few_and_insert_left_over {
  static constexpr u32 block_size = Rest::block_size;
  static constexpr u64 scratch_bytes(u64 buckets, u64 cells) {
    return std::max(build_and_insert_left_over<Build, Rest>::scratch_bytes(buckets),
                    Build::few_scratch_bytes(buckets, cells));
  }
  Build build;
  Rest rest;
  u32 cells;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    u32 placed = 0;
    if (build.build_few(block, cells, placed)) return rest.end_inserted(block, placed);
    build_and_insert_left_over<Build, Rest>{build, rest}(block);
  }
};

// Starts the kernels. The call ends like `end`.
template <class Design, class Space, class Source, class Update>
void start_left_over(Space& space, const Design& design, const Source& source, const Update& update, u64 n,
                     const left_counts<typename Design::word>& counts, const call_end& end) {
  auto work = left_over_of<tuning::of<Space>::displace_block>(design, source, update, n, counts, end);
  using body = decltype(work);
  const auto start = [&](u64 blocks, bool places, bool displaces, bool ends) {
    work.places = places, work.displaces = displaces, work.ends = ends;
    space.for_each_block(blocks, body::block_size, body::scratch_bytes, work);
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
