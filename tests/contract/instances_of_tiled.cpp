// SPDX-License-Identifier: Apache-2.0
// The pairs of types that only tiled has in the tier quick, in addition to those for sanitizers.
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<u32, void>&);

}  // namespace tilehash::contract
