// SPDX-License-Identifier: Apache-2.0
// The base of all headers: compiler requirements, integer names, and the macro that marks functions for CPU
// and GPU.
#pragma once

// Thousands of lines would follow an #error alone; an include of a missing file ends the compilation.
#if __cplusplus < 202002L
#error "tilehash needs C++20: compile with -std=c++20"
#define TILEHASH_STOP "the error above ends the compilation"
#elif !defined(__cpp_exceptions)
#error "tilehash reports failures by exceptions: compile without -fno-exceptions"
#define TILEHASH_STOP "the error above ends the compilation"
#elif defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1206
#error "tilehash needs nvcc of CUDA 12.6 or newer"
#define TILEHASH_STOP "the error above ends the compilation"
#elif defined(__clang__) && __clang_major__ < 16
#error "tilehash needs clang 16 or newer, or g++ 12 or newer"
#define TILEHASH_STOP "the error above ends the compilation"
#elif !defined(__clang__) && defined(__GNUC__) && __GNUC__ < 12
#error "tilehash needs g++ 12 or newer, or clang 16 or newer"
#define TILEHASH_STOP "the error above ends the compilation"
#endif
#if defined(TILEHASH_STOP)
#include TILEHASH_STOP
#endif

#include <cstddef>
#include <cstdint>

#include <tilehash/core/version.hpp>

// Marks a function that is compiled for the CPU and, by nvcc, also for the GPU. Optimised builds inline it
// everywhere; in other builds the copies would only cost compile time. TILEHASH_PLAIN_INLINE leaves inlining
// to the compiler in optimised builds too, which halves the time that a sanitizer's build takes.
#if defined(__OPTIMIZE__) && !defined(TILEHASH_PLAIN_INLINE)
#define TILEHASH_INLINED always_inline
#else
#define TILEHASH_INLINED
#endif
#if defined(__CUDACC__)
#define TILEHASH_FN __host__ __device__ __forceinline__
#define TILEHASH_FN_APART __host__ __device__ __noinline__
#else
#define TILEHASH_FN inline __attribute__((TILEHASH_INLINED))
#define TILEHASH_FN_APART __attribute__((noinline))
#endif

// Marks a function of the host that makes or moves a table's memory, or that few calls need. It is compiled for size.
#define TILEHASH_COLD __attribute__((cold, noinline))

// Loops over a lane's words are unrolled on a GPU, so that the words stay in registers. Loops over a tile's
// operations that change the table are not unrolled, because their bodies are long.
#if defined(__CUDA_ARCH__)
#define TILEHASH_UNROLL _Pragma("unroll")
#define TILEHASH_UNROLL_ONCE _Pragma("unroll 1")
#define TILEHASH_PRAGMA(text) _Pragma(#text)
#define TILEHASH_UNROLL_BY(n) TILEHASH_PRAGMA(unroll(n))
#else
#define TILEHASH_UNROLL
#define TILEHASH_UNROLL_ONCE
#define TILEHASH_UNROLL_BY(n)
#endif

// Does the space `cpu` have threads? If oneTBB's headers are present, its library must be linked (-ltbb); the
// CMake target and pkg-config do that. -DTILEHASH_WITHOUT_TBB in all units of a program disables oneTBB.
#if __has_include(<tbb/task_arena.h>) && !defined(TILEHASH_WITHOUT_TBB)
#define TILEHASH_HAS_TBB 1
#else
#define TILEHASH_HAS_TBB 0
#endif

// The units of one program may be compiled with different flags, and the linker keeps one copy of a name that
// several units define. A unit without AVX2 would then run another unit's AVX2 code, and a unit without
// oneTBB would share a `cpu` of another size. So a namespace named after these flags holds everything but the
// types that units exchange (options, reports, errors). The name must not depend on __CUDA_ARCH__: host and
// GPU must agree on a kernel's name. A unit that is compiled with less optimisation than others of its program
// can define another name, so that they keep their own code. It then shares no table or space with them.
#if defined(TILEHASH_ABI)
#elif defined(__AVX2__) && TILEHASH_HAS_TBB
#define TILEHASH_ABI abi_avx2_tbb
#elif defined(__AVX2__)
#define TILEHASH_ABI abi_avx2
#elif TILEHASH_HAS_TBB
#define TILEHASH_ABI abi_tbb
#else
#define TILEHASH_ABI abi_plain
#endif

// Macros open and close that namespace inside `namespace tilehash {`, so that ctags, clangd and Doxygen read
// the headers without changes. Its names are internal, except those that TILEHASH_PUBLIC exports. The
// library's own tests and programs define TILEHASH_ALL_NAMES to see all names; symbols are the same.
#if defined(TILEHASH_ALL_NAMES)
#define TILEHASH_BEGIN_ABI_NAMESPACE inline namespace TILEHASH_ABI {
#else
#define TILEHASH_BEGIN_ABI_NAMESPACE namespace TILEHASH_ABI {
#endif
#define TILEHASH_END_ABI_NAMESPACE }
#define TILEHASH_PUBLIC(name) using TILEHASH_ABI::name
#define TILEHASH_PUBLIC_NAMESPACE(name) namespace name = TILEHASH_ABI::name

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

static_assert(sizeof(std::size_t) == 8, "tilehash needs a 64-bit platform");

namespace detail {
#if defined(__CUDA_ARCH__)
inline constexpr bool on_gpu = true;  // is this the GPU's half of a function?
#else
inline constexpr bool on_gpu = false;
#endif
}  // namespace detail

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
