// Erases, in both schedules (kernel/lookup.hpp).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/recorder.hpp>
#include <tilehash/space/prefetch.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

template <erasable Design, u32 Width>
struct erase_lanes {
  using slot_type = typename Design::slot_type;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  const typename Design::key_type* keys;
  u64 n;
  call_counters counters;

  TILEHASH_FN bool erase_sentinel(typename slot_type::key_bits bits) const {
    if constexpr (slot_type::reserves_keys)
      return sentinels.erase(bits);
    else
      return false;
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    const u64 i = lane.index();
    const auto mine = i < n ? query<slot_type>(keys[i]) : query<slot_type>();
    const u32 regular = i < n && mine.regular();
    bool gone = false;
    TILEHASH_UNROLL_ONCE
    for (u32 j = 0; j < Width; ++j) {
      const bool e = design.erase(t, t.broadcast(mine.bits, j), t.broadcast(regular, j) != 0);
      if (t.rank() == j) gone = e;
    }
    if (i < n && mine.reserved) gone = erase_sentinel(mine.bits);
    const auto warp = lane.template tile<32>();
    const u32 all_gone = warp.ballot(gone);
    if (warp.rank() == 0 && all_gone != 0) counters.add(counter::gone, i / 32, count_ones(all_gone));
  }

  void operator()(u64 from, u64 to) const {
    u64 gone = 0;
    const auto fetch = [&](u64 i) {
      const query<slot_type> q(keys[i]);
      if (q.regular()) prefetch_to_write(design.address(design.locate(q.bits)));
      return q;
    };
    fetch_ahead(from, to, fetch, [&](u64, const query<slot_type>& q) {
      gone += q.regular() ? design.erase(solo_tile{}, q.bits, true) : q.reserved && erase_sentinel(q.bits);
    });
    if (gone != 0) counters.add(counter::gone, from, gone);
  }
};

template <class Design, class Space>
void erase(Space& space, const Design& design,
           const detail::sentinel_cells<typename Design::slot_type>& sentinels,
           const typename Design::key_type* keys, u64 n, const call_counters& counters) {
  const erase_lanes<Design, Design::preferred_width> work{design, sentinels, keys, n, counters};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
