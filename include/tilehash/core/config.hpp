// What every other header stands on: integer names and the mark of a function that runs on both machines.
#pragma once

#include <cstddef>
#include <cstdint>

// A function compiled for the CPU and, by nvcc, for the GPU too.
#if defined(__CUDACC__)
#define TILEHASH_FN __host__ __device__ __forceinline__
#else
#define TILEHASH_FN inline __attribute__((always_inline))
#endif

// Loops over a lane's words are unrolled on a GPU, so that the words stay in registers; loops over a tile's
// operations that change the table are not, because their bodies are long.
#if defined(__CUDA_ARCH__)
#define TILEHASH_UNROLL _Pragma("unroll")
#define TILEHASH_UNROLL_ONCE _Pragma("unroll 1")
#else
#define TILEHASH_UNROLL
#define TILEHASH_UNROLL_ONCE
#endif

namespace tilehash {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;

static_assert(sizeof(std::size_t) == 8, "tilehash needs a 64-bit platform");

}  // namespace tilehash
