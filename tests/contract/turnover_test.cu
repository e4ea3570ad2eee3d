// SPDX-License-Identifier: Apache-2.0
// Turnover on a GPU by each form of the verbs.
#include <tilehash/space/cuda.cuh>

#include <contract/faulty.cuh>

namespace tilehash::contract {
struct turnover_space : cuda {
  explicit turnover_space(faulty_device& memory) : cuda(nullptr, memory) {}
};
using turnover_memory = faulty_device;
inline constexpr u64 turnover_items = 200'000, turnover_rounds = 200;
}  // namespace tilehash::contract

#include <contract/turnover_forms.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, turnover_forms, turnover_designs);
}  // namespace tilehash::contract
