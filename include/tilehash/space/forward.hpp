// SPDX-License-Identifier: Apache-2.0
// Declares the spaces for users, for headers that only pass them on.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

class cpu;
class cuda;

namespace detail {

struct no_space;  // the space of a map that names none

// The widest word that a space changes atomically, in bytes: 8 or 16. (In a unit for both GPUs before sm_90
// and newer ones, `cuda` has the width of the oldest.)
template <class Space>
inline constexpr u32 widest_atomic = 16;
template <>
inline constexpr u32 widest_atomic<cuda> = widest_device_atomic;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(cpu);
TILEHASH_PUBLIC(cuda);
}  // namespace tilehash
