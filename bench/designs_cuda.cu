// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cuda.cuh>

#include "garcia/one_slot.hpp"
#include "table_subject.hpp"

namespace tilehash::bench {
namespace {

void add_designs_cuda(std::vector<subject>& all, const std::vector<app::design_entry>& designs) {
  register_designs(all, designs, "cuda", &app::design_entry::cuda_tables,
                   [](const yardstick_case& /*case*/) { return cuda{}; });
}

}  // namespace

void register_designs_cuda(std::vector<subject>& all) { add_designs_cuda(all, app::all_designs().designs()); }
void register_one_slot_cuda(std::vector<subject>& all) {
  add_designs_cuda(all, one_slot_designs<true>(&app::design_entry::cuda_tables));
}

}  // namespace tilehash::bench
