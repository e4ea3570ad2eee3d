// SPDX-License-Identifier: Apache-2.0
// The tile of a GPU: Width neighbouring lanes of a warp that serve one bucket.
//
// The warp is always converged: every collective names all 32 lanes, never a tile's own. With a mask per tile
// the hardware runs the tiles of a warp one after another, and issues their loads separately. That costs half
// the speed (docs/measured/dead_ends.md). So collectives come before branches, and loops continue while any lane of
// the warp continues.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/space/vector_load.cuh>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// Neighbouring lanes of a warp that read one bucket together. The verbs of a view take it before the key; all
/// lanes of the warp call together, each with its own key.
/// \tparam Width lanes: a power of two of at most 32.
template <u32 Width>
struct cuda_tile {
  static_assert(Width >= 1 && Width <= 32 && (Width & (Width - 1)) == 0);
  static constexpr u32 width = Width;
  static constexpr u32 all = ~u32(0);

  __device__ __forceinline__ u32 rank() const { return threadIdx.x % Width; }

  // Bit r is set when `p` is true in lane r of this tile.
  __device__ __forceinline__ u32 ballot(bool p) const {
    const u32 warp = __ballot_sync(all, p);
    if constexpr (Width == 32)
      return warp;
    else
      return warp >> (threadIdx.x % 32 / Width * Width) & ((1U << Width) - 1);
  }
  // Is `p` true in any lane of the whole warp?
  __device__ __forceinline__ bool any(bool p) const { return __any_sync(all, p); }

  // The x of lane `from` of this tile; all its lanes must pass the same `from`.
  template <class T>
  __device__ __forceinline__ T broadcast(T x, u32 from) const {
    return said_by(x, from);
  }
  // The x of the lane that is `by` lanes to the left; left of the first lane is the last one.
  template <class T>
  __device__ __forceinline__ T from_left(T x, u32 by = 1) const {
    return said_by(x, (rank() + Width - by) % Width);
  }
  __device__ __forceinline__ void sync() const { __syncwarp(); }

  // Loads N neighbouring words per lane in requests of up to 16 bytes, through the read-only cache.
  template <u32 N, class Word>
  __device__ __forceinline__ void load(const Word* from, Word (&to)[N], bool active) const {
    detail::load_read_only<N>(from, to, active);
  }
  // The same from L2, where other lanes' atomic operations take effect.
  template <u32 N, class Word>
  __device__ __forceinline__ void load_shared(const Word* from, Word (&to)[N], bool active) const {
    detail::load_changing<N>(from, to, active);
  }

 private:
  template <class T>
  __device__ __forceinline__ T said_by(T x, u32 from) const {
    if constexpr (Width == 1)
      return x;
    else if constexpr (sizeof(T) <= 8) {
      static_assert(sizeof(T) == 4 || sizeof(T) == 8);
      return __shfl_sync(all, x, static_cast<int>(from), Width);
    } else {
      static_assert(sizeof(T) % 4 == 0);
      u32 parts[sizeof(T) / 4];
      memcpy(parts, &x, sizeof x);
#pragma unroll
      for (u32& part : parts) part = __shfl_sync(all, part, static_cast<int>(from), Width);
      memcpy(&x, parts, sizeof x);
      return x;
    }
  }
};

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(cuda_tile);
}  // namespace tilehash
