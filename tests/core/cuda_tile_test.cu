// SPDX-License-Identifier: Apache-2.0
// A GPU's tiles of every width, and the algorithms of the cuda space, against the same worked out on the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

namespace tilehash {
namespace {

// One tile's answers about one bucket.
template <class Slot>
struct verdict {
  u32 match, match_empty, match_tombstone;
  bool has, has_empty, found;
  typename Slot::value_bits value;
};

// Tile i asks bucket i for key_bits i; every lane must come to the same verdict.
template <class Slot, u32 Slots, u32 Width, bool Shared>
struct ask_buckets {
  const typename Slot::word* words;
  const typename Slot::key_bits* keys;
  verdict<Slot>* verdicts;  // one for each lane
  typename Slot::word* copies;
  u64 buckets;

  template <class Lane>
  __device__ void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    using bucket_type = bucket<Slot, Slots, decltype(lane.template tile<Width>())>;
    const u64 tile = lane.index() / Width;
    const bool active = tile < buckets;
    const auto* const base = words + (active ? tile : 0) * Slots;
    const auto b = Shared ? bucket_type::read_shared(t, base, active) : bucket_type::read(t, base, active);
    const auto bits = keys[active ? tile : 0];
    verdict<Slot> v{
        b.match(t, bits), b.match_empty(t), b.match_tombstone(t), b.has(t, bits), b.has_empty(t), false, 0};
    const auto a = b.look_up(t, bits);
    v.found = a.what == lookup_state::found;
    v.value = v.found ? a.value : 0;
    if (active) verdicts[lane.index()] = v;
    for (u32 i = 0; i < Slots; ++i) {
      const auto w = b.at(t, i);
      if (active && t.rank() == 0) copies[tile * Slots + i] = w;
    }
  }
};

template <class Slot, u32 Slots, u32 Width, bool Shared>
void check_width(cuda& gpu) {
  SCOPED_TRACE(testing::Message() << Slots << " slots of " << sizeof(typename Slot::word) << " bytes, "
                                  << Width << " lanes");
  using word = typename Slot::word;
  using key_bits = typename Slot::key_bits;
  const u64 buckets = 333;
  std::mt19937_64 random(contract::run_seed());
  const auto any_tag = [&] {
    const u64 x = random() % 5;
    return x == 0   ? Slot::empty_mark
           : x == 1 ? Slot::tombstone_mark
                    : Slot::encode(static_cast<typename Slot::key_type>(x));
  };
  std::vector<word> words(buckets * Slots);
  std::vector<key_bits> keys(buckets);
  for (word& w : words) {
    typename Slot::value_bits value = 0;
    if constexpr (!Slot::is_set)
      value = detail::to_bits<typename Slot::value_bits>(static_cast<typename Slot::mapped_type>(random()));
    w = Slot::pack(any_tag(), value);
  }
  for (key_bits& t : keys) t = any_tag();
  const buffer<word, cuda> w(gpu, std::span<const word>(words)), copies(gpu, words.size());
  const buffer<key_bits, cuda> t(gpu, std::span<const key_bits>(keys));
  buffer<verdict<Slot>, cuda> verdicts(gpu, buckets * Width);
  gpu.fill(reinterpret_cast<char*>(verdicts.data()), verdicts.bytes(),
           char(0));  // the gaps between members too
  gpu.for_each_lane(buckets * Width, ask_buckets<Slot, Slots, Width, Shared>{
                                         w.data(), t.data(), verdicts.data(), copies.data(), buckets});
  gpu.synchronize();
  ASSERT_TRUE(copies.to_host() == words);
  const auto got = verdicts.to_host();
  for (u64 i = 0; i < buckets * Width; ++i) {
    const u64 b = i / Width;
    u32 match = 0, empty = 0, erased = 0;
    for (u32 k = 0; k < Slots; ++k) {
      const key_bits here = Slot::key_of(words[b * Slots + k]);
      match |= u32(here == keys[b]) << k;
      empty |= u32(here == Slot::empty_mark) << k;
      erased |= u32(here == Slot::tombstone_mark) << k;
    }
    ASSERT_EQ(got[i].match, match);
    ASSERT_EQ(got[i].match_empty, empty);
    ASSERT_EQ(got[i].match_tombstone, erased);
    ASSERT_EQ(got[i].has, match != 0);
    ASSERT_EQ(got[i].has_empty, empty != 0);
    ASSERT_EQ(got[i].found, match != 0);
    bool right = match == 0;  // of equal keys, which no table has, either value will do
    for (u32 k = 0; k < Slots; ++k)
      right |= (match >> k & 1) != 0 && got[i].value == Slot::value_of(words[b * Slots + k]);
    ASSERT_TRUE(right);
  }
}

template <class Slot, u32 Slots>
void check_widths() {
  cuda gpu;
  check_width<Slot, Slots, 1, false>(gpu);
  check_width<Slot, Slots, 2, true>(gpu);
  check_width<Slot, Slots, 4, false>(gpu);
  check_width<Slot, Slots, 4, true>(gpu);
  check_width<Slot, Slots, 8, false>(gpu);
  check_width<Slot, Slots, 16, true>(gpu);
  check_width<Slot, Slots, 32, false>(gpu);
}

TEST(cuda_tile, buckets_of_64_bytes) {
  check_widths<slot<u32, u32>, 8>();
  check_widths<slot<u64, u64>, 4>();
}
TEST(cuda_tile, buckets_of_other_sizes) {
  check_widths<slot<u32, u32>, 1>();
  check_widths<slot<u32, void>, 32>();
}

// ---- the space -----------------------------------------------------------------------------------------
struct count_lanes {
  u64 n;
  u64 *tallied, *length, *list;
  template <class Lane>
  __device__ void operator()(Lane lane) const {
    const bool yes = lane.index() < n && lane.index() % 3 == 0;
    lane.tally(tallied, yes);
    const u64 at = lane.append(length, yes);
    if (yes) list[at] = lane.index();
  }
};

TEST(cuda_space, lanes_tally_and_append) {
  cuda gpu;
  for (u64 n : {u64(1), u64(31), u64(256), u64(257), u64(100'000)}) {
    const buffer<u64, cuda> counters(gpu, 2), list(gpu, n);
    gpu.fill(counters.data(), 2, u64(0));
    gpu.for_each_lane(n, count_lanes{n, counters.data(), counters.data() + 1, list.data()});
    const u64 expected = (n + 2) / 3;
    EXPECT_EQ(counters.to_host(), (std::vector<u64>{expected, expected}));
    auto listed = list.to_host();
    listed.resize(expected);
    std::sort(listed.begin(), listed.end());
    for (u64 i = 0; i < expected; ++i) ASSERT_EQ(listed[i], 3 * i);
  }
}

struct sum_in_scratch {
  u64* sums;
  template <class Block>
  __device__ void operator()(Block block) const {
    u32* const scratch = block.template scratch<u32>();
    for (u32 i = block.rank(); i < 1'000; i += block.size()) scratch[i] = i;
    block.barrier();
    u64 sum = 0;
    for (u32 i = 0; i < 1'000; ++i) sum += scratch[i];
    if (block.rank() == 0) sums[block.index()] = sum + block.index();
  }
};

TEST(cuda_space, blocks_share_scratch) {
  cuda gpu;
  for (u64 bytes : {4'000, 100'000}) {  // the second must be asked for
    const buffer<u64, cuda> sums(gpu, 50);
    gpu.for_each_block(50, 128, bytes, sum_in_scratch{sums.data()});
    const auto host = sums.to_host();
    for (u64 i = 0; i < 50; ++i) ASSERT_EQ(host[i], 499'500 + i);
  }
}

TEST(cuda_space, algorithms) {
  cuda gpu;
  EXPECT_FALSE(gpu.name().empty());
  for (u64 n : {u64(1), u64(5), u64(4'096), u64(100'001)}) {
    std::vector<u64> x(n), sums(n);
    for (u64 i = 0; i < n; ++i) x[i] = i * 7919 % 1009;
    const buffer<u64, cuda> from(gpu, std::span<const u64>(x)), to(gpu, n);
    gpu.exclusive_scan(from.data(), to.data(), n);
    gpu.exclusive_scan(from.data(), from.data(), n);
    for (u64 i = 1; i < n; ++i) sums[i] = sums[i - 1] + x[i - 1];
    EXPECT_EQ(to.to_host(), sums);
    EXPECT_EQ(from.to_host(), sums);
    const buffer<u64, cuda> sorted(gpu, std::span<const u64>(x));
    gpu.sort(sorted.data(), n);
    std::sort(x.begin(), x.end());
    EXPECT_EQ(sorted.to_host(), x);
    gpu.fill(sorted.data(), n, u64(3));
    EXPECT_EQ(sorted.to_host(), std::vector<u64>(n, 3));
    EXPECT_GE(gpu.time([&] { gpu.fill(sorted.data(), n, u64(4)); }), 0.0);
  }
}

}  // namespace
}  // namespace tilehash
