// SPDX-License-Identifier: Apache-2.0
// Calls for each item in which neighbouring threads work together, where a space has lanes.
#pragma once

#include <tilehash/core/config.hpp>
#include <tilehash/space/solo_tile.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <u32 Width, class Body>
struct each_in_tiles_body {
  Body body;

  TILEHASH_FN void operator()(u64 i) const { body(solo_tile(), i); }
  template <class Lane>
    requires requires(Lane lane) { lane.index(); }
  TILEHASH_FN void operator()(Lane lane) const {
    body(lane.template tile<Width>(), lane.index());
  }
};

// Calls body(tile, i) for each i of [0, n), by a tile of `Width` lanes or of one thread. On lanes also for
// further i, so that all lanes of a warp call it. Does not synchronize.
template <u32 Width, class Space, class Body>
void for_each_in_tiles(Space& space, u64 n, const Body& body) {
  const each_in_tiles_body<Width, Body> work{body};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each(n, work);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
