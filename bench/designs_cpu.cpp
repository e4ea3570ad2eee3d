#include <tilehash/space/cpu.hpp>

#include "table_subject.hpp"

namespace tilehash::bench {

void register_designs_cpu(std::vector<subject>& all) {
  register_designs(all, "cpu", &app::design_entry::cpu_tables,
                   [](const yardstick_case& c) { return cpu{c.threads}; });
}

}  // namespace tilehash::bench
