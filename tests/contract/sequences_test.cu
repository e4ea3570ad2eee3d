// The designs that grow, on a GPU; those that share most with others where TILEHASH_ALL_DESIGNS is set.
#include <tilehash/space/cuda.cuh>

#if TILEHASH_HAS_RAPIDCHECK
namespace tilehash::contract {
using sequence_space = ::tilehash::cuda;
inline constexpr u64 sequence_count = 100;
}  // namespace tilehash::contract

#include <contract/sequences.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/mega_kv.hpp>
#include <tilehash/engine/subtables.hpp>
#if defined(TILEHASH_ALL_DESIGNS)
#include <tilehash/designs/cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#endif

namespace tilehash::contract {

using growing =
    ::testing::Types<dynamic_cuckoo<u32, u32>, dynamic_cuckoo<u64, u64, 5, reach::two>, mega_kv<u32, u32>,
#if defined(TILEHASH_ALL_DESIGNS)
                     cuckoo<u32, u32>, horton<u32, u32>, linear_probing<u32, u32>, robin_hood<u32, u32>,
                     tiled<u32, u32>,
#endif
                     bucketed_cuckoo<u32, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, sequences, growing);

}  // namespace tilehash::contract
#endif
