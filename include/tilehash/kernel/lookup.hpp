// SPDX-License-Identifier: Apache-2.0
// Lookups, in all schedules. Designs do not depend on the schedule: they compute where to look (locate,
// address, advance) and judge the words that were read (examine).
//
//   lanes     (a GPU, and its emulation: lookup_lanes.hpp) every lane owns one operation. The tile loads the
//             first buckets of all its lanes' operations before it examines the first, so that many requests
//             are in flight. It finishes the others one by one, while any lane of the warp still has work.
//   alone     (the same, for designs in which neighbouring lanes read neighbouring buckets:
//             lookup_alone.hpp) every lane reads its own buckets, for several operations at once.
//   prefetch  (a CPU: lookup_ring.hpp) a thread cycles through a ring of operations and prefetches the memory
//             of each long before it examines it. It prefetches again for lookups that must go on, and
//             examines those later.
#pragma once

#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/lookup_alone.hpp>
#include <tilehash/kernel/lookup_lanes.hpp>
#include <tilehash/kernel/lookup_ring.hpp>
#include <tilehash/space/prefetch.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <bucketed Design, class Space, class Keys, class Sink>
void look_up(Space& space, const Design& design,
             const detail::sentinel_cells<typename Design::slot_type>& sentinels, Keys keys, u64 n,
             Sink sink) {
  if constexpr (Space::has_lanes) {
    if constexpr (lookups_alone<Design>() != 0 && !recording<Sink>) {
      const look_up_alone<Design, Keys, Sink> work{design, sentinels, keys, n, sink};
      space.for_each_lane(work.lanes(n), work);
    } else {
      space.for_each_lane(
          n, look_up_lanes<Design, Keys, Sink, Design::preferred_width>{design, sentinels, keys, n, sink});
    }
  } else {
    space.for_each_share(n, look_up_ring<Design, Keys, Sink>{design, sentinels, keys, sink});
  }
}

// A CPU's loop over the rows of keys: calls use(i, location, row) for each key, with the memory of so many
// others in flight.
template <class Design, class Use>
void for_each_row_of(const Design& design, const typename Design::key_type* keys, u64 from, u64 to,
                     const Use& use) {
  typename Design::location locations[in_flight];
  typename Design::range rows[in_flight];
  for (; from < to; from += in_flight) {
    const u32 size = to - from < in_flight ? static_cast<u32>(to - from) : in_flight;
    for (u32 k = 0; k < size; ++k) prefetch(design.address(locations[k] = design.locate(keys[from + k])));
    for (u32 k = 0; k < size; ++k) prefetch(design.address(rows[k] = design.row(locations[k])));
    for (u32 k = 0; k < size; ++k) use(from + k, locations[k], rows[k]);
  }
}

// Lookups in a design that stores keys in rows: row(location) reads the row's begin and end, hit() walks it.
template <class Design, class Sink>
struct walk_rows {
  Design design;
  const typename Design::key_type* keys;
  u64 n;
  Sink sink;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    if (i < n) sink(i, design.hit(keys[i], design.row(design.locate(keys[i]))));
  }

  void operator()(u64 from, u64 to) const {
    for_each_row_of(design, keys, from, to, [this](u64 i, const auto& /*location*/, const auto& row) {
      sink(i, design.hit(keys[i], row));
    });
  }
};

template <rowed Design, class Space, class Sink>
void look_up(Space& space, const Design& design, const typename Design::key_type* keys, u64 n, Sink sink) {
  const walk_rows<Design, Sink> work{design, keys, n, sink};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_share(n, work);
}

// Lookups in a table without memory: every key is absent.
template <class Hit, class Sink>
struct answer_nothing {
  Sink sink;
  TILEHASH_FN void operator()(u64 i) const { sink(i, Hit{}); }
};
template <class Hit, class Space, class Sink>
void look_up_nothing(Space& space, u64 n, Sink sink) {
  space.for_each(n, answer_nothing<Hit, Sink>{sink});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
