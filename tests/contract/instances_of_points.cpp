// SPDX-License-Identifier: Apache-2.0
// The pairs that tests/designs.cmake names for sanitizers and that the tier quick leaves out.
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<ivec3, u32>&);
template void ask_all(const maker<ivec4, u32>&);

}  // namespace tilehash::contract
