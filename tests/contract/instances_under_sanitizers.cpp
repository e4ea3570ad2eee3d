// SPDX-License-Identifier: Apache-2.0
// The pairs of types that tests/designs.cmake names for sanitizers, but for points (instances_of_points.cpp).
#include <contract/contract.hpp>

namespace tilehash::contract {

template void ask_all(const maker<u32, u32>&);
template void ask_all(const maker<u16, u8>&);
template void ask_all(const maker<double, std::int64_t>&);
template void ask_all(const maker<wide_key, wide_value>&);

}  // namespace tilehash::contract
