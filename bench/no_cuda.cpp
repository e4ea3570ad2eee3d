// SPDX-License-Identifier: Apache-2.0
// Replaces the CUDA sources in builds without CUDA, in which no command calls these.
#include <tilehash/core/error.hpp>

#include "alcantara/thesis_cuckoo.hpp"
#include "alcantara/thesis_multiplicity.hpp"
#include "alcantara/thesis_two_level.hpp"
#include "garcia/coherent_rates.hpp"
#include "kolushev/hashgraph_cells.hpp"
#include "kolushev/hashgraph_join.hpp"
#include "kolushev/hashgraph_updates.hpp"
#include "li/dynamic.hpp"
#include "ours/aggregation.hpp"
#include "ours/calls.hpp"
#include "ours/ceilings.hpp"
#include "ours/growth.hpp"
#include "ours/shapes.hpp"
#include "ours/tail.hpp"

namespace tilehash::bench {

std::vector<ceiling> cuda_ceilings(std::span<const u64> /*sizes*/, unsigned /*repeat*/) {
  throw error("tilehash: this build has no CUDA");
}
access_rates cuda_access_rates(u64 /*bytes*/) { throw error("tilehash: this build has no CUDA"); }
std::vector<aggregation> cuda_aggregations(const aggregation_case& /*case*/, unsigned /*repeat*/) {
  throw error("tilehash: this build has no CUDA");
}
multiplicity_row cuda_multiplicity(const multiplicity_case& /*case*/, unsigned /*repeat*/) {
  throw error("tilehash: this build has no CUDA");
}
cuckoo_row cuda_cuckoo(const cuckoo_case& /*case*/) { throw error("tilehash: this build has no CUDA"); }
two_level_row cuda_two_level(const two_level_case& /*case*/) {
  throw error("tilehash: this build has no CUDA");
}
void cuda_growth(const growth_case& /*case*/, const tell_growth& /*tell*/) {
  throw error("tilehash: this build has no CUDA");
}
void cuda_calls(const calls_case& /*case*/, const tell_call& /*tell*/) {
  throw error("tilehash: this build has no CUDA");
}
std::optional<tail_row> cuda_tail(const std::string& /*design*/, const tail_case& /*case*/,
                                  known_limits& /*known*/, unsigned /*repeat*/) {
  throw error("tilehash: this build has no CUDA");
}
void cuda_shapes(std::span<const shape> /*shapes*/, const shapes_case& /*case*/, const tell_shape& /*tell*/) {
  throw error("tilehash: this build has no CUDA");
}
void register_one_slot_cuda(std::vector<subject>& /*all*/) {
  throw error("tilehash: this build has no CUDA");
}
void cuda_joins(const join_case& /*case*/, const std::vector<std::string>& /*designs*/, unsigned /*repeat*/,
                const tell_join& /*tell*/) {
  throw error("tilehash: this build has no CUDA");
}
void cuda_updates(const std::vector<updates_case>& /*cases*/, unsigned /*repeat*/,
                  const tell_updates& /*tell*/) {
  throw error("tilehash: this build has no CUDA");
}
void cuda_cells(const cells_case& /*case*/, const std::vector<std::string>& /*designs*/,
                const tell_cells& /*tell*/) {
  throw error("tilehash: this build has no CUDA");
}
void cuda_dynamic(dynamic_experiment /*what*/, const dynamic_case& /*case*/, const tell_dynamic& /*tell*/) {
  throw error("tilehash: this build has no CUDA");
}

}  // namespace tilehash::bench
