// SPDX-License-Identifier: Apache-2.0
// The first pair of types that each entry of tests/designs.cmake names for sanitizers.
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<u32, u32>&);
template void ask_all(const maker<wide_key, wide_value>&);

}  // namespace tilehash::contract
