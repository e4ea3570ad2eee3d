// SPDX-License-Identifier: Apache-2.0
#if TILEHASH_HAS_RAPIDCHECK
#include <contract/growing_designs.hpp>
#include <contract/sequence_space.hpp>
#include <contract/sequences.hpp>

namespace tilehash::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(OnCpu, sequences, growing_designs);
}  // namespace tilehash::contract
#endif
