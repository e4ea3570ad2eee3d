// SPDX-License-Identifier: Apache-2.0
// Loads of neighbouring words by one lane of a GPU, in requests of up to 16 bytes.
#pragma once

#include <cstring>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Loads words that no thread writes concurrently, through the read-only cache; zeros if not active. `from` is
// aligned to 16 bytes if the words fill a multiple of them.
template <u32 N, class Word>
__device__ __forceinline__ void load_read_only(const Word* from, Word (&to)[N], bool active) {
  if constexpr (N * sizeof(Word) % 16 == 0) {
#pragma unroll
    for (u32 i = 0; i < N * sizeof(Word) / 16; ++i) {
      const uint4 v = active ? __ldg(reinterpret_cast<const uint4*>(from) + i) : uint4{0, 0, 0, 0};
      memcpy(&to[i * 16 / sizeof(Word)], &v, 16);
    }
  } else {
#pragma unroll
    for (u32 i = 0; i < N; ++i) {
      if constexpr (sizeof(Word) == 8)
        to[i] = active ? __ldg(reinterpret_cast<const unsigned long long*>(from + i)) : 0;
      else
        to[i] = active ? __ldg(reinterpret_cast<const unsigned int*>(from + i)) : 0;
    }
  }
}

// The cache from which a thread reads words that other threads may change.
enum class cache : u32 {
  l2,  // where their atomic operations take effect
  l1   // it may have an older state of a word, at most as old as the thread's last fence
};

// Loads 16 bytes of words. Each word is read in one access (core/atomic.hpp), as it is a scalar to PTX. The
// result is four numbers, which ptxas handles better if the load is conditional.
template <cache From, class Word>
__device__ __forceinline__ uint4 load_words(const Word* from) {
  uint4 v;
  if constexpr (From == cache::l1 && sizeof(Word) == 16) {
    asm volatile(
        "{ .reg .b128 x;\n\t"
        ".reg .b64 l, h;\n\t"
        "ld.global.ca.b128 x, [%4];\n\t"
        "mov.b128 {l, h}, x;\n\t"
        "mov.b64 {%0, %1}, l;\n\t"
        "mov.b64 {%2, %3}, h; }"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(from));
  } else if constexpr (From == cache::l1 && sizeof(Word) == 8) {
    asm volatile(
        "{ .reg .b64 l, h;\n\t"
        "ld.global.ca.v2.b64 {l, h}, [%4];\n\t"
        "mov.b64 {%0, %1}, l;\n\t"
        "mov.b64 {%2, %3}, h; }"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(from));
  } else if constexpr (From == cache::l1) {
    v = __ldca(reinterpret_cast<const uint4*>(from));
  } else if constexpr (sizeof(Word) == 16) {
    asm volatile(
        "{ .reg .b128 x;\n\t"
        ".reg .b64 l, h;\n\t"
        "ld.global.cg.b128 x, [%4];\n\t"
        "mov.b128 {l, h}, x;\n\t"
        "mov.b64 {%0, %1}, l;\n\t"
        "mov.b64 {%2, %3}, h; }"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(from));
  } else if constexpr (sizeof(Word) == 8) {
    asm volatile(
        "{ .reg .b64 l, h;\n\t"
        "ld.global.cg.v2.b64 {l, h}, [%4];\n\t"
        "mov.b64 {%0, %1}, l;\n\t"
        "mov.b64 {%2, %3}, h; }"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(from));
  } else {
    v = __ldcg(reinterpret_cast<const uint4*>(from));
  }
  return v;
}

template <cache From, class Word>
__device__ __forceinline__ Word load_word(const Word* from) {
  if constexpr (From == cache::l1)
    return __ldca(from);
  else
    return __ldcg(from);
}

// As load_read_only(), but of words that other threads may change.
template <u32 N, cache From = cache::l2, class Word>
__device__ __forceinline__ void load_changing(const Word* from, Word (&to)[N], bool active) {
  if constexpr (N * sizeof(Word) % 16 == 0) {
    constexpr u32 some = 16 / sizeof(Word);
#pragma unroll
    for (u32 i = 0; i < N; i += some) {
      const uint4 v = active ? load_words<From>(from + i) : uint4{0, 0, 0, 0};
      memcpy(&to[i], &v, 16);
    }
  } else {
#pragma unroll
    for (u32 i = 0; i < N; ++i) {
      if constexpr (sizeof(Word) == 8)
        to[i] = active ? load_word<From>(reinterpret_cast<const unsigned long long*>(from + i)) : 0;
      else
        to[i] = active ? load_word<From>(reinterpret_cast<const unsigned int*>(from + i)) : 0;
    }
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
