#include <tilehash/space/cuda.cuh>

#include "table_subject.hpp"

namespace tilehash::bench {

void register_designs_cuda(std::vector<subject>& all) {
  register_designs(all, "cuda", &app::design_entry::cuda_tables,
                   [](const yardstick_case& /*case*/) { return cuda{}; });
}

}  // namespace tilehash::bench
