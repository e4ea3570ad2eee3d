// SPDX-License-Identifier: Apache-2.0
#include <tilehash/space/cpu.hpp>

#include "garcia/one_slot.hpp"
#include "table_subject.hpp"

namespace tilehash::bench {
namespace {

void add_designs_cpu(std::vector<subject>& all, const std::vector<app::design_entry>& designs) {
  register_designs(all, designs, "cpu", &app::design_entry::cpu_tables,
                   [](const yardstick_case& c) { return cpu{c.threads}; });
}

}  // namespace

void register_designs_cpu(std::vector<subject>& all) { add_designs_cpu(all, app::all_designs().designs()); }
void register_peers_cpu(std::vector<subject>& all) { add_designs_cpu(all, app::all_peers().designs()); }
void register_one_slot_cpu(std::vector<subject>& all) {
  add_designs_cpu(all, one_slot_designs<false>(&app::design_entry::cpu_tables));
}

}  // namespace tilehash::bench
