#include <contract/growth_memory.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>

#include "designs_test.hpp"

namespace tilehash::designs_test {

using i64 = std::int64_t;
template <class Key, class Value>
using with_two = dynamic_cuckoo<Key, Value, 3, reach::two>;

// clang-format off
using dynamic_types = testing::Types<
#if !TILEHASH_FEW_TYPES
    with_width<dynamic_cuckoo<u32, u32>, 1>,
    with_width<dynamic_cuckoo<u32, u32, 8>, 32>,
    with_width<with_two<u64, u64>, 16>,
    with_width<with_two<u32, u32>, 4>,
#endif
    with_width<dynamic_cuckoo<u32, u32>, 4>,
    with_width<dynamic_cuckoo<double, i64, 2>, 2>>;
// clang-format on

INSTANTIATE_TYPED_TEST_SUITE_P(Dynamic, EmulatedDesign, dynamic_types);

// Grown from nothing, shrunk to nothing, and grown again, a batch at a time.
TEST(EmulatedDynamic, FollowsItsItems) {
  for (u64 seed = 1; seed <= (small() ? 1U : 2U); ++seed) {
    driver<with_width<with_two<u32, u32>, 4>> d({.seed = seed, .preempt = true}, 0, {});
    const u64 n = small() ? 1'000 : 8'000, batch = n / 10;
    const auto keys = make_keys<u32>(n, pattern::some_twice, seed);
    for (u32 round = 0; round < (small() ? 1U : 2U); ++round) {
      for (u64 i = 0; i < n; i += batch) d.put(part(keys, i, i + batch), false);
      d.look_up(keys);
      d.compare();
      for (u64 i = 0; i < n; i += batch) d.erase(part(keys, i, i + batch));
      d.look_up(keys);
      EXPECT_LT(d.get().capacity(), n);
    }
  }
}

// So many that they go by regions, of which a block builds each in its scratch.
TEST(EmulatedDynamic, ManyGoByRegions) {
  const u64 n = 34'000;
  driver<dynamic_cuckoo<u32, u32>> d({.seed = 1, .preempt = true}, n, {.load_factor = 0.9});
  const auto keys = make_keys<u32>(n, pattern::some_twice, 1);
  d.put(keys, false, false);
  d.look_up(keys);
  d.compare();
}

}  // namespace tilehash::designs_test
