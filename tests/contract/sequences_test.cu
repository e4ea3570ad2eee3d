// One design of each kind that grows; the others have a unit each (sequences.in).
#if TILEHASH_HAS_RAPIDCHECK
#include <contract/sequence_space.cuh>
#include <contract/sequences.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/papers/mega_kv.hpp>

namespace tilehash::contract {

using growing = ::testing::Types<dynamic_cuckoo<u32, u32>, dynamic_cuckoo<u64, u64, 5, reach::two>,
                                 bucketed_cuckoo<u32, u32>, papers::mega_kv<u32, u32>, robin_hood<u32, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, sequences, growing);

}  // namespace tilehash::contract
#endif
