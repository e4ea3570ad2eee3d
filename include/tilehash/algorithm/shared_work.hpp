// SPDX-License-Identifier: Apache-2.0
// Work that the blocks of a kernel share after each has done its own, if there is any. One thread of each block calls
// these functions.
//
//   progress | blocks that have left | blocks that have finished their own work |     32 bits each
//   opened   0, or 1 and the number of shares that blocks have taken
//
// The block that finishes its own work last knows whether there is shared work, opens it, and needs no other block.
// Another block that expects work waits for it, but not for long. Whichever block leaves last ends the call.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

struct shared_work {
  static constexpr u64 one_finished = 1, one_gone = u64(1) << 32;
  u64 *progress, *opened;  // zero before and after
  u64 blocks;

  // A block has done its own work. True: all blocks have, and this thread sees what they have written.
  TILEHASH_FN bool finish() const {
    device_fence();
    const bool is_last = (fetch_add(progress, one_finished) + one_finished) % one_gone == blocks;
    if (is_last) device_fence();
    return is_last;
  }
  // A block calls it that has finished, is not the last one and expects no work. The result is that of leave().
  TILEHASH_FN bool go() const {
    if ((fetch_add(progress, one_gone) + one_gone) / one_gone != blocks) return false;
    clear();
    return true;
  }
  // The last block calls it if there is no work. The others call go(), maybe later. The sum is zero then.
  TILEHASH_FN void end_without_work() const {
    fetch_add(progress, one_gone - blocks * (one_finished + one_gone));
  }
  // The last block calls it if there is work.
  TILEHASH_FN void open() const { store_relaxed(opened, u64(1)); }
  // Another block calls it. False: it has waited long enough.
  TILEHASH_FN bool is_opened() const {
    for (u32 tries = 0; tries < tuning::gpu::block_reads; ++tries)
      if (load_relaxed(opened) != 0) return device_fence(), true;
    return false;
  }
  // The number of a share that no other block takes; shares may have ended before it.
  TILEHASH_FN u64 take() const { return fetch_add(opened, u64(1)) - 1; }
  // A block calls it after open() or is_opened(). True: all work is done, and this block ends the call.
  TILEHASH_FN bool leave() const {
    device_fence();
    return go();
  }

 private:
  TILEHASH_FN void clear() const {
    device_fence();
    *progress = 0, *opened = 0;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
