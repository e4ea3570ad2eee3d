// SPDX-License-Identifier: Apache-2.0
// The lanes schedule of lookups (kernel/lookup.hpp): the lanes of a tile together read the buckets of all
// their keys.
#pragma once

#include <tilehash/core/item.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/find.hpp>
#include <tilehash/kernel/hit.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A sink that takes the results of a whole warp at once.
template <class Sink>
concept recording = requires(const Sink sink) { sink.record(solo_tile{}, u64(0), true, true, true); };

template <bucketed Design, class Keys, class Sink, u32 Width>
struct look_up_lanes {
  static constexpr u32 resident_blocks = tuning::gpu_here::lookup_occupancy(sizeof(typename Design::word));

  using slot_type = typename Design::slot_type;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Keys keys;
  u64 n;
  Sink sink;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    const auto mine = i < n ? query<slot_type>(keys[i]) : query<slot_type>();
    auto [found, steps, at] =
        look_up_together<false>(design, lane.template tile<Width>(), mine.bits, i < n && mine.regular());
    if (!mine.legal) found = {};
    if constexpr (recording<Sink>) {  // a collective
      bool is = found.found();
      if constexpr (slot_type::reserves_keys) is = mine.reserved ? sentinels.find(mine.bits).found() : is;
      return sink.record(lane, i, i < n, mine.legal, is);
    }
    if (i >= n) return;
    if constexpr (slot_type::reserves_keys) {
      if (mine.reserved) return sink(i, slot_hit<slot_type>{sentinels.find(mine.bits), steps});
    }
    sink(i, hit_at(design, design.bucket_at(at), found, steps));
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
