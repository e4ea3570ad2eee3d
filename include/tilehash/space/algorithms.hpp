// What a design includes to sort or scan. The space `cpu` brings its algorithms with it; those of `cuda` cost
// too much compile time for sources that never call them.
#pragma once

#if defined(__CUDACC__)
#include <tilehash/space/cuda_algorithms.cuh>
#endif
