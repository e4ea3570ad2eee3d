// Designs of each kind that grows, in a cpu of two threads; every one in scripts/test.sh --all.
#include <tilehash/space/cpu.hpp>

#if TILEHASH_HAS_RAPIDCHECK
namespace tilehash::contract {
struct sequence_space : cpu {
  sequence_space() : cpu(2) {}
};
inline constexpr u64 sequence_count = 60;
}  // namespace tilehash::contract

#include <contract/sequences.hpp>
#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/cuckoo.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/designs/linear_probing.hpp>
#include <tilehash/designs/mega_kv.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/designs/tiled.hpp>
#include <tilehash/engine/subtables.hpp>

namespace tilehash::contract {

using growing =
    ::testing::Types<dynamic_cuckoo<u32, u32>, dynamic_cuckoo<u64, u64, 5, reach::two>,
#if defined(TILEHASH_ALL_DESIGNS)
                     cuckoo<u32, u32>, horton<u32, u32>, linear_probing<u32, u32>, tiled<u32, u32>,
#endif
                     bucketed_cuckoo<u32, u32>, mega_kv<u32, u32>, robin_hood<u32, u32>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OnCpu, sequences, growing);

}  // namespace tilehash::contract
#endif
