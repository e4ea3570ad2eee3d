// SPDX-License-Identifier: Apache-2.0
// The spaces' sorts and scans, for designs that use them. They compile too slowly for all other sources.
#pragma once

#include <tilehash/space/cpu_algorithms.hpp>

#if defined(__CUDACC__)
#include <tilehash/space/cuda_algorithms.cuh>
#endif
