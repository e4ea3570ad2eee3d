// SPDX-License-Identifier: Apache-2.0
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<u8, void>&);
template void ask_all(const maker<u16, u8>&);

}  // namespace tilehash::contract
