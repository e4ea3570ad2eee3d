// SPDX-License-Identifier: Apache-2.0
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<u64, void>&);
template void ask_all(const maker<u64, u32>&);
template void ask_all(const maker<u64, u64>&);

}  // namespace tilehash::contract
