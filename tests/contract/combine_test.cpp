#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct combining_space : cpu {
  combining_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/combine.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, combining, combining_designs);
}  // namespace tilehash::contract
