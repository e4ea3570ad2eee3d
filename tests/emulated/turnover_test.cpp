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

// The kernel of a call of more keys does not end the call.
TEST(Erases, OfManyKeys) {
  constexpr u32 n = static_cast<u32>(detail::tuning::gpu::ended_items) + 133, kept = 100;
  emulated space({.seed = run_seed()});
  table<linear_probing<u32, u32>, emulated> t(space, n);
  std::vector<u32> numbers(n);
  for (u32 i = 0; i < n; ++i) numbers[i] = i * 7 + 1;
  const buffer<u32, emulated> keys(space, numbers);
  ASSERT_EQ(t.insert(space, keys.span(), keys.span()).inserted, n);
  EXPECT_EQ(t.erase(space, keys.first(n - kept)), n - kept);
  EXPECT_EQ(t.size(), kept);
  EXPECT_EQ(t.erase(space, keys.span()), kept);  // the others are absent
  EXPECT_EQ(t.size(), 0U);
}
}  // namespace tilehash::contract
