// SPDX-License-Identifier: Apache-2.0
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<double, std::int64_t>&);
template void ask_all(const maker<bitwise<float>, u32>&);

}  // namespace tilehash::contract
