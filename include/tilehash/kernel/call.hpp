// The end of a call: sums its counters, sets them to zero for the next call and writes its report.
#pragma once

#include <tilehash/core/result.hpp>
#include <tilehash/kernel/recorder.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

struct call_end {
  call_counters counters;
  u64* sums;                        // one for each kind
  u64* size = nullptr;              // the table's; changes by the counted items; null: the host does that
  u64* given_up = nullptr;          // set to zero
  insert_report* report = nullptr;  // may be null
  u64* erased = nullptr;            // may be null
  u64 n = 0;                        // items of the call
  u32 last_phase = 0;
  u32* blocks_done = nullptr;  // counter of the kernel that ends the call; null: finish_call() ends it

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
    if (size != nullptr) *size += inserted - gone;
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
    constexpr u32 kinds = call_counters::kinds;
    block.barrier();
    if (block.rank() == 0) {
      device_fence();
      scratch[0] = u64(fetch_add(blocks_done, 1U) + 1 == block.count());
    }
    block.barrier();
    const bool last = scratch[0] != 0;
    if (!last) return;
    block.barrier();
    device_fence();
    for (u32 kind = block.rank(); kind < kinds; kind += block.size()) scratch[kind] = 0;
    block.barrier();
    for (u32 i = block.rank(); i < call_counters::words;
         i += block.size()) {  // the kinds of a stripe are contiguous
      const u64 some = load_relaxed(counters.at + i);
      counters.at[i] = 0;
      if (some != 0) fetch_add(scratch + i % kinds, some);
    }
    block.barrier();
    for (u32 kind = block.rank(); kind < kinds; kind += block.size()) sums[kind] = scratch[kind];
    if (block.rank() != 0) return;
    *blocks_done = 0;
    conclude(scratch[static_cast<u32>(counter::inserted)], scratch[static_cast<u32>(counter::illegal)],
             scratch[static_cast<u32>(counter::gone)], scratch[static_cast<u32>(counter::left) + last_phase]);
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

template <class Space>
void finish_call(Space& space, const call_end& end) {
  if constexpr (Space::has_lanes)
    space.for_each_lane(call_counters::kinds, end);
  else
    space.for_each_chunk(1, end);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
