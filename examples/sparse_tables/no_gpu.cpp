// SPDX-License-Identifier: Apache-2.0
// Built without CUDA.
#include "tables.hpp"

namespace sparse_tables {

machine ask_on_gpu(const grid_data& /*data*/) { return {}; }

}  // namespace sparse_tables
