// SPDX-License-Identifier: Apache-2.0
// The types of a list of tests that nvcc only reads, as no GPU of this machine will run them. One type of each
// engine will do: the program's sources have the kernels of all designs, and a machine with a GPU has all types.
#pragma once

#include <type_traits>

#if !defined(TILEHASH_ONLY_READ)
#define TILEHASH_ONLY_READ 0
#endif

namespace tilehash::contract {
template <class All, class Read>
using all_or_read = std::conditional_t<TILEHASH_ONLY_READ != 0, Read, All>;
}  // namespace tilehash::contract
