#pragma once

#include <string>

namespace tilehash::bench {

struct gpu_facts {
  std::string name;
  std::string cuda_driver;  // the newest CUDA the driver knows
  std::string compiler;
};

// Of the current device; throws cuda_error where there is none.
gpu_facts describe_gpu();

}  // namespace tilehash::bench
