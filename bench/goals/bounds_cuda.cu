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
  template <bool Doubles>
  double probe() {
    return rate([&] {
      space_.for_each(n_, probe_slots<Doubles>{keys_.data(), slots_.data(), slots_.size()});
    });
  }

 private:
  template <class Run>
  double rate(Run run) {
    const auto setup = [&] { space_.fill(slots_.data(), slots_.size(), empty_word); };
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
    bounds.linear_26 = of_26.probe<false>();
    bounds.double_26 = of_26.probe<true>();
  }
  bound_bench of_22(space, u64(1) << 22);
  bounds.read_22 = of_22.read();
  bounds.swap_22 = of_22.read_and_swap();
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
