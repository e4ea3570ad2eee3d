// What a design includes to sort or scan. They cost too much compile time for sources that never call them.
#pragma once

#include <tilehash/space/cpu_algorithms.hpp>

#if defined(__CUDACC__)
#include <tilehash/space/cuda_algorithms.cuh>
#endif
