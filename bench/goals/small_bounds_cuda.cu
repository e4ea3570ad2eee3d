// SPDX-License-Identifier: Apache-2.0
// Bounds of small calls: bare kernels that do the accesses of a call, count and end, each with the host's wait.
//
// No table can do less than these, whatever its buckets are:
//   an update or erase     reads the keys, the line of memory that has a key, and swaps a word there
//   an insert, one by one  the same, and reads the values
//   ... in order           copies the items into the order of the table; then its lines are read in that order
//   ... of all, by lines   copies the items; then writes every line of the table once, without reading one
// Each counts the items, as a call reports how many it has inserted. None compares keys, and none moves one. An insert
// takes one of its ways, or a mixture, so its bound is the shortest of them.
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include <algorithm>
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
// The same with a value. So many items in a row go to so many lines in a row, at random; in the end all to all.
struct swap_in_lines {
  const u32 *keys, *values;
  word* memory;
  u32 items, lines;

  TILEHASH_FN bool operator()(u64 i) const {
    const u64 first = u64(static_cast<u32>(i) / items) * lines;
    word* const at = memory + 8 * (first + fast_range(mix64(keys[i]), lines));
    const auto* line = reinterpret_cast<const ulonglong2*>(at);
    word seen = 0, old = line[0].x;
    TILEHASH_UNROLL
    for (u32 k = 0; k < 4; ++k) seen ^= line[k].x ^ line[k].y;
    return detail::compare_and_swap(at + seen % 8, old, old + 1 + values[i] % 2) == old;
  }
};
// Copies an item.
struct copy_pair {
  const u32 *keys, *values;
  u64* to;

  TILEHASH_FN void operator()(u64 i) const { to[i] = u64(keys[i]) << 32 | values[i]; }
};
// Reads an item, and writes 16 bytes of the table while there are any.
struct write_slots {
  const u64* items;
  ulonglong2* memory;
  u64 pairs;

  TILEHASH_FN bool operator()(u64 i) const {
    const u64 item = items[i];
    if (i < pairs) memory[i] = {item, item + 1};
    return item != 0;
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
    return by_clock([&] { call(swaps(), waits); });
  }
  // Inserts, without a wait in the call: one by one; in order; and by lines, into an empty table.
  double insert_one_by_one() {
    return by_clock([&] { call(inserts(false), false); });
  }
  double insert_in_order() {
    return by_clock([&] {
      space_.for_each(n_, copies());
      call(inserts(true), false);
    });
  }
  double insert_by_lines() {
    const write_slots writes{offsets_.data(), reinterpret_cast<ulonglong2*>(slots_.data()),
                             slots_.size() / 2};
    return by_clock([&] {
      space_.for_each(n_, copies());
      call(writes, false);
    });
  }

 private:
  static constexpr unsigned runs = 51;

  swap_word swaps() const { return {keys_.data(), slots_.data(), slots_.size() / 8}; }
  swap_in_lines inserts(bool in_order) const {
    constexpr u64 region_lines = 2688;  // of a large table
    const u64 lines = slots_.size() / 8, regions = in_order ? detail::divide_up(lines, region_lines) : 1;
    return {keys_.data(), values_.data(), slots_.data(), static_cast<u32>(detail::divide_up(n_, regions)),
            static_cast<u32>(lines / regions)};
  }
  copy_pair copies() const { return {keys_.data(), values_.data(), offsets_.data()}; }
  // The host's clock, after other work has used the caches.
  template <class Call>
  double by_clock(const Call& make) {
    using clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (unsigned i = 0; i < runs; ++i) {
      space_.fill(slots_.data(), slots_.size(), ~word(0));
      space_.synchronize();
      const auto start = clock::now();
      make();
      seconds.push_back(std::chrono::duration<double>(clock::now() - start).count());
    }
    return app::spread(std::move(seconds)).median;
  }
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
  const auto empty = [&](u64 n) { return small_bench(space, n, n / 4 * 5 / 8 * 8); };  // load 0.8
  bounds.update_3 = empty(1000).update();
  bounds.retrieve_5 = empty(100'000).retrieve();
  bounds.erase_3 = small_bench(space, 1000, half_full).change(true);
  bounds.erase_async_3 = small_bench(space, 1000, half_full).change(false);
  small_bench half(space, million, half_full);
  bounds.half_full_6 = std::min(half.insert_one_by_one(), half.insert_in_order());
  const auto fill = [&](u64 n) {
    small_bench bench = empty(n);
    return std::min({bench.insert_one_by_one(), bench.insert_in_order(), bench.insert_by_lines()});
  };
  bounds.fill_3 = fill(1000);
  bounds.fill_5 = fill(100'000);
  bounds.fill_6 = fill(million);
  bounds.fill_7 = fill(10 * million);
}

}  // namespace tilehash::bench
