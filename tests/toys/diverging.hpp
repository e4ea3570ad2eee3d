// SPDX-License-Identifier: Apache-2.0
// A fault that no design may have, for the test of the line that its message names.
#pragma once

#include <tilehash/core/slot.hpp>
#include <tilehash/space/bucket.hpp>

namespace tilehash::toys {

// Asks a bucket behind a branch.
template <class Tile>
u32 ask_behind_a_branch(Tile t, const u64* words) {
  const auto b = bucket<slot<u32, u32>, 4, Tile>::read(t, words);
  if (t.rank() == 0) return b.match_empty(t);  // line 14
  return 0;
}

}  // namespace tilehash::toys
