// SPDX-License-Identifier: Apache-2.0
// Bounds of small calls: bare kernels that do the accesses of a call, count and end, each with the host's wait.
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include <chrono>
#include <utility>
#include <vector>

#include "goal.hpp"
#include "numbered.hpp"

namespace tilehash::bench {
namespace {

using word = unsigned long long;

struct make_small_keys {
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(i); }
};

// A call that changes a table: a key comes in, 64 bytes are read, and a word of them is swapped. The last block
// writes the number of swapped words to the host.
struct swap_and_count {
  static constexpr u32 block_size = 256, warps = block_size / 32;
  static constexpr u64 scratch_bytes = warps * sizeof(u32), one_block = u64(1) << 40;
  const u32* keys;
  u64 n;
  word* memory;
  u64 buckets;
  u64* counted;  // swapped words and blocks; zero before and after
  u64* host;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto counts = block.template scratch<u32>();
    const u64 i = block.lane().index();
    const u32 swapped = block.template tile<32>().ballot(i < n && swaps(i));
    if (block.rank() % 32 == 0) counts[block.rank() / 32] = detail::count_ones(swapped);
    block.barrier();
    if (block.rank() != 0) return;
    u64 all = one_block;
    for (u32 w = 0; w < warps; ++w) all += counts[w];
    if (block.count() != 1) {
      all += detail::fetch_add(counted, all);
      if (all / one_block != block.count()) return;
      *counted = 0;
    }
    *host = all % one_block;
  }

 private:
  TILEHASH_FN bool swaps(u64 i) const {
    word* const at = memory + 8 * fast_range(mix64(keys[i]), buckets);
    const auto* line = reinterpret_cast<const ulonglong2*>(at);
    word seen = 0, first = line[0].x;
    TILEHASH_UNROLL
    for (u32 k = 0; k < 4; ++k) seen ^= line[k].x ^ line[k].y;
    return detail::compare_and_swap(at + seen % 8, first, first + 1 + seen % 2) == first;
  }
};
// A retrieval of one value a key: the key comes in, 64 bytes and a value are read, an offset and the value go out.
struct read_values {
  const u32 *keys, *values;
  const word* memory;
  u64 buckets, n;
  u64* offsets;
  u32* answers;
  u64* host;

  TILEHASH_FN void operator()(u64 i) const {
    const auto* line = reinterpret_cast<const ulonglong2*>(memory + 8 * fast_range(mix64(keys[i]), buckets));
    word seen = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < 4; ++k) seen ^= line[k].x ^ line[k].y;
    answers[i] = values[fast_range(seen * 0x9e3779b97f4a7c15, n)];
    offsets[i] = i;
    if (i == 0) *host = n;
  }
};

// Small calls, as the benchmarks time them: by events, or by the host's clock after other work has used the caches.
class small_bench {
 public:
  small_bench(cuda& space, u64 n, u64 slots)
      : space_(space),
        n_(n),
        keys_(space, n),
        answers_(space, n),
        offsets_(space, n),
        slots_(space, slots),
        counted_(space, 1) {
    detail::require(space.host_words() != nullptr, "the host has no page-locked memory");
    space.for_each(n, make_small_keys{keys_.data()});
    space.fill(counted_.data(), 1, u64(0));
  }
  double update() {
    prepare();
    return measure(
               space_, 51, [] {}, [&] { swap(); })
        .median;
  }
  double change() {
    using clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (unsigned i = 0; i < 51; ++i) {
      prepare();
      space_.synchronize();
      const auto start = clock::now();
      swap();
      seconds.push_back(std::chrono::duration<double>(clock::now() - start).count());
    }
    return app::spread(std::move(seconds)).median;
  }
  double retrieve() {
    prepare();
    const auto read = [&] {
      space_.for_each(n_, read_values{keys_.data(), answers_.data(), slots_.data(), slots_.size() / 8, n_,
                                      offsets_.data(), answers_.data(), space_.host_words()});
      space_.synchronize();
    };
    return measure(
               space_, 51, [] {}, read)
        .median;
  }

 private:
  void prepare() { space_.fill(slots_.data(), slots_.size(), ~word(0)); }
  void swap() {
    constexpr u32 threads = swap_and_count::block_size;
    space_.for_each_block(detail::divide_up(n_, u64(threads)), threads, swap_and_count::scratch_bytes,
                          swap_and_count{keys_.data(), n_, slots_.data(), slots_.size() / 8, counted_.data(),
                                         space_.host_words()});
    space_.synchronize();
  }

  cuda& space_;
  u64 n_;
  buffer<u32, cuda> keys_, answers_;
  buffer<u64, cuda> offsets_;
  buffer<word, cuda> slots_;
  buffer<u64, cuda> counted_;
};

}  // namespace

void measure_small_bounds(goal_bounds& bounds) {
  cuda space;
  constexpr u64 million = 1'000'000, half_full = u64(1) << 24;
  const auto empty = [&](u64 n) { return small_bench(space, n, n / 4 * 5 / 8 * 8); };
  bounds.update_3 = empty(1000).update();
  bounds.retrieve_5 = empty(100'000).retrieve();
  bounds.insert_3 = empty(1000).change();
  bounds.insert_5 = empty(100'000).change();
  bounds.insert_6 = empty(million).change();
  bounds.half_full_3 = small_bench(space, 1000, half_full).change();
  bounds.half_full_6 = small_bench(space, million, half_full).change();
}

}  // namespace tilehash::bench
