# SPDX-License-Identifier: Apache-2.0
# CMake older than 3.26 (Debian 12 has 3.25) does not know that nvcc 12 and newer take -std=c++20. Told here, so that
# CMAKE_CUDA_STANDARD 20 works; a project enables CUDA before it finds tilehash.
if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA"
   AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.0
   AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION
)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_COMPILE_FEATURES "cuda_std_20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
