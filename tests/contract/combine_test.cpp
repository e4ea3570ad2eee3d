#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
using combining_space = tilehash::cpu;
}  // namespace tilehash::contract

#include <contract/combine.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, combining, combining_designs);
}  // namespace tilehash::contract
