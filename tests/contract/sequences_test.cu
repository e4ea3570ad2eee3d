#include <tilehash/space/cuda.cuh>

#if TILEHASH_HAS_RAPIDCHECK
namespace tilehash::contract {
using sequence_space = ::tilehash::cuda;
inline constexpr u64 sequence_count = 100;
}  // namespace tilehash::contract

#include <contract/sequences.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/engine/subtables.hpp>

namespace tilehash::contract {

using growing = ::testing::Types<dynamic_cuckoo<u32, u32>, dynamic_cuckoo<u64, u64, 5, reach::two>,
                                 bucketed_cuckoo<u32, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, sequences, growing);

}  // namespace tilehash::contract
#endif
