// SPDX-License-Identifier: Apache-2.0
// Built without CUDA.
#include "paint.hpp"

namespace sparse_paint {

count run_on_gpu(const settings& /*s*/, picture& /*last*/) { return 0; }

}  // namespace sparse_paint
