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

}  // namespace
}  // namespace tilehash::contract
