// SPDX-License-Identifier: Apache-2.0
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<ivec3, u32>&);
template void ask_all(const maker<ivec4, void>&);
template void ask_all(const maker<ivec4, u32>&);
template void ask_all(const maker<wide_key, wide_value>&);

}  // namespace tilehash::contract
