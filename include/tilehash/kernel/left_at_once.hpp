// SPDX-License-Identifier: Apache-2.0
// Inserts the items that regions leave over, of which only the GPU knows the number, at once
// (kernel/insert_at_once.hpp), and ends the call. Usually there are none.
//
//   insert_left_at_once   a kernel for them
//   build_and_end         one kernel that also builds the regions
//
// In the second kernel the block that is done last ends the call. If items are left over, the others help it to insert them
// (algorithm/shared_work.hpp): a block that knows of any waits for the last one, but not for long. So no block needs
// another one, even if they run one after the other.
//
//   block 0   build . . . . wait | insert
//   block 1   build . . . . . . .| insert, the last block: it opens the work
//   block 2   build . wait (long enough)
#pragma once

#include <algorithm>

#include <tilehash/algorithm/shared_work.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/insert_at_once.hpp>
#include <tilehash/kernel/left_over.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The part of both kernels that inserts the items left over.
template <class Design, class Source>
struct left_at_once {
  using numbers = typename left_counts<typename Design::word>::numbers;
  late_source<Design, Source> items;
  call_end end;

  // Inserts some of `left` items: one for each thread of a block, from number `first` on.
  template <class Block>
  TILEHASH_FN void insert(Block block, const late_source<Design, Source>& from, u64 n, u64 first) const {
    const auto warp = block.template tile<bits_a_word>();
    const u64 i = first + block.rank();
    const bool mine = i < n;
    const auto x = mine ? from(i) : item<typename Design::slot_type>{};
    const outcome became = insert_and_displace(items.design, warp, x, mine);
    const u32 inserted = count_ones(warp.ballot(mine && became == outcome::inserted)),
              illegal = count_ones(warp.ballot(mine && x.valid && !x.key.legal)),
              refused = count_ones(warp.ballot(mine && x.valid && x.key.legal && became == outcome::refused));
    if (warp.rank() != 0) return;
    const u64 spot = i / bits_a_word;
    if (inserted != 0) end.counters.add(counter::inserted, spot, inserted);
    if (illegal != 0) end.counters.add(counter::illegal, spot, illegal);
    if (refused != 0) fetch_add(end.given_up, u64(refused));
  }
  TILEHASH_FN late_source<Design, Source> source_of(u64 left) const {
    late_source<Design, Source> from = items;
    from.left = left;
    return from;
  }
  // The end of a call without items left over.
  template <class Block>
  TILEHASH_FN void conclude_without(Block block, const numbers& counted) const {
    end.by_regions(block, {counted.illegal, counted.inserted});
    block.barrier();
    items.counts.clear(block);
  }
  // The end of another one, after all inserts.
  template <class Block>
  TILEHASH_FN void conclude(Block block, const numbers& counted) const {
    const bool lists_all = counted.left <= items.counts.capacity;
    const u64 given_up = load_relaxed(end.given_up);
    block.barrier();
    if (given_up != 0) {
      const u64 absent = count_absent(items.design, items.all, items.n, block, block.template scratch<u64>());
      if (block.rank() == 0 && absent != 0) end.counters.add(counter::left, 0, absent, end.last_phase);
      block.barrier();
    }
    end.by_block(block, block.template scratch<u64>(), {lists_all ? counted.illegal : 0, counted.inserted});
    block.barrier();
    items.counts.clear(block);
  }
};

template <class Design, class Source>
struct insert_left_at_once {
  static constexpr u32 block_size = tuning::gpu::at_once_block;
  static constexpr u64 scratch_bytes = call_counters::kinds * sizeof(u64);
  left_at_once<Design, Source> left;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto counted = left.items.counts.read();
    if (counted.left == 0) {
      if (block.index() == 0) left.conclude_without(block, counted);
      return;
    }
    const auto from = left.source_of(counted.left);
    const u64 n = from.size();
    for (u64 first = block.index() * block_size; first < n; first += block.count() * block_size)
      left.insert(block, from, n, first);
    if (left.end.is_last_block(block, block.template scratch<u64>())) left.conclude(block, counted);
  }
};

// A block's build of a region: from few items whose keys differ, or any.
template <class Build>
struct build_few_or_any {
  static constexpr u32 block_size = Build::block_size;
  static constexpr u64 scratch_bytes(u64 buckets, u64 cells) {
    u64 most = Build::scratch_bytes(buckets);
    if constexpr (Build::builds_few) {
      if (cells != 0) most = std::max(most, Build::few_scratch_bytes(buckets, cells));
    }
    return most;
  }
  Build build;
  u32 cells;  // of the set of keys; 0: there are too many items

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    if constexpr (Build::builds_few) {
      u32 placed = 0;
      if (cells != 0 && build.build_few(block, cells, placed)) {
        if (block.rank() == 0) fetch_add(build.inserted, u64(placed));
        return;
      }
    }
    build(block);
  }
};

template <class Build, class Design, class Source>
struct build_and_end {
  static constexpr u32 block_size = Build::block_size;
  static constexpr u64 scratch_bytes(u64 buckets, u64 cells) {
    return std::max<u64>(build_few_or_any<Build>::scratch_bytes(buckets, cells),
                         call_counters::kinds * sizeof(u64));
  }
  using numbers = typename left_at_once<Design, Source>::numbers;
  build_few_or_any<Build> build;
  left_at_once<Design, Source> left;
  shared_work work;
  u64 first_to_wait;  // blocks before this one do not help, as others wait for their multiprocessors

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    build(block);
    const auto scratch = block.template scratch<u64>();
    block.barrier();
    if (block.rank() == 0) finish(block, scratch);
    block.barrier();
    const bool is_last = scratch[0] == last, ends_later = scratch[0] == late;
    const numbers counted{scratch[1], scratch[2], scratch[3]};
    block.barrier();
    if (ends_later) return left.conclude(block, left.items.counts.read());
    if (counted.left != 0) return insert_and_leave(block, scratch, is_last);
    if (is_last) left.conclude_without(block, counted);
  }

 private:
  enum place : u64 { another, last, late };  // late: the last to go, after the last block has done all work
  // Sets scratch[0] to this block's place, and the next words to the numbers of items: those of all blocks if it is the
  // last one. Another block may know of items that are left over, and then it helps.
  template <class Block, class Words>
  TILEHASH_FN void finish(Block block, Words scratch) const {
    u64 some_left = block.index() < first_to_wait ? u64(0) : load_relaxed(left.items.counts.at);
    const bool is_last = work.finish();
    if (is_last) {
      const numbers all = left.items.counts.read();
      some_left = all.left;
      scratch[2] = all.illegal, scratch[3] = all.inserted;
      if (some_left != 0)
        work.open();
      else
        work.end_without_work();
    }
    const bool ends_later = !is_last && some_left == 0 && work.go();
    scratch[0] = is_last ? last : ends_later ? late : another;
    scratch[1] = some_left;
  }
  // Inserts items left over if the last block has opened the work.
  template <class Block, class Words>
  TILEHASH_FN void insert_and_leave(Block block, Words scratch, bool is_last) const {
    if (block.rank() == 0) scratch[0] = u64(is_last || work.is_opened());
    block.barrier();
    const bool inserts = scratch[0] != 0;
    const auto from = left.source_of(inserts ? left.items.counts.read().left : 0);
    const u64 n = from.size();
    block.barrier();
    for (u64 first = inserts ? 0 : n; first < n;) {
      if (block.rank() == 0) scratch[0] = work.take();
      block.barrier();
      first = scratch[0] * block_size;
      block.barrier();
      if (first < n) left.insert(block, from, n, first);
    }
    if (block.rank() == 0) scratch[0] = u64(work.leave());
    block.barrier();
    const bool ends = scratch[0] != 0;
    block.barrier();
    if (ends) left.conclude(block, left.items.counts.read());
  }
};

// Does not synchronize with the host. The call ends like `end`.
template <class Space, class Design, class Source>
void start_left_at_once(Space& space, const Design& design, const Source& source, u64 n,
                        const left_counts<typename Design::word>& counts, call_end end) {
  using body = insert_left_at_once<Design, Source>;
  end.last_phase = 0;
  const left_at_once<Design, Source> left{{design, source, n, counts}, end};
  const u64 blocks = std::min(tuning::of<Space>::displace_blocks(space), divide_up(n, u64(body::block_size)));
  space.for_each_block(blocks, body::block_size, body::scratch_bytes, body{left});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
