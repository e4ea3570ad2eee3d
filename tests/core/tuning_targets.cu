// SPDX-License-Identifier: Apache-2.0
// The classes of tuning numbers in a unit for two GPUs: compiled for sm_75 and sm_90, and not run.
#include <type_traits>

#include <tilehash/space/tuning.hpp>

namespace tuning = tilehash::detail::tuning;

// A launch has the same class on the host and on both GPUs: that of the oldest.
static_assert(std::is_same_v<tuning::gpu, tuning::sm_75>);
#if !defined(__CUDA_ARCH__)
static_assert(std::is_same_v<tuning::gpu_here, tuning::sm_75> && std::is_same_v<tuning::here, tuning::cpu>);
#elif __CUDA_ARCH__ == 750
static_assert(std::is_same_v<tuning::gpu_here, tuning::sm_75> && std::is_same_v<tuning::here, tuning::sm_75>);
#else
static_assert(std::is_same_v<tuning::gpu_here, tuning::sm_90> && std::is_same_v<tuning::here, tuning::sm_90>);
#endif
