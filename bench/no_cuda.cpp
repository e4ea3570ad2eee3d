// Stands in for the CUDA sources in builds without CUDA, where no command gets as far as calling these.
#include <tilehash/core/error.hpp>

#include "aggregation.hpp"
#include "ceilings.hpp"
#include "gpu.hpp"
#include "thesis_multiplicity.hpp"

namespace tilehash::bench {

std::vector<ceiling> cuda_ceilings(std::span<const u64> /*sizes*/, unsigned /*repeat*/) {
  throw error("tilehash: this build has no CUDA");
}
std::vector<aggregation> cuda_aggregations(const aggregation_case& /*case*/, unsigned /*repeat*/) {
  throw error("tilehash: this build has no CUDA");
}
multiplicity_row cuda_multiplicity(const multiplicity_case& /*case*/, unsigned /*repeat*/) {
  throw error("tilehash: this build has no CUDA");
}
gpu_facts describe_gpu() { throw error("tilehash: this build has no CUDA"); }

}  // namespace tilehash::bench
