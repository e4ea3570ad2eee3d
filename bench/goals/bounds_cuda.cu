// SPDX-License-Identifier: Apache-2.0
// Bounds of the goals: bare kernels that do the accesses of a call and nothing else, on random keys.
#include <tilehash/core/hash.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include <algorithm>

#include "goal.hpp"
#include "numbered.hpp"

namespace tilehash::bench {
namespace {

using word = unsigned long long;
constexpr word empty_word = ~word(0);

struct make_bound_keys {
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(i); }
};
__device__ u64 place_of(u32 key, u64 range) { return fast_range(mix64(key), range); }

// A key comes in, and 64 bytes are read. Then a word of them is swapped, or 4 bytes go out.
template <bool Swaps>
struct read_a_bucket {
  const u32* keys;
  word* memory;
  u64 buckets;
  u32* answers;
  __device__ void operator()(u64 i) const {
    const u64 at = 8 * place_of(keys[i], buckets);
    const auto* line = reinterpret_cast<const ulonglong2*>(memory + at);
    word seen = 0, first = line[0].x;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) seen ^= line[k].x ^ line[k].y;
    if constexpr (Swaps)
      atomicCAS(memory + at + seen % 8, first, first + 1 + seen % 2);
    else
      answers[i] = static_cast<u32>(seen);
  }
};

// Inserts distinct keys into slots of 8 bytes: one after the other, four at once, or by a second hash.
template <bool Doubles>
struct probe_slots {
  const u32* keys;
  word* slots;
  u64 number;
  __device__ void operator()(u64 i) const {
    const u32 key = keys[i];
    const word content = word(key) << 32 | key;
    const u64 hash = mix64(key), home = fast_range(hash, number);
    if constexpr (Doubles) {
      for (u64 at = home, step = 1 + hash % 65535, tries = 0; tries < number; ++tries) {
        if (slots[at] == empty_word && atomicCAS(slots + at, empty_word, content) == empty_word) return;
        at = at + step < number ? at + step : at + step - number;
      }
    } else {
      u64 group = home / 4 * 4;
      for (u32 from = home % 4, tries = 0; tries < number; ++tries, from = 0) {
        const auto* pair = reinterpret_cast<const ulonglong2*>(slots + group);
        const ulonglong2 a = pair[0], b = pair[1];
        const word seen[4] = {a.x, a.y, b.x, b.y};
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
          if (k < from || seen[k] != empty_word) continue;
          if (atomicCAS(slots + group + k, empty_word, content) == empty_word) return;
        }
        group = group + 4 < number ? group + 4 : 0;
      }
    }
  }
};

// Inserts distinct keys into buckets of eight slots, the second one only if the first is full. If both are full, one
// key of them moves to its second bucket. These are the accesses of `tiled` without its locks, fences, filter and count:
// at load 0.8, 1.08 buckets a key and 0.03 for moves, and 1.02 swaps. Or it looks keys up.
class two_buckets {
 public:
  two_buckets(word* memory, u64 buckets) : memory_(memory), buckets_(buckets) {}

  __device__ void insert(u32 key, u32 value) const {
    const word content = word(key) << 32 | value;
    u64 at = first_of(key);
    seen s = read(at, key);
    const bool full = s.free == 0 && !s.has;
    if (__any_sync(__activemask(), full)) {
      if (full) s = read(at = second_of(key), key);
    }
    if (s.has || claim(at, s.free, start_of(key), content)) return;
    if (!move_from(first_of(key), content)) move_from(second_of(key), content);
  }
  __device__ u32 find(u32 key) const {
    seen s = read(first_of(key), key);
    if (__any_sync(__activemask(), !s.has)) {
      if (!s.has) s = read(second_of(key), key);
    }
    return s.value;
  }

 private:
  struct seen {
    u32 free = 0, value = 0;
    bool has = false;
  };
  __device__ seen read(u64 bucket, u32 key) const {
    const auto* line = reinterpret_cast<const ulonglong2*>(memory_ + 8 * bucket);
    seen s;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
      const ulonglong2 pair = line[k];
      s.free |= u32(pair.x == empty_word) << 2 * k | u32(pair.y == empty_word) << (2 * k + 1);
      if (pair.x >> 32 == key) s.has = true, s.value = static_cast<u32>(pair.x);
      if (pair.y >> 32 == key) s.has = true, s.value = static_cast<u32>(pair.y);
    }
    return s;
  }
  __device__ bool claim(u64 bucket, u32 free, u32 start, word content) const {
#pragma unroll 1
    while (free != 0) {
      const u32 slot =
          (static_cast<u32>(__ffs(static_cast<int>(free >> start | free << (8 - start)))) - 1 + start) % 8;
      free &= ~(1U << slot);
      if (atomicCAS(memory_ + 8 * bucket + slot, empty_word, content) == empty_word) return true;
    }
    return false;
  }
  __device__ bool move_from(u64 bucket, word content) const {
#pragma unroll 1
    for (u32 slot = 0; slot < 8; ++slot) {
      word* const from = memory_ + 8 * bucket + slot;
      const word moves = *from;
      const u32 key = static_cast<u32>(moves >> 32);
      if (first_of(key) != bucket) continue;
      const u64 to = second_of(key);
      const u32 free = read(to, key).free;
      if (free != 0 && claim(to, free & (0U - free), 0, moves) && atomicCAS(from, moves, content) == moves)
        return true;
    }
    return false;
  }
  __device__ u64 first_of(u32 key) const { return place_of(key, buckets_); }
  __device__ u64 second_of(u32 key) const { return place_of(~key, buckets_); }
  __device__ static u32 start_of(u32 key) { return key % 4 * 2; }

  word* memory_;
  u64 buckets_;
};
struct insert_in_two_buckets {
  two_buckets in;
  const u32* keys;
  __device__ void operator()(u64 i) const { in.insert(keys[i], static_cast<u32>(i)); }
};
struct find_in_two_buckets {
  two_buckets in;
  const u32* keys;
  u32* answers;
  __device__ void operator()(u64 i) const { answers[i] = in.find(keys[i]); }
};

struct write_pairs {
  ulonglong2* to;
  __device__ void operator()(u64 i) const { to[i] = {i, i + 1}; }
};
struct touch_nothing {
  __device__ void operator()(u64) const {}
};

constexpr double load = 0.8;
u64 slots_for(u64 n) { return static_cast<u64>(static_cast<double>(n) / load) / 8 * 8; }

class bound_bench {
 public:
  bound_bench(cuda& space, u64 n)
      : space_(space), n_(n), keys_(space, n), answers_(space, n), slots_(space, slots_for(n)) {
    space.for_each(n, make_bound_keys{keys_.data()});
  }
  double read() {
    return rate([&] {
      space_.for_each(n_,
                      read_a_bucket<false>{keys_.data(), slots_.data(), slots_.size() / 8, answers_.data()});
    });
  }
  double read_and_swap() {
    return rate([&] {
      space_.for_each(n_, read_a_bucket<true>{keys_.data(), slots_.data(), slots_.size() / 8, nullptr});
    });
  }
  double insert_in_two() {
    return rate([&] { space_.for_each(n_, insert_in_two_buckets{table(), keys_.data()}); });
  }
  // Looks up the keys that insert_in_two() has inserted.
  double find_in_two() {
    return rate(
        [&] {
          space_.for_each(n_, find_in_two_buckets{table(), keys_.data(), answers_.data()});
        },
        false);
  }
  template <bool Doubles>
  double probe() {
    return rate([&] {
      space_.for_each(n_, probe_slots<Doubles>{keys_.data(), slots_.data(), slots_.size()});
    });
  }

 private:
  two_buckets table() const { return {slots_.data(), slots_.size() / 8}; }
  template <class Run>
  double rate(Run run, bool clears = true) {
    const auto setup = [&] {
      if (clears) space_.fill(slots_.data(), slots_.size(), empty_word);
    };
    return static_cast<double>(n_) / measure(space_, 5, setup, run).median;
  }

  cuda& space_;
  u64 n_;
  buffer<u32, cuda> keys_, answers_;
  buffer<word, cuda> slots_;
};

}  // namespace

goal_bounds measure_goal_bounds() {
  cuda space;
  goal_bounds bounds;
  {
    bound_bench of_26(space, u64(1) << 26);
    bounds.swap_26 = of_26.read_and_swap();
    bounds.two_buckets_26 = of_26.insert_in_two();
    bounds.linear_26 = of_26.probe<false>();
    bounds.double_26 = of_26.probe<true>();
  }
  bound_bench of_22(space, u64(1) << 22);
  bounds.read_22 = of_22.read();
  bounds.swap_22 = of_22.read_and_swap();
  bounds.two_buckets_22 = of_22.insert_in_two();
  bounds.find_22 = of_22.find_in_two();
  const u64 pairs = u64(1) << 28;
  const buffer<ulonglong2, cuda> to(space, pairs);
  const double seconds = measure(
                             space, 5, [] {}, [&] { space.for_each(pairs, write_pairs{to.data()}); })
                             .median;
  bounds.bytes_written = static_cast<double>(to.bytes()) / seconds;
  bounds.call = measure(
                    space, 51, [] {},
                    [&] {
                      space.for_each(1, touch_nothing{});
                      space.synchronize();
                    })
                    .median;
  return bounds;
}

}  // namespace tilehash::bench
