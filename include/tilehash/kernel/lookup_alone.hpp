// SPDX-License-Identifier: Apache-2.0
// The schedule of lookups (kernel/lookup.hpp) in which each lane reads its own buckets.
#pragma once

#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/hit.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A lane looks up `lookups_at_once` keys by itself, in designs that define that constant. The keys of a lane
// are a warp's width apart, so that the lanes of a warp read neighbouring keys. Lanes diverge freely: no
// collectives.
template <bucketed Design, class Keys, class Sink>
struct look_up_alone {
  static constexpr u32 resident_blocks = tuning::gpu_here::lookup_occupancy(sizeof(typename Design::word));
  static constexpr u32 each = lookups_alone<Design>(), warp = 32;

  using slot_type = typename Design::slot_type;
  using result = answer_of<Design>;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Keys keys;
  u64 n;
  Sink sink;

  // The number of lanes for n operations.
  static u64 lanes(u64 n) { return divide_up(n, u64(each) * warp) * warp; }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    constexpr solo_tile t;  // lanes diverge
    using bucket_type = solo_bucket<Design>;
    const u64 first = lane.index() / warp * each * warp + lane.index() % warp;
    query<slot_type> mine[each];
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      const u64 i = first + u64(k) * warp;
      if (i < n) mine[k] = query<slot_type>(keys[i]);
    }
    typename Design::location at[each];
    bucket_type b[each];
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      at[k] = design.locate(mine[k].bits);
      b[k] = bucket_type::read(t, design.bucket_at(design.where(at[k])));
    }
    result found[each];
    u32 steps[each], more = 0;  // bit k: the k-th goes on
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) steps[k] = 1;
    const auto settle = [&](u32 k) {
      found[k] = design.examine(t, b[k], design.stored(at[k], mine[k].bits));
      const bool goes_on =
          mine[k].regular() && found[k].what == lookup_state::go_on && steps[k] < max_steps_of(design, at[k]);
      more = (more & ~(1U << k)) | u32(goes_on) << k;
      if (goes_on) design.advance(at[k], found[k]), ++steps[k];
    };
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) settle(k);
    while (more != 0) {  // NOLINT(bugprone-infinite-loop): settle() changes it
      TILEHASH_UNROLL
      for (u32 k = 0; k < each; ++k) {
        if ((more >> k & 1) != 0) b[k] = bucket_type::read(t, design.bucket_at(design.where(at[k])));
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < each; ++k) {
        if ((more >> k & 1) != 0) settle(k);
      }
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      const u64 i = first + u64(k) * warp;
      if (i >= n) continue;
      if (found[k].what == lookup_state::go_on) found[k].what = lookup_state::absent;
      if (!mine[k].legal) found[k] = {};
      if constexpr (slot_type::reserves_keys) {
        if (mine[k].reserved) {
          sink(i, slot_hit<slot_type>{sentinels.find(mine[k].bits), steps[k]});
          continue;
        }
      }
      sink(i, slot_hit<slot_type>{found[k], steps[k]});
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
