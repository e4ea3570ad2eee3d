// SPDX-License-Identifier: Apache-2.0
#include <tilehash/core/hash.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include <algorithm>

#include "ours/ceiling_list.hpp"

namespace tilehash::bench {
namespace {

using word = unsigned long long;  // CUDA's name for what its atomics take
constexpr word untouched = ~word(0);

__device__ u32 fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
__device__ u32 fold(word v) { return static_cast<u32>(v ^ v >> 32); }

// Each Lanes neighbouring lanes read one random line of Lanes * Loads vectors, each load one request.
template <class Vector, u32 Lanes, u32 Loads>
struct read_lines {
  static constexpr u64 line_bytes = sizeof(Vector) * Lanes * Loads;
  char* memory;
  u64 bytes;

  __device__ void operator()(u64 i) const {
    const u64 at = fast_range(mix64(i / Lanes), bytes / line_bytes);
    const auto* line = reinterpret_cast<const Vector*>(memory + at * line_bytes) + i % Lanes;
    u32 seen = 0;
#pragma unroll
    for (u32 k = 0; k < Loads; ++k) seen ^= fold(__ldg(line + k * Lanes));
    if (seen == 1) *reinterpret_cast<u32*>(memory) = seen;  // so that the compiler keeps the loads
  }
};

// The least a lookup does: a key comes in, 64 bytes are read, a value goes out. Every lane owns a key, and
// four of them read the lines of all four before they use the first.
struct ideal_find {
  const uint4* memory;
  u64 lines;
  const u32* keys;
  u32* values;

  template <class Lane>
  __device__ void operator()(Lane lane) const {
    const auto tile = lane.template tile<4>();
    const u64 mine = fast_range(mix64(keys[lane.index()]), lines);
    uint4 line[4];
#pragma unroll
    for (u32 j = 0; j < 4; ++j) line[j] = __ldg(memory + 4 * tile.broadcast(mine, j) + tile.rank());
    u32 value = 0;
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const u32 answer = tile.broadcast(fold(line[j]), j);
      if (tile.rank() == j) value = answer;
    }
    values[lane.index()] = value;
  }
};

// One of the operations on a random word of 8 bytes. None changes what the word holds.
enum class change { compare_and_swap, exchange, maximum, store };
template <change What>
struct change_words {
  word* words;
  u64 count;

  __device__ void operator()(u64 i) const {
    word* const at = words + fast_range(mix64(i), count);
    word old = untouched;
    if constexpr (What == change::compare_and_swap)
      old = atomicCAS(at, untouched, untouched);
    else if constexpr (What == change::exchange)
      old = atomicExch(at, untouched);
    else if constexpr (What == change::maximum)
      old = atomicMax(at, word(1));
    else
      *at = untouched;
    if (old == 1) *words = old;
  }
};

// The word of half `which` of the lane's vector.
__device__ word half(uint4 v, u32 which) { return which ? word(v.w) << 32 | v.z : word(v.y) << 32 | v.x; }

// The least an insert does that looks before it writes. Four lanes read a line of 64 bytes and one of them
// compares and swaps a word that it saw; the line is theirs alone.
struct update_by_tile {
  uint4* memory;
  u64 lines;

  __device__ void operator()(u64 i) const {
    const u64 hash = mix64(i / 4);
    uint4* const mine = memory + 4 * fast_range(hash, lines) + i % 4;
    const word seen = half(__ldcg(mine), hash >> 2 & 1);
    if (i % 4 != (hash & 3)) return;
    const word old = atomicCAS(reinterpret_cast<word*>(mine) + (hash >> 2 & 1), seen, seen);
    if (old == 1) *reinterpret_cast<word*>(memory) = old;
  }
};

// The same with a line for every lane: four lanes read four lines before each swaps a word of its own.
struct update_by_lane {
  uint4* memory;
  u64 lines;

  template <class Lane>
  __device__ void operator()(Lane lane) const {
    const auto tile = lane.template tile<4>();
    const u64 hash = mix64(lane.index()), at = fast_range(hash, lines);
    const u32 part = hash & 3, which = hash >> 2 & 1;
    word seen[4], mine = 0;
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const uint4 v = __ldcg(memory + 4 * tile.broadcast(at, j) + tile.rank());
      seen[j] = half(v, tile.broadcast(which, j));
    }
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
      const word theirs = tile.broadcast(seen[j], tile.broadcast(part, j));
      if (tile.rank() == j) mine = theirs;
    }
    const word old = atomicCAS(reinterpret_cast<word*>(memory + 4 * at + part) + which, mine, mine);
    if (old == 1) *reinterpret_cast<word*>(memory) = old;
  }
};

// The same by one thread on 32 bytes.
struct update_by_thread {
  uint4* memory;
  u64 lines;
  const u32* keys;

  __device__ void operator()(u64 i) const {
    uint4* const line = memory + 2 * fast_range(mix64(keys[i]), lines);
    const uint4 a = __ldcg(line), b = __ldcg(line + 1);
    const u32 which = (fold(a) ^ fold(b) ^ static_cast<u32>(i)) & 1;
    const word seen = half(a, which);
    const word old = atomicCAS(reinterpret_cast<word*>(line) + which, seen, seen & half(b, which));
    if (old == 1) *reinterpret_cast<word*>(memory) = old;
  }
};

struct copy_vectors {
  uint4* memory;
  u64 half;
  __device__ void operator()(u64 i) const { memory[half + i] = memory[i]; }
};

struct nothing {
  __device__ void operator()(u64 /*i*/) const {}
};

struct make_keys {
  u32* keys;
  __device__ void operator()(u64 i) const { keys[i] = static_cast<u32>(mix64(i)); }
};

constexpr u64 smallest = 256;  // bytes, two lines of the longest kind

// Memory of so many bytes, every bit set.
buffer<char, cuda> memory_of(cuda& space, u64 bytes) {
  buffer<char, cuda> memory(space, std::max(bytes, smallest) / smallest * smallest);
  space.fill(reinterpret_cast<word*>(memory.data()), memory.size() / sizeof(word), untouched);
  return memory;
}

constexpr u64 ops = u64(1) << 26;  // whole blocks of lanes

template <class Vector, u32 Lanes, u32 Loads>
double add_read(ceiling_list<cuda>& list, cuda& space, const char* what, const buffer<char, cuda>& memory) {
  using body = read_lines<Vector, Lanes, Loads>;
  return list.add(what, memory.size(), ops, body::line_bytes, [&] {
    space.for_each(ops * Lanes, body{memory.data(), memory.size()});
  });
}

template <change What>
double add_change(ceiling_list<cuda>& list, cuda& space, const char* what, const buffer<char, cuda>& memory) {
  auto* const words = reinterpret_cast<word*>(memory.data());
  return list.add(what, memory.size(), ops, sizeof(word), [&] {
    space.for_each(ops, change_words<What>{words, memory.size() / sizeof(word)});
  });
}

double add_read_64(ceiling_list<cuda>& list, cuda& space, const buffer<char, cuda>& memory) {
  return add_read<uint4, 4, 1>(list, space, "read 64 B, four lanes", memory);
}

// The better of two schedules is the ceiling.
double add_update_64(ceiling_list<cuda>& list, cuda& space, const buffer<char, cuda>& memory) {
  auto* const vectors = reinterpret_cast<uint4*>(memory.data());
  const u64 lines = memory.size() / 64;
  const double by_tile = list.add("read 64 B then CAS 8 B, one per tile", memory.size(), ops, 64, [&] {
    space.for_each(ops * 4, update_by_tile{vectors, lines});
  });
  const double by_lane = list.add("read 64 B then CAS 8 B, one per lane", memory.size(), ops, 64, [&] {
    space.for_each_lane(ops, update_by_lane{vectors, lines});
  });
  return std::max(by_tile, by_lane);
}

}  // namespace

std::vector<ceiling> cuda_ceilings(std::span<const u64> sizes, unsigned repeat) {
  cuda space;
  ceiling_list<cuda> list(space, repeat);
  const buffer<u32, cuda> keys(space, ops), values(space, ops);
  space.for_each(ops, make_keys{keys.data()});
  for (const u64 bytes : sizes) {
    const auto memory = memory_of(space, bytes);
    auto* const vectors = reinterpret_cast<uint4*>(memory.data());
    const u64 half = memory.size() / sizeof(uint4) / 2;
    list.add("stream copy", bytes, half, 2 * sizeof(uint4), [&] {
      space.for_each(half, copy_vectors{vectors, half});
    });
    add_read<word, 1, 1>(list, space, "read 8 B", memory);
    add_read<uint4, 1, 2>(list, space, "read 32 B, one thread", memory);
    add_read_64(list, space, memory);
    add_read<uint4, 1, 4>(list, space, "read 64 B, one thread", memory);
    add_read<uint4, 8, 1>(list, space, "read 128 B, eight lanes", memory);
    list.add("key in, read 64 B, value out", bytes, ops, 64 + 2 * sizeof(u32), [&] {
      space.for_each_lane(ops, ideal_find{vectors, memory.size() / 64, keys.data(), values.data()});
    });
    add_change<change::compare_and_swap>(list, space, "CAS 8 B", memory);
    add_change<change::exchange>(list, space, "exchange 8 B", memory);
    add_change<change::maximum>(list, space, "max 8 B", memory);
    add_change<change::store>(list, space, "store 8 B", memory);
    add_update_64(list, space, memory);
    list.add("read 32 B then CAS 8 B, one thread", bytes, ops, 32, [&] {
      space.for_each(ops, update_by_thread{vectors, memory.size() / 32, keys.data()});
    });
  }
  return list.take();
}

access_rates cuda_access_rates(u64 bytes) {
  cuda space;
  const auto memory = memory_of(space, bytes);
  const buffer<u32, cuda> keys(space, ops);
  space.for_each(ops, make_keys{keys.data()});
  auto* const vectors = reinterpret_cast<uint4*>(memory.data());
  const u64 lines = std::max<u64>(bytes / 64, 1), count = ops / 4;
  const auto rate_of = [&](const auto& run) {
    return count / measure(
                       space, 3, [] {}, run)
                       .min;
  };
  access_rates rates;
  rates.reads = rate_of([&] {
    space.for_each(count * 4, read_lines<uint4, 4, 1>{memory.data(), 64 * lines});
  });
  rates.reads_alone = rate_of([&] {
    space.for_each(count, read_lines<uint4, 1, 4>{memory.data(), 64 * lines});
  });
  const double by_tile = rate_of([&] { space.for_each(count * 4, update_by_tile{vectors, lines}); });
  const double by_lane = rate_of([&] { space.for_each_lane(count, update_by_lane{vectors, lines}); });
  rates.updates = std::max(by_tile, by_lane);
  rates.updates_alone = rate_of([&] {
    space.for_each(count, update_by_thread{vectors, lines, keys.data()});
  });
  rates.steps = rates.reads;
  rates.call = measure(
                   space, 5, [] {}, [&] { space.for_each(1, nothing{}); })
                   .min;
  return rates;
}

limits measure_limits(cuda& space, u64 bytes, unsigned repeat) {
  ceiling_list<cuda> list(space, repeat);
  const auto memory = memory_of(space, bytes);
  return {.reads = add_read_64(list, space, memory),
          .updates = add_update_64(list, space, memory),
          .swaps = add_change<change::compare_and_swap>(list, space, "CAS 8 B", memory)};
}

}  // namespace tilehash::bench
