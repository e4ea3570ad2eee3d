// SPDX-License-Identifier: Apache-2.0
// Golden values of every hash function, computed by golden_hashes.py, and what the functions promise: the
// mixers are bijections, the high bits are the good ones, fast_range() stays in range.
#include <contract/random.hpp>
#include <tilehash/core/hash.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <unordered_set>
#include <vector>

namespace tilehash {
namespace {

constexpr u64 wide_samples[] = {0, 1, 2, 0x123456789abcdef0, 0x8000000000000000, ~u64(0), ~u64(0) - 1};
constexpr u32 samples[] = {0, 1, 2, 0x12345678, 0x80000000, ~u32(0), ~u32(0) - 1};

constexpr u64 golden_mix64[] = {0x0000000000000000, 0xb456bcfc34c2cb2c, 0x3abf2a20650683e7,
                                0x18b8c062f6f42398, 0x8f780810af31a493, 0x64b5720b4b825f21,
                                0x3a8593886c55a02b};
constexpr u32 golden_mix32[] = {0x00000000, 0x514e28b7, 0x30f4c306, 0xe37cd1bc,
                                0x6d3c65a0, 0x81f16f39, 0x7995c304};
constexpr u64 golden_rehash[] = {0x0000000000000000, 0x9e3779b97f4a7c15, 0x3c6ef372fe94f82a,
                                 0x1b2b9f8044a51328, 0x3fa53e0a80000000, 0x80b583eb00000000,
                                 0x1eecfda47f4a7c15};
constexpr u64 golden_murmur_32[2][7] = {
    {0x0000000000000000, 0xb456bcfc34c2cb2c, 0x3abf2a20650683e7, 0xd930745910885960, 0xe3beca1f9a7e4886,
     0xcc71ecda2aa8bcc6, 0x0789620c2ee64a3e},
    {0x1270b07adc5ebe0b, 0x539b5e435e6a2be8, 0x883a34ed4825b866, 0x36fb0423f1031651, 0x76e3cb3773626369,
     0xcd4427872a04571e, 0x0c0c1437805b8c99}};
constexpr u64 golden_murmur_64[2][7] = {
    {0x0000000000000000, 0xb456bcfc34c2cb2c, 0x3abf2a20650683e7, 0x18b8c062f6f42398, 0x8f780810af31a493,
     0x64b5720b4b825f21, 0x3a8593886c55a02b},
    {0x1270b07adc5ebe0b, 0x539b5e435e6a2be8, 0x883a34ed4825b866, 0x2e129ef8c0fd4024, 0xf64b2e555eb09b2b,
     0xdddab0ef9047dd3b, 0x70e125f5a513a56d}};
constexpr u64 golden_murmur_128 = 0x5b17bbf9714323c1;
constexpr u64 golden_linear_polynomial_32[2][7] = {
    {0xba747c2700000000, 0xba747c2800000000, 0xba747c2900000000, 0xcca8d29f00000000, 0x3a747c2c00000000,
     0xba747c2b00000000, 0xba747c2a00000000},
    {0x342291f600000000, 0xb5421b6f00000000, 0x3661a4ed00000000, 0xef96bd1900000000, 0xf6f169a700000000,
     0x38a0b7e400000000, 0xb7812e6600000000}};
constexpr u64 golden_linear_polynomial_64[2][7] = {
    {0xba747c2700000000, 0x6ecb392800000000, 0xf533a64700000000, 0xd32d3c8900000000, 0x49ec843c00000000,
     0x1f29ee3700000000, 0xf4fa0faf00000000},
    {0x342291f600000000, 0x81965ffb00000000, 0x14106fb700000000, 0xaea0a93b00000000, 0xb3f0bcbf00000000,
     0x403d8cc700000000, 0x5247adf800000000}};
constexpr u64 golden_xor_polynomial_32[2][7] = {
    {0xba747c2700000000, 0xba747c2800000000, 0xba747c2900000000, 0xcca8d29f00000000, 0x3a747c2c00000000,
     0xba747c2b00000000, 0xba747c2a00000000},
    {0xaca995bc00000000, 0xaca995bd00000000, 0xaca995ba00000000, 0x9ed5e7b400000000, 0x2ca995c100000000,
     0xbb9b8e2f00000000, 0xbb9b8e2e00000000}};
constexpr u64 golden_xor_polynomial_64[2][7] = {
    {0xba747c2700000000, 0x6ecb392800000000, 0xf533a64700000000, 0xd32d3c8900000000, 0x49ec843c00000000,
     0x1f29ee3700000000, 0xf4fa0faf00000000},
    {0xaca995bc00000000, 0x00f4513500000000, 0x765abbdc00000000, 0x9462559a00000000, 0x2c219dd100000000,
     0x505503c300000000, 0x7625224400000000}};
constexpr u64 golden_jenkins_32[2][7] = {
    {0x6b4ed92700000000, 0xb48681b600000000, 0xe267b84c00000000, 0x027c548900000000, 0x7e7b3c1200000000,
     0xfe64c18200000000, 0x7e1dcac200000000},
    {0x3da8782e00000000, 0x1b79a58600000000, 0x6d42693600000000, 0x0c77e33a00000000, 0x9b7f2ef900000000,
     0x32134e6300000000, 0xa1e1054800000000}};
constexpr u64 golden_jenkins_64[2][7] = {
    {0x6b4ed92700000000, 0x093c590c00000000, 0xdf3e195b00000000, 0xfcc2a1e100000000, 0xa4208a7600000000,
     0x68e3fde200000000, 0x8a59983000000000},
    {0x3da8782e00000000, 0xccfcf8ee00000000, 0x51984e0c00000000, 0x7f9aafd800000000, 0xed316c5e00000000,
     0xac80754e00000000, 0xc2b1184700000000}};

template <class Hash, class Key, u64 N>
void expect_golden(const Key (&keys)[N], const u64 (&golden)[2][N]) {
  const u64 seeds[] = {0, 0x7469'6c65'6861'7368};
  for (u64 s = 0; s < 2; ++s) {
    for (u64 i = 0; i < N; ++i)
      EXPECT_EQ(Hash(seeds[s])(keys[i]), golden[s][i]) << "seed " << s << ", key " << i;
  }
}

TEST(golden, mix64) {
  for (u64 i = 0; i < std::size(wide_samples); ++i) EXPECT_EQ(mix64(wide_samples[i]), golden_mix64[i]);
}
TEST(golden, mix32) {
  for (u64 i = 0; i < std::size(samples); ++i) EXPECT_EQ(mix32(samples[i]), golden_mix32[i]);
}
TEST(golden, rehash) {
  for (u64 i = 0; i < std::size(wide_samples); ++i) EXPECT_EQ(rehash(wide_samples[i]), golden_rehash[i]);
}
TEST(golden, murmur) {
  expect_golden<murmur>(samples, golden_murmur_32);
  expect_golden<murmur>(wide_samples, golden_murmur_64);
  EXPECT_EQ(murmur(3)(static_cast<u128>(wide_samples[3]) << 64 | 42), golden_murmur_128);
}
TEST(golden, linear_polynomial) {
  expect_golden<linear_polynomial>(samples, golden_linear_polynomial_32);
  expect_golden<linear_polynomial>(wide_samples, golden_linear_polynomial_64);
}
TEST(golden, xor_polynomial) {
  expect_golden<xor_polynomial>(samples, golden_xor_polynomial_32);
  expect_golden<xor_polynomial>(wide_samples, golden_xor_polynomial_64);
}
TEST(golden, jenkins) {
  expect_golden<jenkins>(samples, golden_jenkins_32);
  expect_golden<jenkins>(wide_samples, golden_jenkins_64);
}

// ... of the same keys: what cannot be placed with one seed is placed with the next.
TEST(seeds, that_follow_each_other_give_other_hashes) {
  std::unordered_set<u64> first;
  for (u64 key = 0; key < 4096; ++key) first.insert(murmur(8)(key));
  for (u64 key = 0; key < 4096; ++key) ASSERT_FALSE(first.contains(murmur(9)(key)));
}

TEST(mixers, are_bijections) {
  std::mt19937_64 random(contract::run_seed());
  for (int i = 0; i < 200'000; ++i) {
    const u64 x = random(), y = u64(1) << i % 64;
    ASSERT_EQ(unmix64(mix64(x)), x);
    ASSERT_EQ(mix64(unmix64(x)), x);
    ASSERT_EQ(unmix64(mix64(y)), y);
    const u32 z = static_cast<u32>(x);
    ASSERT_EQ(unmix32(mix32(z)), z);
    ASSERT_EQ(mix32(unmix32(z)), z);
  }
  for (u32 x = 0; x < 1 << 16; ++x) {
    ASSERT_EQ(unmix32(mix32(x)), x);
    ASSERT_EQ(unmix32(mix32(x << 16)), x << 16);
    ASSERT_EQ(unmix32(mix32(~x)), ~x);
  }
}

// Half of the high 32 bits change when one bit of the key does.
template <class Hash, class Key>
void expect_avalanche(double least, double most) {
  std::mt19937_64 random(contract::run_seed());
  const Hash hash(random());
  const u32 bits = 8 * sizeof(Key);
  for (u32 bit = 0; bit < bits; ++bit) {
    double changed = 0;
    const int rounds = 400;
    for (int i = 0; i < rounds; ++i) {
      const Key key = static_cast<Key>(random());
      changed += std::popcount((hash(key) ^ hash(static_cast<Key>(key ^ Key(1) << bit))) >> 32);
    }
    EXPECT_GT(changed / rounds, least) << "bit " << bit;
    EXPECT_LT(changed / rounds, most) << "bit " << bit;
  }
}
TEST(avalanche, murmur) {
  expect_avalanche<murmur, u32>(15, 17);
  expect_avalanche<murmur, u64>(15, 17);
}

// Keys fall into 256 places about evenly: chi-squared within six standard deviations.
template <class Hash, class Next>
void expect_uniform(Next next) {
  const u64 buckets = 256, n = 100'000;
  const Hash hash(static_cast<u32>(contract::run_seed()));
  std::vector<double> count(buckets);
  for (u64 i = 0; i < n; ++i) ++count.at(fast_range(hash(next(i)), buckets));
  double chi = 0;
  for (double c : count) chi += (c - n / buckets) * (c - n / buckets) / (static_cast<double>(n) / buckets);
  EXPECT_LT(chi, buckets + 6 * std::sqrt(2.0 * buckets));
}
TEST(uniform, of_sequential_keys) {
  expect_uniform<murmur>([](u64 i) { return static_cast<u32>(i); });
  expect_uniform<murmur>([](u64 i) { return i << 32; });
  expect_uniform<murmur>([](u64 i) { return static_cast<u128>(i) << 64; });
}
TEST(uniform, of_random_keys) {
  std::mt19937_64 random(contract::run_seed());
  const auto any = [&](u64) { return random(); };
  expect_uniform<murmur>(any);
  expect_uniform<linear_polynomial>(any);
  expect_uniform<xor_polynomial>(any);
  expect_uniform<jenkins>(any);
  expect_uniform<identity>(any);
}

TEST(identity, keeps_the_order) {
  EXPECT_EQ(identity()(u32(5)), u64(5) << 32);
  EXPECT_EQ(identity()(u64(5)), 5U);
  EXPECT_EQ(identity()(static_cast<u128>(7) << 64 | 9), 7U);
}

TEST(fast_range, scales_from_the_top) {
  EXPECT_EQ(fast_range(0, 10), 0U);
  EXPECT_EQ(fast_range(~u64(0), 10), 9U);
  EXPECT_EQ(fast_range(u64(1) << 63, 10), 5U);
  EXPECT_EQ(fast_range(~u64(0), 1), 0U);
  EXPECT_EQ(fast_range(~u64(0), ~u64(0)), ~u64(0) - 1);
  for (u64 n : {1ULL, 2ULL, 3ULL, 1'000ULL, (1ULL << 33) + 1}) {
    u64 before = 0;
    for (u64 i = 0; i < 1'000; ++i) {  // monotonic and below n
      const u64 at = fast_range(i << 54 | i, n);
      EXPECT_LT(at, n);
      EXPECT_GE(at, before);
      before = at;
    }
  }
}

}  // namespace
}  // namespace tilehash
