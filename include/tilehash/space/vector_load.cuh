// How one lane of a GPU reads neighbouring words: in requests of up to 16 bytes.
#pragma once

#include <cstring>

#include <tilehash/core/config.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// By load(pointer) to a type of 4, 8 or 16 bytes; zeros where not active. `from` is aligned to 16 bytes where
// the words fill such.
template <u32 N, class Word, class Load>
__device__ __forceinline__ void load_vectors(const Word* from, Word (&to)[N], bool active, Load load) {
  if constexpr (N * sizeof(Word) % 16 == 0) {
#pragma unroll
    for (u32 i = 0; i < N * sizeof(Word) / 16; ++i) {
      const uint4 v = active ? load(reinterpret_cast<const uint4*>(from) + i) : uint4{0, 0, 0, 0};
      memcpy(&to[i * 16 / sizeof(Word)], &v, 16);
    }
  } else {
#pragma unroll
    for (u32 i = 0; i < N; ++i) {
      if constexpr (sizeof(Word) == 8)
        to[i] = active ? load(reinterpret_cast<const unsigned long long*>(from + i)) : 0;
      else
        to[i] = active ? load(reinterpret_cast<const unsigned int*>(from + i)) : 0;
    }
  }
}

// Through the read-only cache.
template <u32 N, class Word>
__device__ __forceinline__ void load_read_only(const Word* from, Word (&to)[N], bool active) {
  load_vectors<N>(from, to, active, [](auto* p) { return __ldg(p); });
}
// From L2, where other lanes' atomics land.
template <u32 N, class Word>
__device__ __forceinline__ void load_from_l2(const Word* from, Word (&to)[N], bool active) {
  load_vectors<N>(from, to, active, [](auto* p) { return __ldcg(p); });
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
