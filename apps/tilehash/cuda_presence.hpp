// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tilehash::app {

// Empty where the cuda space can be used, else the reason. In cuda_presence.cu, or cuda_absence.cpp without
// CUDA.
std::string why_no_cuda();

struct gpu_facts {
  std::string name;
  std::string cuda_driver;  // the newest CUDA the driver knows
  std::string compiler;
};

// The facts of the current device; throws cuda_error if there is none.
gpu_facts describe_gpu();

}  // namespace tilehash::app
