// SPDX-License-Identifier: Apache-2.0
// The slots that a probe sequence visits.
#include <tilehash/designs/open_addressing/probe.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include <tilehash/core/capacity.hpp>

namespace tilehash::probe {
namespace {

// The first `length` slots of a key's sequence.
template <class Policy>
std::vector<u64> sequence(u64 home, u64 key, u64 capacity, u64 length) {
  std::vector<u64> visited;
  location p = Policy::start(home, key, capacity);
  for (u64 i = 0; i < length; ++i) {
    visited.push_back(p.at);
    advance<Policy>(p, capacity);
  }
  return visited;
}
u64 distinct(const std::vector<u64>& v) { return std::set<u64>(v.begin(), v.end()).size(); }

const u64 primes[] = {2, 3, 5, 7, 11, 37, 41, 43, 83, 101, 1'009, 4'099};

TEST(linear, visits_every_slot_in_order) {
  for (u64 capacity : {1ULL, 2ULL, 3ULL, 4ULL, 10ULL, 64ULL, 1'000ULL}) {
    const auto v = sequence<linear>(capacity / 2, 7, capacity, capacity);
    for (u64 i = 0; i < capacity; ++i) ASSERT_EQ(v[i], (capacity / 2 + i) % capacity);
  }
}

TEST(quadratic, visits_squares_and_half_of_a_prime_capacity) {
  for (u64 capacity : primes) {
    const auto v = sequence<quadratic>(capacity - 1, 7, capacity, capacity);
    for (u64 i = 0; i < capacity; ++i) ASSERT_EQ(v[i], (capacity - 1 + i * i) % capacity);
    EXPECT_EQ(distinct(v), capacity == 2 ? 2 : (capacity + 1) / 2);
  }
}

TEST(double_hash, visits_every_slot_of_a_prime_capacity) {
  for (u64 capacity : primes) {
    for (u64 key = 0; key < 100; ++key) {
      const auto v = sequence<double_hash>(key % capacity, key, capacity, capacity);
      ASSERT_EQ(distinct(v), capacity);
      if (capacity > double_hash::jump_prime) {
        for (u64 i = 0; i < capacity; ++i) ASSERT_EQ(v[i], (key % capacity + i * (1 + key % 41)) % capacity);
      }
    }
    EXPECT_NE(double_hash::start(0, ~u64(0), capacity).jump % capacity, 0U);
  }
}

// The longest sequence there is, and more.
TEST(large_tables, are_left_by_growing_jumps) {
  for (u64 capacity : {32'771ULL, 1'000'003ULL, 281'474'976'710'597ULL}) {
    const u64 home = capacity - 5, length = 12'000;
    const auto squares = sequence<quadratic>(home, 7, capacity, length);
    const auto multiples = sequence<double_hash>(home, 7, capacity, length);
    const auto neighbours = sequence<linear>(home, 7, capacity, length);
    u128 square = home, multiple = home;
    for (u64 i = 0; i < length; ++i) {
      ASSERT_EQ(squares[i], static_cast<u64>(square % capacity)) << i;
      ASSERT_EQ(multiples[i], static_cast<u64>(multiple % capacity)) << i;
      ASSERT_EQ(neighbours[i], (home + i) % capacity) << i;
      square += (i + 1) * (i + 1), multiple += (i + 1) * 8;
    }
    EXPECT_EQ(distinct(multiples), length);
  }
}

TEST(add_modulo, does_not_overflow) {
  const u64 n = ~u64(0);
  EXPECT_EQ(add_modulo(n - 1, n - 1, n), n - 2);
  EXPECT_EQ(add_modulo(0, n - 1, n), n - 1);
  EXPECT_EQ(add_modulo(1, n - 1, n), 0U);
  EXPECT_EQ(add_modulo(0, 0, 1), 0U);
  for (u64 a = 0; a < 13; ++a) {
    for (u64 b = 0; b < 13; ++b) EXPECT_EQ(add_modulo(a, b, 13), (a + b) % 13);
  }
}

}  // namespace
}  // namespace tilehash::probe
