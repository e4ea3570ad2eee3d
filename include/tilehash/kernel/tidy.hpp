// SPDX-License-Identifier: Apache-2.0
// Tidies the buckets that are due after erases, each by a tile (designs/concepts.hpp, tidying).
//
//   due    | 0 0 1 0 | 0 0 0 0 | 1 1 0 0 | ...      a bit for each bucket; a block takes some words of them,
//   list   | 2 8 9                                  lists their buckets in its scratch,
//   due    | 0 0 0 0 | 0 0 0 0 | 0 0 0 0 | ...      leaves zeros, and its tiles take one after the other
//
// So all tiles of a block have work, whatever the distribution of the due buckets. A CPU's thread takes one
// word after the other, and their buckets in order.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <tidying Design, u32 Width, u32 Threads>
struct tidy_buckets {
  static constexpr u32 block_size = Threads, most_words = Threads;  // of a block, at most one a thread
  using sums = block_sums<Threads>;

  Design design;
  u64 all_words;
  u32 words;  // of `due`, for one block

  // Scratch: the list; the words of the scan.
  static constexpr u64 scratch_bytes(u32 words) {
    return u64(words) * 32 * sizeof(u16) + sums::words * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank();
    const u64 first = block.index() * words;
    const bool serves = me < words && first + me < all_words;
    const auto list = block.template scratch<u16>();
    u32 all = 0, bits = serves ? design.due()[first + me] : 0;
    u32 at = sums::before(block, block.template scratch<u32>(u64(words) * 32 * sizeof(u16)), count_ones(bits),
                          all);
    if (all == 0) return;
    if (bits != 0) design.due()[first + me] = 0;
    for (; bits != 0; bits &= bits - 1) list[at++] = static_cast<u16>(me * 32 + lowest(bits));
    block.barrier();

    const auto t = block.template tile<Width>();
    for (u32 j = me / Width; t.any(j < all); j += Threads / Width)
      design.tidy(t, static_cast<u32>(first * 32) + u32(list[j < all ? j : 0]), j < all);
  }
  void operator()(u64 from, u64 to) const {
    for (u64 w = from; w < to; ++w) {
      u32 bits = design.due()[w];
      if (bits != 0) design.due()[w] = 0;
      for (; bits != 0; bits &= bits - 1)
        design.tidy(solo_tile{}, static_cast<u32>(w * 32) + lowest(bits), true);
    }
  }
};

// The number of passes. An item that moves frees a slot for others, and their buckets may come earlier in the
// pass.
template <tidying Design>
constexpr u32 tidy_passes() {
  if constexpr (requires { Design::tidy_passes; })
    return Design::tidy_passes;
  else
    return 1;
}

template <tidying Design>
constexpr u32 tidy_width() {
  if constexpr (requires { Design::tidy_width; })
    return Design::tidy_width;
  else
    return Design::preferred_width;
}

// Each pass reads n/8 bytes for n buckets, and the buckets that are due. Does not synchronize with the host.
template <tidying Design, class Space>
void tidy(Space& space, const Design& design) {
  using work_type = tidy_buckets<Design, tidy_width<Design>(), tuning::gpu::tidy_block>;
  const u64 all = design.due_words();
  u32 words = work_type::most_words;  // fewer if that gives work to more blocks
  for (u32 pass = 0; pass < tidy_passes<Design>(); ++pass) {
    if constexpr (Space::has_lanes) {
      while (words > 1 && all / words < tuning::gpu::tidy_blocks(space)) words /= 2;
      space.for_each_block((all + words - 1) / words, work_type::block_size, work_type::scratch_bytes(words),
                           work_type{design, all, words});
    } else {
      space.for_each_share(all, work_type{design, all, words});
    }
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
