// SPDX-License-Identifier: Apache-2.0
// The promises of the layouts: every point has a key of its own and is found by it again; keys of a full grid
// are 0, 1, 2, ...; Hilbert's curve goes one step at a time; Morton order and bit reversal are what the paper
// says; and a grid too large for the keys is refused.
#include <contract/random.hpp>
#include <tilehash/core/layout.hpp>
#include <tilehash/papers/layouts/bit_reversal.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tilehash {
namespace {

// ---- known values, at compile time ----

constexpr grid_point<2> wide{100, 50};
static_assert(row_major<u32, 2>(wide).encode({7, 3}) == 307);
static_assert(row_major<u32, 2>(wide).decode(307) == grid_point<2>{7, 3});
static_assert(row_major<u32, 2>(wide).max_key() == 4999);
static_assert(row_major<u64, 3>({1 << 20, 1 << 20, 1 << 20}).encode({1, 2, 3}) ==
              (u64(3) << 40 | u64(2) << 20 | 1));

constexpr morton<u32, 2> z_order({65536, 65536});
static_assert(z_order.encode({0b11, 0b01}) == 0b0111);  // y's bits are above x's
static_assert(z_order.encode({65535, 0}) == 0x55555555 && z_order.encode({0, 65535}) == 0xaaaaaaaa);
static_assert(z_order.decode(0b100110) == grid_point<2>{0b010, 0b101});
static_assert(z_order.max_key() == ~u32(0) && morton<u32, 2>(wide).max_key() == 128 * 128 - 1);
static_assert(morton<u64, 2>({~0U, ~0U}).encode({~1U, ~0U}) == ~u64(1));
static_assert(morton<u32, 3>({1024, 1024, 1024}).encode({0b101, 0b110, 0b011}) == 0b011'110'101);
static_assert(morton<u64, 3>({1 << 21, 1, 1}).encode({(1 << 21) - 1, 0, 0}) == 0x1249249249249249);

// M(s(x), s(y)), with s over the bits of the grid.
static_assert(papers::bit_reversal<u32, 2>({16, 16}).encode({0b0001, 0b1000}) == 0b01'00'00'10);
static_assert(papers::bit_reversal<u32, 2>({8, 8}).encode({1, 0}) == 0b01'00'00);

// As the header draws it.
constexpr hilbert<u32, 2> curve({4, 4});
constexpr u32 drawn[4][4] = {{0, 1, 14, 15}, {3, 2, 13, 12}, {4, 7, 8, 11}, {5, 6, 9, 10}};
static_assert([] {
  for (u32 y = 0; y < 4; ++y) {
    for (u32 x = 0; x < 4; ++x) {
      if (curve.encode({x, y}) != drawn[y][x]) return false;
    }
  }
  return true;
}());

// ---- every point of small grids ----

template <class Layout>
class layouts : public testing::Test {};

using all_layouts =
    testing::Types<row_major<u32, 2>, row_major<u64, 2>, row_major<u32, 3>, row_major<u64, 3>, morton<u32, 2>,
                   morton<u64, 2>, morton<u32, 3>, morton<u64, 3>, hilbert<u32, 2>, hilbert<u64, 2>,
                   hilbert<u32, 3>, hilbert<u64, 3>, papers::bit_reversal<u32, 2>,
                   papers::bit_reversal<u64, 2>, papers::bit_reversal<u32, 3>, papers::bit_reversal<u64, 3>>;
TYPED_TEST_SUITE(layouts, all_layouts);

template <class Layout>
inline constexpr u32 dimensions = sizeof(typename Layout::point_type) / 4;

// use(point) for all points of a grid.
template <u32 D, class Use>
void for_points(const grid_point<D>& extents, Use use) {
  u64 points = 1;
  for (const u32 n : extents.at) points *= n;
  for (u64 i = 0; i < points; ++i) use(row_major<u64, D>(extents).decode(i));
}

template <u32 D>
std::vector<grid_point<D>> small_grids() {
  if constexpr (D == 2)
    return {{1, 1}, {2, 2}, {64, 64}, {1, 9}, {37, 5}, {33, 32}};
  else
    return {{1, 1, 1}, {2, 2, 2}, {16, 16, 16}, {3, 1, 17}, {5, 9, 7}};
}

TYPED_TEST(layouts, give_every_point_a_key_of_its_own) {
  constexpr u32 d = dimensions<TypeParam>;
  for (const auto& extents : small_grids<d>()) {
    const TypeParam layout(extents);
    std::vector<bool> taken(layout.max_key() + 1);
    u64 points = 0;
    for_points<d>(extents, [&](const grid_point<d>& p) {
      const auto key = layout.encode(p);
      ASSERT_LE(key, layout.max_key());
      EXPECT_FALSE(taken[key]);
      EXPECT_EQ(layout.decode(key), p);
      taken[key] = true;
      ++points;
    });
    if (extents.at[0] == 64 || extents.at[0] == 16) {  // a power of two along every axis
      EXPECT_EQ(points, taken.size());
    }
  }
}

TYPED_TEST(layouts, find_points_of_large_grids_again) {
  using key = typename TypeParam::key_type;
  constexpr u32 d = dimensions<TypeParam>;
  typename TypeParam::point_type extents{};
  const u32 bits = std::min(32U, u32(8 * sizeof(key)) / d);
  for (u32& n : extents.at) n = bits == 32 ? ~0U : 1U << bits;
  const TypeParam layout(extents);
  std::mt19937_64 random(contract::run_seed());
  for (int i = 0; i < 20'000; ++i) {
    typename TypeParam::point_type p{};
    for (u32 k = 0; k < d; ++k) p[k] = static_cast<u32>(random()) % extents[k];
    const key its = layout.encode(p);
    ASSERT_LE(its, layout.max_key());
    ASSERT_EQ(layout.decode(its), p);
  }
}

TYPED_TEST(layouts, refuse_a_grid_larger_than_the_keys) {
  using key = typename TypeParam::key_type;
  constexpr u32 d = dimensions<TypeParam>;
  typename TypeParam::point_type extents{};
  for (u32& n : extents.at) n = ~0U;
  if (d * 32 > 8 * sizeof(key)) {
    try {
      const TypeParam layout(extents);
      ADD_FAILURE() << "it was taken";
    } catch (const invalid_argument& e) {
      const std::string grid = d == 2 ? "4294967295 x 4294967295" : "4294967295 x 4294967295 x 4294967295";
      EXPECT_EQ(e.what(), "tilehash: " + std::string(TypeParam::name) + ": a grid of " + grid +
                              " points takes keys of " + std::to_string(d * 32) + " bits, but these have " +
                              std::to_string(8 * sizeof(key)) + ": take wider keys, or a smaller grid");
    }
  }
  extents[1] = 0;
  EXPECT_THROW(TypeParam{extents}, invalid_argument);
}

TEST(row_major_layout, takes_grids_up_to_the_last_key) {
  EXPECT_EQ((row_major<u32, 2>({65536, 65536}).max_key()), ~0U);
  EXPECT_THROW((row_major<u32, 2>({65536, 65537})), invalid_argument);
  EXPECT_EQ((row_major<u64, 3>({1U << 22, 1U << 21, 1U << 21}).max_key()), ~u64(0));
  EXPECT_THROW((row_major<u64, 3>({1U << 22, 1U << 21, (1U << 21) + 1})), invalid_argument);
}

// ---- what makes Hilbert's curve one ----

template <class Layout>
void expect_steps_of_one(u32 side) {
  constexpr u32 d = dimensions<Layout>;
  grid_point<d> extents{};
  for (u32& n : extents.at) n = side;
  const Layout layout(extents);
  EXPECT_EQ(layout.decode(0), grid_point<d>{});
  for (typename Layout::key_type key = 1; key <= layout.max_key(); ++key) {
    const auto from = layout.decode(key - 1), to = layout.decode(key);
    u32 steps = 0;
    for (u32 i = 0; i < d; ++i) steps += std::max(from[i], to[i]) - std::min(from[i], to[i]);
    ASSERT_EQ(steps, 1) << "from key " << key - 1;
  }
}

TEST(hilbert_layout, goes_one_step_at_a_time) {
  for (const u32 side : {2U, 4U, 8U, 128U}) expect_steps_of_one<hilbert<u32, 2>>(side);
  for (const u32 side : {2U, 4U, 32U}) expect_steps_of_one<hilbert<u32, 3>>(side);
}

}  // namespace
}  // namespace tilehash
