// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <limits>
#include <string>

#include <contract/faulty.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct multi_ground : ground<cpu, faulty_host> {
  multi_ground() : ground(2) {}
};
}  // namespace tilehash::contract

#include <contract/multi.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/papers/mega_kv.hpp>

// Over any design that maps a key to 32 bits.
namespace tilehash::contract {
namespace {

template <class Design>
class multimaps_over : public multimaps<Design> {};
using over_types =
    ::testing::Types<multi<u32, u32, horton<u32, u32>>, multi<u32, u32, papers::mega_kv<u32, u32>>,
                     multi<wide, u32, indexed<wide, void, murmur, linear_probing<u64, u32>>>>;
TYPED_TEST_SUITE(multimaps_over, over_types);

TYPED_TEST(multimaps_over, all_builds_answer_like_the_model) {
  random_numbers random("ids of other designs");
  const u64 n = scaled(40'000, 2'000);
  this->check(keys_by<typename TypeParam::key_type>(n, [&](u64) { return mix64(random.below(n / 3)); }),
              random);
}

// Items with a NaN are refused, whichever way the others are built; 0.0 and -0.0 are one key.
using multimap_of_floats = multimaps<multi<float, u32>>;
TEST_F(multimap_of_floats, refuses_nan) {
  SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
  random_numbers random("multimap of floats");
  const float infinity = std::numeric_limits<float>::infinity();
  for (const u64 n : {u64(900), u64(40'000)}) {  // the larger ones go by regions, too
    for (const u64 different : {u64(90), n / 2}) {
      SCOPED_TRACE(std::to_string(n) + " items, " + std::to_string(different) + " keys");
      std::vector<float> keys(n);
      for (u64 i = 0; i < n; ++i) {
        const auto payload = static_cast<u32>(1 + random.below((u64(1) << 23) - 1));
        const float sign = random.one_in(2) ? 1.0F : -1.0F;
        keys[i] = i % 5 == 4 ? std::bit_cast<float>((std::bit_cast<u32>(infinity * sign)) | payload)
                             : sign * static_cast<float>(random.below(different / 2));
      }
      check(keys, random);
      std::ranges::fill(keys, std::numeric_limits<float>::quiet_NaN());
      check(keys, random);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tilehash::contract
