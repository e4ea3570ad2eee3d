// SPDX-License-Identifier: Apache-2.0
#include "lease.cuh"

namespace tilehash::python {

idle_spaces& idle() {
  static auto& all = *new idle_spaces;  // never freed: at exit CUDA may be gone before it
  return all;
}

}  // namespace tilehash::python
