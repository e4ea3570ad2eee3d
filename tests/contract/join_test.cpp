// SPDX-License-Identifier: Apache-2.0
#include <contract/faulty.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct join_ground : ground<cpu, faulty_host> {
  join_ground() : ground(2) {}
};
}  // namespace tilehash::contract

#include <contract/join.hpp>
#include <contract/join_without_memory.hpp>

namespace tilehash::contract {
#if TILEHASH_FEW_TYPES
using join_keys = ::testing::Types<u32, double>;
using keys_without_memory = ::testing::Types<double>;
#else
using join_keys =
    ::testing::Types<u32, u64, float, double, std::int16_t, std::array<u32, 2>, std::array<u64, 3>>;
using keys_without_memory = join_keys;
#endif
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, joins, join_keys);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, joins_without_memory, keys_without_memory);
}  // namespace tilehash::contract
