// SPDX-License-Identifier: Apache-2.0
// Estimates how many different keys an array has, from a sketch of all of them: HyperLogLog (Flajolet, Fusy,
// Gandouet, Meunier: AofA 2007), with the estimator of Ertl (arXiv:1702.01284, section 4), which needs no
// tables and no correction for few keys.
//
//   a key's hash   | register: 13 bits | ...           | the rank: leading zeros of 32 bits, plus 1 |
//
// A register keeps the largest rank of its keys, so copies of a key change nothing. Each block has registers
// in its scratch, and merges them into the sketch at its end. The last block counts the registers of each
// rank, which is all that the host reads.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The numbers of registers with each rank; rank 0 is a register without keys.
struct sketch_ranks {
  static constexpr u32 registers_log2 = tuning::table::sketch_registers_log2,
                       registers = 1U << registers_log2;
  static constexpr u32 kinds = 32 + 2;
  // The standard deviation of estimate(), relative to it.
  static double deviation() { return 1.04 / std::sqrt(static_cast<double>(registers)); }

  u32 of[kinds];

  // The number of different keys.
  double estimate() const {
    const double m = registers;
    double z = m * tau(1 - of[kinds - 1] / m);
    for (u32 k = kinds - 2; k != 0; --k) z = 0.5 * (z + of[k]);
    z += m * sigma(of[0] / m);
    return m * m / (2 * std::log(2.0)) / z;
  }

 private:
  // Both series end when a term no longer changes the sum, after some tens of terms.
  static double sigma(double x) {
    if (x == 1) return std::numeric_limits<double>::infinity();
    double sum = x, power = 1;
    for (double before = -1; sum != before; power *= 2) {
      x *= x;
      before = sum;
      sum += x * power;
    }
    return sum;
  }
  static double tau(double x) {
    if (x == 0 || x == 1) return 0;
    double sum = 1 - x, power = 1;
    for (double before = -1; sum != before;) {
      x = std::sqrt(x);
      before = sum;
      power /= 2;
      sum -= (1 - x) * (1 - x) * power;
    }
    return sum / 3;
  }
};

// The sketch in the memory of the space, all zero at first.
struct sketch_memory {
  static constexpr u32 registers = sketch_ranks::registers, kinds = sketch_ranks::kinds;
  static constexpr u64 words = registers + kinds + 1;
  u32* at;

  TILEHASH_FN u32* ranks() const { return at; }
  TILEHASH_FN u32* counts() const { return at + registers; }
  TILEHASH_FN u32* blocks_done() const { return at + registers + kinds; }
};

// `Keys`: a pointer to keys, or a source of items (core/item.hpp).
template <class Keys, u32 Threads>
struct sketch_keys {
  static constexpr u32 block_size = Threads;
  static constexpr u32 at_once = tuning::of_block<Threads>::sketched_at_once;
  static constexpr u32 registers = sketch_ranks::registers, kinds = sketch_ranks::kinds;
  static constexpr u64 step = u64(at_once) * Threads;
  // A byte would do, but lanes have no atomics of it.
  using rank = std::conditional_t<Threads == 1, u8, u32>;

  struct layout {
    scratch_array<u32> counts{kinds};  // at the end: [0] is whether this is the last block
    scratch_array<rank> ranks{counts, registers};
  };
  static constexpr u64 scratch_bytes = kinds * sizeof(u32) + registers * sizeof(rank);

  Keys keys;
  u64 first, end;      // of the keys to look at
  const u32* pending;  // only those with a bit here, unless it is null
  murmur hash;
  sketch_memory sketch;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const layout scratch;
    const auto ranks = scratch.ranks.in(block);
    for (u32 r = block.rank(); r < registers; r += Threads) ranks[r] = 0;
    block.barrier();
    const u64 share = ((end - first - 1) / (block.count() * step) + 1) * step;
    const u64 from = first + block.index() * share, to = from + share < end ? from + share : end;
    for (u64 i = from + block.rank(); i < to; i += step) add(i, to, ranks);
    block.barrier();
    for (u32 r = block.rank(); r < registers; r += Threads) {
      const u32 mine = ranks[r];
      if (mine > load_relaxed(sketch.ranks() + r)) fetch_max(sketch.ranks() + r, mine);
    }
    count_by_last_block(block, scratch.counts.in(block));
  }

 private:
  // Adds this thread's keys of a step.
  template <class Ranks>
  TILEHASH_FN void add(u64 i, u64 to, Ranks ranks) const {
    u64 hashes[at_once];
    bool counts[at_once];
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u64 at = i + u64(k) * Threads;
      counts[k] = at < to && (pending == nullptr || (pending[at / 32] >> at % 32 & 1) != 0);
      hashes[k] = counts[k] ? hash_of(at, counts[k]) : 0;
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u32 r = static_cast<u32>(hashes[k] >> (64 - sketch_ranks::registers_log2));
      const rank its = static_cast<rank>(33 - bit_width(static_cast<u32>(hashes[k])));
      if (counts[k] && load_relaxed(ranks + r) < its) fetch_max(ranks + r, its);
    }
  }
  // Clears `counted` if there is no such item, or its key is NaN.
  TILEHASH_FN u64 hash_of(u64 i, bool& counted) const {
    if constexpr (std::is_pointer_v<Keys>) {
      counted = is_legal(keys[i]);
      return hash_key(hash, keys[i]);
    } else {
      const auto x = keys(i);
      counted = x.valid && x.key.legal;
      return hash(x.key.bits);
    }
  }
  template <class Block, class Counts>
  TILEHASH_FN void count_by_last_block(Block block, Counts counts) const {
    block.barrier();
    if (block.rank() == 0) {
      device_fence();
      counts[0] = u32(fetch_add(sketch.blocks_done(), 1U) + 1 == block.count());
    }
    block.barrier();
    const bool last = counts[0] != 0;
    if (!last) return;
    block.barrier();
    device_fence();
    for (u32 k = block.rank(); k < kinds; k += Threads) counts[k] = 0;
    block.barrier();
    for (u32 r = block.rank(); r < registers; r += Threads) {
      const u32 its = load_relaxed(sketch.ranks() + r);
      fetch_add(counts + its, 1U);
    }
    block.barrier();
    for (u32 k = block.rank(); k < kinds; k += Threads) sketch.counts()[k] = counts[k];
  }
};

// Estimates how many of the keys from `first` to `end` are different; of those with a bit in `pending`,
// unless that is null. Reads each key once. Memory: 33 KiB, and a byte for each register and thread of a CPU.
// Synchronizes with the host. Throws out_of_memory.
template <class Space, class Keys>
double count_by_sketch(Space& space, const Keys& keys, u64 first, u64 end, const u32* pending, u64 seed) {
  using work = sketch_keys<Keys, large_block<Space>>;
  using machine = tuning::of<Space>;
  const buffer<u32, Space> memory(space, sketch_memory::words);
  space.fill(reinterpret_cast<char*>(memory.data()), memory.bytes(), char(0));
  const sketch_memory sketch{memory.data()};
  const u64 enough = divide_up(end - first, machine::sketched_each), most = machine::sketch_blocks(space);
  space.for_each_block(std::min(enough, most), work::block_size, work::scratch_bytes,
                       work{keys, first, end, pending, murmur(seed), sketch});
  sketch_ranks ranks;
  space.copy_to_host(ranks.of, sketch.counts(), sizeof ranks.of);
  return ranks.estimate();
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
