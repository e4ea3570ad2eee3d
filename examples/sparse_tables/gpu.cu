// SPDX-License-Identifier: Apache-2.0
// The same tables on a GPU.
#include <tilehash/space/cuda.cuh>

#include "ask.hpp"

namespace sparse_tables {

machine ask_on_gpu(const grid_data& data) {
  if (!tilehash::cuda::available()) return {};
  tilehash::cuda space;
  return ask_tables(space, data, [](const auto& /*table*/, answered& /*result*/) {});
}

}  // namespace sparse_tables
