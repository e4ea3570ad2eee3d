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

// Loads 16 bytes of words from L2. Each word is read in one access (core/atomic.hpp), as it is a scalar to
// PTX. The result is four numbers, which ptxas handles better if the load is conditional.
template <class Word>
__device__ __forceinline__ uint4 load_words(const Word* from) {
  uint4 v;
  if constexpr (sizeof(Word) == 16) {
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

// As load_read_only(), but from L2, where other lanes' atomic operations take effect.
template <u32 N, class Word>
__device__ __forceinline__ void load_from_l2(const Word* from, Word (&to)[N], bool active) {
  if constexpr (N * sizeof(Word) % 16 == 0) {
    constexpr u32 some = 16 / sizeof(Word);
#pragma unroll
    for (u32 i = 0; i < N; i += some) {
      const uint4 v = active ? load_words(from + i) : uint4{0, 0, 0, 0};
      memcpy(&to[i], &v, 16);
    }
  } else {
#pragma unroll
    for (u32 i = 0; i < N; ++i) {
      if constexpr (sizeof(Word) == 8)
        to[i] = active ? __ldcg(reinterpret_cast<const unsigned long long*>(from + i)) : 0;
      else
        to[i] = active ? __ldcg(reinterpret_cast<const unsigned int*>(from + i)) : 0;
    }
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
