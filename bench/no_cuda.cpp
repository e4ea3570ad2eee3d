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

[[noreturn]] static void missing() { throw error("tilehash: this build has no CUDA"); }

std::vector<ceiling> cuda_ceilings(std::span<const u64>, unsigned) { missing(); }
access_rates cuda_access_rates(u64) { missing(); }
std::vector<aggregation> cuda_aggregations(const aggregation_case&, unsigned) { missing(); }
multiplicity_row cuda_multiplicity(const multiplicity_case&, unsigned) { missing(); }
cuckoo_row cuda_cuckoo(const cuckoo_case&) { missing(); }
two_level_row cuda_two_level(const two_level_case&) { missing(); }
void cuda_growth(const growth_case&, const tell_growth&) { missing(); }
void cuda_calls(const calls_case&, const tell_call&) { missing(); }
std::optional<tail_row> cuda_tail(const std::string&, const tail_case&, known_limits&, unsigned) {
  missing();
}
void cuda_shapes(std::span<const shape>, const shapes_case&, const tell_shape&) { missing(); }
void register_one_slot_cuda(std::vector<subject>&) { missing(); }
void cuda_joins(const join_case&, const std::vector<std::string>&, unsigned, const tell_join&) { missing(); }
void cuda_updates(const std::vector<updates_case>&, unsigned, const tell_updates&) { missing(); }
void cuda_cells(const cells_case&, const std::vector<std::string>&, const tell_cells&) { missing(); }
void cuda_dynamic(dynamic_experiment, const dynamic_case&, const tell_dynamic&) { missing(); }

}  // namespace tilehash::bench
