// SPDX-License-Identifier: Apache-2.0
// Restores keys that inserts took out and could not place again, if there is no memory for a new table. No
// key that was in the table before this phase may be lost.
//
//   walk on      continues their inserts: most find a slot
//   take out     else removes the new keys of the phase, unplaced ones too; their items are pending again
//   place        each unplaced key was in the table when the phase began. All such keys had slots then, and
//                no other keys are present now. So all have slots, and kernel/exact_placement.hpp finds them
//
// It takes no memory, and synchronizes with the host.
#pragma once

#include <tilehash/core/error.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/put_back.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Calls `f` with a counter that is zero, and returns the count.
template <class Space, class F>
u64 counted_by(Space& space, u64* counter, const F& f) {
  space.fill(counter, 1, u64(0));
  f();
  return read_one(space, counter);
}

template <class Design, class Space>
u64 walk_on_for_a_while(Space& space, const Design& design, const unplaced_keys<Design>& keys, u64* counter) {
  constexpr u32 passes = 8;
  const walk_on<Design, Design::preferred_width> work{design, keys, counter};
  u64 left = keys.n;
  for (u32 pass = 0; pass < passes && left != 0; ++pass) {
    left = counted_by(space, counter, [&] {
      if constexpr (Space::has_lanes)
        space.for_each_lane(keys.n, work);
      else
        space.for_each_share(keys.n, work);
    });
  }
  return left;
}

// Returns how many new keys were taken out. The items from `first` to `end` are those of the phase.
template <class Design, class Space, class Source>
u64 put_back(Space& space, const Design& design, const sentinel_cells<typename Design::slot_type>& sentinels,
             const Source& source, u64 first, u64 end, const u32* fresh, const outcome_recorder& recorder,
             const unplaced_keys<Design>& keys, u64* counter) {
  space.fill(keys.done, divide_up(keys.n, 32), 0U);
  const u64 evicted = walk_on_for_a_while(space, design, keys, counter);
  if (evicted == 0) return 0;
  const u64 taken = counted_by(space, counter, [&] {
    space.for_each(end - first, take_out_new<Design, Source>{design, sentinels, source, first, fresh,
                                                             recorder, keys, counter});
  });
  if (walk_on_for_a_while(space, design, keys, counter) != 0) {
    space.for_each(design.mark_words(), clear_marks<Design>{design});
    const u64 left = counted_by(space, counter, [&] {
      space.for_each(1, place_exactly<Design>{design, keys, counter});
    });
    space.for_each(design.mark_words(), end_marks<Design>{design});
    require(left == 0, "keys of the table have no places: did another call change it at the same time?");
  }
  space.for_each(end - first, find_copies<Design, Source>{design, sentinels, source, first, recorder});
  return taken;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
