#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct view_space : cpu {
  view_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/view.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, views, view_designs);
}  // namespace tilehash::contract
