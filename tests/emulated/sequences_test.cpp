// Sequences of calls under the GPU's schedule.
#include "emulated.hpp"

#if TILEHASH_HAS_RAPIDCHECK
namespace tilehash::contract {
using sequence_space = emulated;
inline constexpr u64 sequence_count = 20;
}  // namespace tilehash::contract

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
