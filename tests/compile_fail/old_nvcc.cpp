// expect: tilehash needs nvcc of CUDA 12.6 or newer
// SPDX-License-Identifier: Apache-2.0
// errors: 2
// flags: -D__CUDACC_VER_MAJOR__=12 -D__CUDACC_VER_MINOR__=5
#include <tilehash/map.hpp>  // the second error ends the compilation
