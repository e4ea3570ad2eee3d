// Erases, in both schedules (kernel/lookup.hpp).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/prefetch.hpp>

namespace tilehash::detail {

template <erasable Design, u32 Width>
struct erase_lanes {
  using slot_type = typename Design::slot_type;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  const typename Design::key_type* keys;
  u64 n;
  u64* missing;  // one counter: keys that were not there

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
    lane.tally(missing, i < n && !gone);
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
    if (to - from != gone) detail::fetch_add(missing, to - from - gone);
  }
};

template <class Design, class Space>
void erase(Space& space, const Design& design,
           const detail::sentinel_cells<typename Design::slot_type>& sentinels,
           const typename Design::key_type* keys, u64 n, u64* missing) {
  const erase_lanes<Design, Design::preferred_width> work{design, sentinels, keys, n, missing};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

}  // namespace tilehash::detail
