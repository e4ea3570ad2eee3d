// SPDX-License-Identifier: Apache-2.0
// Turnover under the GPU's schedule.
#include "emulated.hpp"

#include <contract/faulty.hpp>
#include <contract/random.hpp>

namespace tilehash::contract {
struct turnover_space : emulated {
  explicit turnover_space(faulty_host&) : emulated({.seed = run_seed(), .preempt = true}) {}
};
using turnover_memory = faulty_host;
inline constexpr u64 turnover_items = 300, turnover_rounds = 40;
}  // namespace tilehash::contract

#include <contract/turnover_forms.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(emulated, turnover_forms, turnover_designs);
}  // namespace tilehash::contract
