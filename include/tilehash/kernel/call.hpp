// SPDX-License-Identifier: Apache-2.0
// The items of a call: the outcomes and counters that its kernels record, and the end of the call.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/table_change.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// ---- outcomes ----
//
// The outcomes of a call's items: counters, and a bit for each item that is not stored yet.
//
//   items     | a b c d e f g h | i j k ...        numbered by the source
//   pending   | 0 0 1 0 0 0 1 0 | 0 1 0 ...        1: not stored yet; phases read and write it (no list)
//   outcomes  | ins pre ref ... |                  only if the caller requests them
//
// Each counter has many copies, so that warps do not contend for one word. The counters belong to the table
// and are zero between calls.

// The counters of a call. `left` and the kinds after it count the items without a slot after the first
// phase, the second and so on.
enum class counter : u32 { inserted, illegal, gone, left };

struct call_counters {
  static constexpr u32 stripes = tuning::table::call_stripes, kinds = 16,
                       phases = kinds - static_cast<u32>(counter::left);
  static constexpr u64 words = u64(stripes) * kinds, bytes = words * sizeof(u64);

  u64* at = nullptr;

  TILEHASH_FN void add(counter what, u64 spot, u64 n, u32 phase = 0) const {
    fetch_add(at + spot % stripes * kinds + static_cast<u32>(what) + phase, n);
  }
};
// The sums of the counters.
struct call_counts {
  u64 of[call_counters::kinds] = {};
  u64 operator[](counter what) const { return of[static_cast<u32>(what)]; }
  u64 left(u32 phase) const { return of[static_cast<u32>(counter::left) + phase]; }
};

// A lane's counts, a block's, or those of all blocks of a small call, in one word. One addition counts all kinds
// and the blocks.
//
//   | blocks | gone or left | illegal | inserted |      17 bits for each kind
//
// No kernel counts both erased and pending items.
struct packed_counts {
  static constexpr u32 kinds = static_cast<u32>(counter::left) + 1, fields = 3, field_bits = 17;
  static constexpr u64 most_items = (u64(1) << field_bits) - 1, one_block = u64(1) << fields * field_bits;

  u64 word = 0;

  TILEHASH_FN void add(counter what, u64 /*spot*/, u64 n, u32 /*phase*/ = 0) { word += n << shift_of(what); }
  TILEHASH_FN u64 operator[](counter what) const { return word >> shift_of(what) & most_items; }
  TILEHASH_FN u64 blocks() const { return word / one_block; }

 private:
  TILEHASH_FN static constexpr u32 shift_of(counter what) {
    return (what == counter::left ? static_cast<u32>(counter::gone) : static_cast<u32>(what)) * field_bits;
  }
};

// A lane counts in a word of its own, or in the call's counters.
struct lane_counts {
  call_counters all;
  bool apart;
  packed_counts own{};

  TILEHASH_FN void add(counter what, u64 spot, u64 n, u32 phase = 0) {
    if (apart)
      own.add(what, spot, n);
    else
      all.add(what, spot, n, phase);
  }
};

inline constexpr u32 bits_a_word = 32;

struct outcome_recorder {
  call_counters counters;
  u32* pending = nullptr;
  outcome* outcomes = nullptr;  // may be null
  u32 phase = 0;                // the phase of the `left` that is counted

  TILEHASH_FN bool is_pending(u64 i) const { return (pending[i / bits_a_word] >> i % bits_a_word & 1) != 0; }

  template <class Lane>
  TILEHASH_FN void record(Lane lane, u64 i, bool mine, bool legal, outcome became) const {
    call_counters to = counters;
    record(lane, i, mine, legal, became, to);
  }
  // Records the outcome of a lane's item, the i-th, and counts it in `to`; neighbouring lanes have neighbouring
  // items. A collective of the warp: it writes the whole word, so the bit of an item that is not `mine` becomes 0.
  template <class Lane, class Counts>
  TILEHASH_FN void record(Lane lane, u64 i, bool mine, bool legal, outcome became, Counts& to) const {
    const auto warp = lane.template tile<bits_a_word>();
    if (mine && outcomes != nullptr) outcomes[i] = became;
    const u32 waits = warp.ballot(mine && legal && became == outcome::refused);
    const u32 inserted = warp.ballot(mine && became == outcome::inserted);
    const u32 illegal = warp.ballot(mine && !legal);
    if (warp.rank() != 0) return;
    const u64 spot = i / bits_a_word;
    pending[spot] = waits;
    if (waits != 0) to.add(counter::left, spot, count_ones(waits), phase);
    if (inserted != 0) to.add(counter::inserted, spot, count_ones(inserted));
    if (illegal != 0) to.add(counter::illegal, spot, count_ones(illegal));
  }
};

// The counts of a thread that owns whole words of `pending`. It adds them to the counters at its end.
struct thread_recorder {
  const outcome_recorder& all;
  u64 inserted = 0, illegal = 0, left = 0;

  TILEHASH_FN void record(u64 i, bool legal, outcome became) {
    if (all.outcomes != nullptr) all.outcomes[i] = became;
    inserted += became == outcome::inserted;
    illegal += !legal;
    const bool waits = legal && became == outcome::refused;
    left += waits;
    const u32 bit = 1U << i % bits_a_word;
    u32& word = all.pending[i / bits_a_word];
    word = waits ? word | bit : word & ~bit;
  }
  TILEHASH_FN void add_up(u64 spot) const {
    if (inserted != 0) all.counters.add(counter::inserted, spot, inserted);
    if (illegal != 0) all.counters.add(counter::illegal, spot, illegal);
    if (left != 0) all.counters.add(counter::left, spot, left, all.phase);
  }
};

// ---- the end of a call ----
//
// The end of a call: sums its counters, sets them to zero for the next call and writes its report.

// Counts of regions that are not in the counters.
struct counts_of_regions {
  u64 illegal = 0, inserted = 0;

  TILEHASH_FN u64 of(u32 kind) const {
    const auto what = static_cast<counter>(kind);
    return what == counter::inserted ? inserted : what == counter::illegal ? illegal : 0;
  }
};

struct call_end {
  call_counters counters;
  u64* sums;                        // one for each kind
  u64* size = nullptr;              // the table's table_change; null: the host counts
  u64* given_up = nullptr;          // set to zero
  insert_report* report = nullptr;  // may be null
  u64* erased = nullptr;            // of an asynchronous erase, else null
  u64 n = 0;                        // items of the call
  u32 last_phase = 0;
  u32* blocks_done = nullptr;  // counter of the kernel that ends the call; null: finish_call() ends it
  u64* packed = nullptr;       // packed_counts of all blocks, if one kernel is the whole call; it is zero
  u64* host = nullptr;         // where the host waits for packed_counts; null: it does not

  TILEHASH_FN u64 sum(u32 kind) const {
    u64* const first = counters.at + kind;
    u64 each[call_counters::stripes], total = 0;
    TILEHASH_UNROLL  // all loads are issued before the first is used
        for (u32 s = 0; s < call_counters::stripes; ++s) each[s] =
            load_relaxed(first + u64(s) * call_counters::kinds);
    TILEHASH_UNROLL
    for (u32 s = 0; s < call_counters::stripes; ++s) {
      total += each[s];
      first[u64(s) * call_counters::kinds] = 0;
    }
    sums[kind] = total;
    return total;
  }
  TILEHASH_FN void conclude(u64 inserted, u64 illegal, u64 gone, u64 left) const {
    if (size != nullptr)
      fetch_add(size, table_change::word(inserted, gone));  // without a wait for the old one
    if (given_up != nullptr) *given_up = 0;
    if (erased != nullptr) *erased = gone;
    if (report == nullptr) return;
    insert_report r;
    r.inserted = inserted;
    r.refused = illegal + left;
    r.present = n - r.inserted - r.refused;
    *report = r;
  }

  // All blocks of a kernel call this when they are done, with `kinds` words of scratch. The last block ends
  // the call.
  template <class Block, class Words>
  TILEHASH_FN void by_last_block(Block block, Words scratch) const {
    if (is_last_block(block, scratch)) by_block(block, scratch, {});
  }
  // The counts of a call without pending items, for the host. One thread of the last block calls this.
  TILEHASH_FN void write_to_host(u64 inserted, u64 illegal) const {
    packed_counts all{packed_counts::one_block};
    all.add(counter::inserted, 0, inserted);
    all.add(counter::illegal, 0, illegal);
    device_fence();
    store_relaxed(host, all.word);
  }
  // True in the last block that calls this. It sees what the other blocks have written.
  template <class Block, class Words>
  TILEHASH_FN bool is_last_block(Block block, Words scratch) const {
    block.barrier();
    if (block.rank() == 0) {
      device_fence();
      scratch[0] = u64(fetch_add(blocks_done, 1U) + 1 == block.count());
    }
    block.barrier();
    const bool last = scratch[0] != 0;
    if (!last) return false;
    block.barrier();
    device_fence();
    if (block.rank() == 0) *blocks_done = 0;
    return true;
  }
  // This block ends the call, whose counts are the counters and `more`.
  template <class Block, class Words>
  TILEHASH_FN void by_block(Block block, Words scratch, const counts_of_regions& more) const {
    constexpr u32 kinds = call_counters::kinds;
    for (u32 kind = block.rank(); kind < kinds; kind += block.size()) scratch[kind] = 0;
    block.barrier();
    for (u32 i = block.rank(); i < call_counters::words;
         i += block.size()) {  // the kinds of a stripe are contiguous
      const u64 some = load_relaxed(counters.at + i);
      counters.at[i] = 0;
      if (some != 0) fetch_add(scratch + i % kinds, some);
    }
    block.barrier();
    for (u32 kind = block.rank(); kind < kinds; kind += block.size())
      sums[kind] = scratch[kind] + more.of(kind);
    if (block.rank() != 0) return;
    conclude(scratch[static_cast<u32>(counter::inserted)] + more.inserted,
             scratch[static_cast<u32>(counter::illegal)] + more.illegal,
             scratch[static_cast<u32>(counter::gone)], scratch[static_cast<u32>(counter::left) + last_phase]);
  }

  // The same, where the counters are zero.
  template <class Block>
  TILEHASH_FN void by_regions(Block block, const counts_of_regions& all) const {
    for (u32 kind = block.rank(); kind < call_counters::kinds; kind += block.size())
      sums[kind] = all.of(kind);
    if (block.rank() == 0) conclude(all.inserted, all.illegal, 0, 0);
  }
  // All blocks of the only kernel of a small call (ending_lanes) call this when they are done, with `kinds` words of
  // scratch. The last block ends the call. No block waits for another: the addition that counts a block returns the
  // sums. A host that waits goes on when it has the sums, maybe before the kernel ends. So other kernels must see what
  // each block has written before the block is counted.
  template <class Block, class Words>
  TILEHASH_FN void by_packed(Block block, Words scratch, packed_counts mine) const {
    // Constant: kernels of large calls have this code too, and a loop of unknown length costs up to 16 registers.
    constexpr u32 warps = tuning::gpu::lanes_block / bits_a_word;
    static_assert(warps <= call_counters::kinds);
    if (block.rank() % bits_a_word == 0) scratch[block.rank() / bits_a_word] = mine.word;
    block.barrier();
    if (block.rank() != 0) return;
    packed_counts all{packed_counts::one_block};
    TILEHASH_UNROLL
    for (u32 w = 0; w < warps; ++w) all.word += scratch[w];
    if (host != nullptr) device_fence();
    if (block.count() != 1) {
      all.word += fetch_add(packed, all.word);
      if (all.blocks() != block.count()) return;
      *packed = 0;
    }
    if (host != nullptr) return store_relaxed(host, all.word);
    for (u32 kind = 0; kind < packed_counts::kinds; ++kind) sums[kind] = all[static_cast<counter>(kind)];
    const u64 last = all[counter::left];
    conclude(all[counter::inserted], all[counter::illegal], erased != nullptr ? last : 0,
             erased != nullptr ? 0 : last);
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    constexpr u32 kinds = call_counters::kinds;
    const auto t = lane.template tile<kinds>();
    const u64 mine = lane.index() < kinds ? sum(static_cast<u32>(lane.index())) : 0;
    const u64 inserted = t.broadcast(mine, static_cast<u32>(counter::inserted)),
              illegal = t.broadcast(mine, static_cast<u32>(counter::illegal)),
              gone = t.broadcast(mine, static_cast<u32>(counter::gone)),
              left = t.broadcast(mine, static_cast<u32>(counter::left) + last_phase);
    if (lane.index() == 0) conclude(inserted, illegal, gone, left);
  }
  void operator()(u64 /*from*/, u64 /*to*/) const {
    for (u32 kind = 0; kind < call_counters::kinds; ++kind) sum(kind);
    conclude(sums[static_cast<u32>(counter::inserted)], sums[static_cast<u32>(counter::illegal)],
             sums[static_cast<u32>(counter::gone)], sums[static_cast<u32>(counter::left) + last_phase]);
  }
};

// A lane with another number than its own.
template <class Lane>
struct numbered_lane {
  Lane lane;
  u64 number;
  TILEHASH_FN u64 index() const { return number; }
  template <u32 Width>
  TILEHASH_FN auto tile() const {
    return lane.template tile<Width>();
  }
};

// A kernel of lanes, whose last block ends the call if end.blocks_done is not null. That saves the launch of
// another kernel, which a call of few items waits for. In a call of many items the blocks would queue at one
// counter.
template <class Work>
struct ending_lanes {
  static constexpr u32 block_size = tuning::gpu::lanes_block, resident_blocks = Work::resident_blocks;
  static constexpr u64 scratch_bytes = call_counters::kinds * sizeof(u64);
  Work work;
  call_end end;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    lane_counts mine{end.counters, end.packed != nullptr};
    work.run(block.lane(), mine);
    if (end.packed != nullptr) return end.by_packed(block, block.template scratch<u64>(), mine.own);
    if (end.blocks_done != nullptr) end.by_last_block(block, block.template scratch<u64>());
  }
};
// How a kernel has ended a call: not, with its counts in call_end::sums, or with packed_counts for the host.
enum class call_ended : u8 { no, in_sums, packed };

// Runs a kernel for n items, one for each lane, which are counted in `counters`. Returns whether
// it ends the call: `end` is null if it must not.
template <class Space, class Work>
call_ended run_lanes_and_end(Space& space, u64 n, const Work& work, const call_counters& counters,
                             const call_end* end, u32* blocks_done) {
  using body = ending_lanes<Work>;
  call_end last{};
  if (end != nullptr && n != 0 && n <= tuning::gpu::ended_items) {
    last = *end;
    last.blocks_done = blocks_done;
    if (n > packed_counts::most_items) last.packed = nullptr;
    if (last.packed == nullptr) last.host = nullptr;
  }
  last.counters = counters;
  space.for_each_block(divide_up(n, u64(body::block_size)), body::block_size, body::scratch_bytes,
                       body{work, last});
  if (last.blocks_done == nullptr) return call_ended::no;
  return last.host != nullptr ? call_ended::packed : call_ended::in_sums;
}

template <class Space>
void finish_call(Space& space, const call_end& end) {
  if constexpr (Space::has_lanes)
    space.for_each_lane(call_counters::kinds, end);
  else
    space.for_each_share(1, end);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
