// SPDX-License-Identifier: Apache-2.0
// The tile of one thread: every CPU thread's, and that of a GPU thread that works alone.
//
// Its collectives are the identity, so a design written against tiles costs nothing here. Its buckets are
// whole cache lines, and comparing one is a SIMD compare where the compiler has AVX2.
#pragma once

#include <cstring>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>

#if defined(__AVX2__) && !defined(__CUDA_ARCH__)
#include <immintrin.h>
#endif
#if defined(__CUDACC__)
#include <tilehash/space/vector_load.cuh>
#endif

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

// A bucket is compared in vectors of 32 bytes, so it must also be stored in such vectors. A processor does
// not forward two smaller stores to one larger load. It waits for both to reach its cache, and lookups and
// inserts take nearly twice as long. Compilers copy by words or by 16 bytes.
#if defined(__AVX2__) && !defined(__CUDA_ARCH__)
template <u64 Bytes>
inline constexpr bool in_vectors = Bytes % 32 == 0;

// Shared: others may write concurrently. Aligned 16-byte loads are one access on every x86-64 with AVX.
template <bool Shared, u32 N, class Word>
TILEHASH_FN void copy_vectors(const Word* from, Word (&to)[N]) {
  for (u32 i = 0; i < sizeof to / 32; ++i) {
    const auto at = reinterpret_cast<const __m256i*>(from) + i;
    __m256i v;
    if constexpr (Shared) {
      const auto halves = reinterpret_cast<const __m128i*>(at);
      __m128i low, high;
      TILEHASH_BEFORE_ATOMIC();
      asm volatile("vmovdqa %1, %0" : "=x"(low) : "m"(halves[0]));
      TILEHASH_BEFORE_ATOMIC();
      asm volatile("vmovdqa %1, %0" : "=x"(high) : "m"(halves[1]));
      v = _mm256_set_m128i(high, low);
    } else {
      v = _mm256_loadu_si256(at);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + i, v);
  }
}
#else
template <u64 Bytes>
inline constexpr bool in_vectors = false;

template <bool Shared, u32 N, class Word>
TILEHASH_FN void copy_vectors(const Word*, Word (&)[N]) {}
#endif

}  // namespace detail

// The lanes that work together: solo_tile, or a tile of a GPU's warp.
template <class T>
concept tile_like = requires { T::width; };

struct solo_tile {
  static constexpr u32 width = 1;

  TILEHASH_FN u32 rank() const { return 0; }
  TILEHASH_FN u32 ballot(bool p) const { return p; }
  TILEHASH_FN bool any(bool p) const { return p; }
  template <class T>
  TILEHASH_FN T broadcast(T x, u32 /*from*/) const {
    return x;
  }
  template <class T>
  TILEHASH_FN T from_left(T x, u32 /*by*/ = 1) const {
    return x;
  }
  TILEHASH_FN void sync() const {}

  // Reads N neighbouring words that no thread writes concurrently.
  template <u32 N, class Word>
  TILEHASH_FN void load(const Word* from, Word (&to)[N], bool /*active*/) const {
#if defined(__CUDA_ARCH__)
    detail::load_read_only<N>(from, to, true);
#else
    if constexpr (detail::in_vectors<sizeof to>)
      detail::copy_vectors<false>(from, to);
    else
      std::memcpy(to, __builtin_assume_aligned(from, sizeof(Word)), sizeof to);
#endif
  }
  // Reads N neighbouring words that other threads may write concurrently; each word is read atomically.
  template <u32 N, class Word>
  TILEHASH_FN void load_shared(const Word* from, Word (&to)[N], bool active) const {
#if defined(__CUDA_ARCH__)
    detail::load_changing<N>(from, to, active);
#else
    if constexpr (detail::in_vectors<sizeof to>) {
      if (active) return detail::copy_vectors<true>(from, to);
    }
    for (u32 i = 0; i < N; ++i) to[i] = active ? detail::load_relaxed(from + i) : Word(0);
#endif
  }
  // The same, but a word may be as old as this thread's last fence. A GPU's thread reads through L1, so that
  // the four loads of a bucket cost L2 less.
  template <u32 N, class Word>
  TILEHASH_FN void load_stale(const Word* from, Word (&to)[N], bool active) const {
#if defined(__CUDA_ARCH__)
    detail::load_changing<N, detail::cache::l1>(from, to, active);
#else
    load_shared<N>(from, to, active);
#endif
  }
};

#if defined(__CUDACC__)
// Threads of a warp that came to one place together, each with a key of its own. They leave a loop together.
struct together_tile : solo_tile {
  u32 lanes;
  __device__ __forceinline__ bool any(bool p) const { return __any_sync(lanes, p) != 0; }
  __device__ __forceinline__ void sync() const { __syncwarp(lanes); }
};
// Threads of a warp that came to one place together, named by their lanes of the warp.
struct gathered_threads {
  u32 lanes;
  __device__ __forceinline__ static u32 lane() {
    u32 at;
    asm("mov.u32 %0, %%laneid;" : "=r"(at));
    return at;
  }
  __device__ __forceinline__ static u32 before(u32 of) { return of & ((1U << lane()) - 1); }
  __device__ __forceinline__ u32 size() const { return static_cast<u32>(__popc(lanes)); }
  __device__ __forceinline__ u32 rank() const { return static_cast<u32>(__popc(before(lanes))); }
  __device__ __forceinline__ u32 ballot(bool p) const { return __ballot_sync(lanes, p) & lanes; }
  __device__ __forceinline__ bool any(bool p) const { return ballot(p) != 0; }
  __device__ __forceinline__ void sync() const { __syncwarp(lanes); }
  template <class T>
  __device__ __forceinline__ T broadcast(T x, u32 from) const {
    static_assert(sizeof(T) % 4 == 0);
    u32 parts[sizeof(T) / 4];
    memcpy(parts, &x, sizeof x);
#pragma unroll
    for (u32& part : parts) part = __shfl_sync(lanes, part, static_cast<int>(from));
    memcpy(&x, parts, sizeof x);
    return x;
  }
};
#endif

namespace detail {

#if defined(__AVX2__) && !defined(__CUDA_ARCH__)
// match_words() for words of 16 bytes.
template <u32 N, class Word, class Bits>
TILEHASH_FN u32 match_words_of_16(const Word* words, u32 shift, Bits wanted) {
  if constexpr (N % 4 == 0 && sizeof(Bits) == 8) {
    if (shift >= 64) {  // it is in the words' upper halves, four of which are a vector
      const auto at = reinterpret_cast<const __m256i*>(words);
      const __m256i all = _mm256_set1_epi64x(static_cast<long long>(wanted));
      u32 mask = 0;
      for (u32 i = 0; i < N; i += 4) {
        const __m256i a = _mm256_loadu_si256(at + i / 2), b = _mm256_loadu_si256(at + i / 2 + 1);
        const __m256i upper = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8);  // 0 1 2 3
        const __m256i same = _mm256_cmpeq_epi64(_mm256_srli_epi64(upper, static_cast<int>(shift - 64)), all);
        mask |= static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(same))) << i;
      }
      return mask;
    }
  }
  // No instruction shifts or compares 128 bits. So `wanted` is shifted to its position in a word, and both
  // halves must be the same.
  const Word mark = static_cast<Word>(wanted) << shift;
  const Word field = static_cast<Word>(static_cast<Bits>(~Bits(0))) << shift;
  const auto twice = [](Word w) {
    return _mm256_broadcastsi128_si256(_mm_set_epi64x(static_cast<long long>(static_cast<u64>(w >> 64)),
                                                      static_cast<long long>(static_cast<u64>(w))));
  };
  const __m256i marks = twice(mark), fields = twice(field);
  u32 mask = 0;
  for (u32 i = 0; i < N; i += 2) {
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i));
    const __m256i same = _mm256_cmpeq_epi64(_mm256_and_si256(w, fields), marks);
    const u32 halves = static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(same)));
    const u32 both = halves & halves >> 1;
    mask |= ((both & 1) | (both >> 1 & 2)) << i;
  }
  return mask;
}
#endif

// Bit i is set when words[i] >> shift == wanted.
template <u32 N, class Word, class Bits>
TILEHASH_FN u32 match_words(const Word* words, u32 shift, Bits wanted) {
#if defined(__AVX2__) && !defined(__CUDA_ARCH__)
  if constexpr (sizeof(Word) == 8 && N % 4 == 0) {
    const __m256i all = _mm256_set1_epi64x(static_cast<long long>(wanted));
    u32 mask = 0;
    for (u32 i = 0; i < N; i += 4) {
      const __m256i w = _mm256_srli_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i)),
                                          static_cast<int>(shift));
      mask |= static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(w, all)))) << i;
    }
    return mask;
  } else if constexpr (sizeof(Word) == 4 && N % 8 == 0) {
    const __m256i all = _mm256_set1_epi32(static_cast<int>(wanted));
    u32 mask = 0;
    for (u32 i = 0; i < N; i += 8) {
      const __m256i w = _mm256_srli_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i)),
                                          static_cast<int>(shift));
      mask |= static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(w, all)))) << i;
    }
    return mask;
  } else if constexpr (sizeof(Word) == 16 && N % 2 == 0) {
    return match_words_of_16<N>(words, shift, wanted);
  }
#endif
  u32 mask = 0;
  TILEHASH_UNROLL
  for (u32 i = 0; i < N; ++i) mask |= u32(static_cast<Bits>(words[i] >> shift) == wanted) << i;
  return mask;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
