// SPDX-License-Identifier: Apache-2.0
// Built without CUDA.
#include "queries.hpp"

namespace hash_join {

int wrong_on_gpu(const tables& /*t*/, const answers& /*known*/) { return 0; }

}  // namespace hash_join
