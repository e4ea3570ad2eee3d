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

// A change of a table: a key comes in, 64 bytes are read, and a word of them is swapped.
struct swap_word {
  const u32* keys;
  word* memory;
  u64 buckets;

  TILEHASH_FN bool operator()(u64 i) const {
    word* const at = memory + 8 * fast_range(mix64(keys[i]), buckets);
    const auto* line = reinterpret_cast<const ulonglong2*>(at);
    word seen = 0, first = line[0].x;
    TILEHASH_UNROLL
    for (u32 k = 0; k < 4; ++k) seen ^= line[k].x ^ line[k].y;
    return detail::compare_and_swap(at + seen % 8, first, first + 1 + seen % 2) == first;
  }
};
// A retrieval of one value a key: the key comes in, 64 bytes and a value are read, an offset and the value go out.
struct read_value {
  const u32 *keys, *values;
  const word* memory;
  u64 buckets, n;
  u64* offsets;
  u32* answers;

  TILEHASH_FN bool operator()(u64 i) const {
    const auto* line = reinterpret_cast<const ulonglong2*>(memory + 8 * fast_range(mix64(keys[i]), buckets));
    word seen = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < 4; ++k) seen ^= line[k].x ^ line[k].y;
    answers[i] = values[fast_range(seen * 0x9e3779b97f4a7c15, n)];
    offsets[i] = i;
    return true;
  }
};

// A call that counts the items of its work. The last block writes their number to the host.
template <class Work>
struct counted_call {
  static constexpr u32 block_size = 256, warps = block_size / 32;
  static constexpr u64 scratch_bytes = warps * sizeof(u32), one_block = u64(1) << 40;
  Work work;
  u64 n;
  u64* counted;  // items and blocks; zero before and after
  u64* host;

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto counts = block.template scratch<u32>();
    const u64 i = block.lane().index();
    const u32 done = block.template tile<32>().ballot(i < n && work(i));
    if (block.rank() % 32 == 0) counts[block.rank() / 32] = detail::count_ones(done);
    block.barrier();
    if (block.rank() != 0) return;
    u64 all = one_block;
    for (u32 w = 0; w < warps; ++w) all += counts[w];
    if (block.count() != 1) {
      all += detail::fetch_add(counted, all);
      if (all / one_block != block.count()) return;
      *counted = 0;
    }
    detail::store_relaxed(host, all);
  }
};

// Small calls, as the benchmarks time them: by events, or by the host's clock after other work has used the caches.
class small_bench {
 public:
  small_bench(cuda& space, u64 n, u64 slots)
      : space_(space),
        n_(n),
        keys_(space, n),
        values_(space, n),
        answers_(space, n),
        offsets_(space, n),
        slots_(space, slots),
        counted_(space, 1),
        host_(space.host_words()) {
    detail::require(host_ != nullptr, "the host has no page-locked memory");
    space.for_each(n, make_small_keys{keys_.data()});
    space.fill(counted_.data(), 1, u64(0));
    space.fill(values_.data(), n, 0U);
    space.fill(slots_.data(), slots, ~word(0));
  }
  double update() {
    return measure(
               space_, runs, [] {}, [&] { call(swaps(), true); })
        .median;
  }
  double retrieve() {
    const read_value reads{keys_.data(), values_.data(),  slots_.data(),  slots_.size() / 8,
                           n_,           offsets_.data(), answers_.data()};
    return measure(
               space_, runs, [] {}, [&] { call(reads, true); })
        .median;
  }
  // `waits`: the call itself waits, so it may end when the host reads the number. Otherwise the host waits for the
  // stream.
  double change(bool waits) {
    using clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (unsigned i = 0; i < runs; ++i) {
      space_.fill(slots_.data(), slots_.size(), ~word(0));
      space_.synchronize();
      const auto start = clock::now();
      call(swaps(), waits);
      seconds.push_back(std::chrono::duration<double>(clock::now() - start).count());
    }
    return app::spread(std::move(seconds)).median;
  }

 private:
  static constexpr unsigned runs = 51;

  swap_word swaps() const { return {keys_.data(), slots_.data(), slots_.size() / 8}; }
  template <class Work>
  void call(const Work& work, bool waits) {
    using body = counted_call<Work>;
    *host_ = 0;
    space_.for_each_block(detail::divide_up(n_, u64(body::block_size)), body::block_size, body::scratch_bytes,
                          body{work, n_, counted_.data(), host_});
    if (waits)
      space_.wait_for_word(host_);
    else
      space_.synchronize();
  }

  cuda& space_;
  u64 n_;
  buffer<u32, cuda> keys_, values_, answers_;
  buffer<u64, cuda> offsets_;
  buffer<word, cuda> slots_;
  buffer<u64, cuda> counted_;
  u64* host_;
};

}  // namespace

void measure_small_bounds(goal_bounds& bounds) {
  cuda space;
  constexpr u64 million = 1'000'000, half_full = u64(1) << 24;
  const auto empty = [&](u64 n) { return small_bench(space, n, n / 4 * 5 / 8 * 8); };
  bounds.update_3 = empty(1000).update();
  bounds.retrieve_5 = empty(100'000).retrieve();
  bounds.erase_3 = small_bench(space, 1000, half_full).change(true);
  bounds.erase_async_3 = small_bench(space, 1000, half_full).change(false);
  bounds.half_full_6 = small_bench(space, million, half_full).change(false);
}

}  // namespace tilehash::bench
