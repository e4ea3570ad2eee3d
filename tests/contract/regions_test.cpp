#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct region_space : cpu {
  region_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/regions.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, regions, region_designs);
}  // namespace tilehash::contract
