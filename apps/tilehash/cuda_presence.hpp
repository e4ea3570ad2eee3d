#pragma once

#include <string>

namespace tilehash::app {

// Empty where the cuda space can be used, else the reason. In cuda_presence.cu, or cuda_absence.cpp without
// CUDA.
std::string why_no_cuda();

}  // namespace tilehash::app
