// SPDX-License-Identifier: Apache-2.0
// Sequences of calls under the GPU's schedule; other designs have a unit each (contract/sequences.in).
#if TILEHASH_HAS_RAPIDCHECK
#include "sequence_space.hpp"

#include <contract/sequences.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>

namespace tilehash::contract {

using growing =
    ::testing::Types<with_width<dynamic_cuckoo<u32, u32>, 4>, with_width<bucketed_cuckoo<u32, u32>, 8>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OnTheEmulatedGpu, sequences, growing);

}  // namespace tilehash::contract
#endif
