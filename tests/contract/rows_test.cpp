#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct rows_space : cpu {
  rows_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/rows.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, rows, row_designs);
}  // namespace tilehash::contract
