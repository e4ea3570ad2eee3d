// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include <tilehash/designs/double_hashing.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/papers/quadratic_probing.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;

// clang-format off
using types = testing::Types<
#if !TILEHASH_FEW_TYPES
    with_width<papers::quadratic_probing<u64, u32>, 1>,
    with_width<double_hashing<u16, u8>, 16>,
    with_width<double_hashing<double, i64>, 32>,
    with_width<linear_probing<u32, void>, 4>,
#endif
    with_width<double_hashing<u32, u32>, 1>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(OpenAddressing, EmulatedDesign, types);

// The keys that look like the marks of free slots are erased from their cells: no free slot is taken for one,
// which would leave a tombstone there.
TEST(OpenAddressing, ErasesOfMarksLeaveTheSlots) {
  using design = linear_probing<u32, u32>;
  driver<design> d({.seed = 1}, 500, {.load_factor = 0.8, .grow = false});
  d.put(make_keys<u32>(500, pattern::distinct, 42), false);
  d.compare();
  const auto slots = [&] {
    const auto view = d.get().view().design;
    return std::vector<design::word>(view.slots(), view.slots() + view.capacity());
  };
  const auto before = slots();
  std::vector<u32> marks;
  for (u32 i = 0; i < 100; ++i) {
    marks.push_back(design::slot_type::decode(design::slot_type::empty_mark));
    marks.push_back(design::slot_type::decode(design::slot_type::tombstone_mark));
  }
  d.erase(marks);
  d.erase(marks);
  d.look_up(marks);
  EXPECT_EQ(slots(), before);
}

// A NaN is refused once, by the phase that meets it: no later one counts it again.
TEST(OpenAddressing, RefusesEachNaNOnce) {
  for (const bool grows : {false, true}) {
    emulated space({.seed = 3});
    table<linear_probing<double, std::int64_t>, emulated> t(space, 100, {.seed = 5, .grow = grows});
    std::vector<double> keys(100);
    for (u64 i = 0; i < keys.size(); ++i)
      keys[i] = i % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i);
    const std::vector<std::int64_t> values(keys.size(), 9);
    const buffer<double, emulated> k(space, keys);
    const buffer<std::int64_t, emulated> v(space, values);
    EXPECT_EQ(t.insert(space, k.span(), v.span()), (insert_report{.inserted = 86, .refused = 14}));
    EXPECT_EQ(t.size(), 86U);
  }
}

}  // namespace tilehash::designs_test
