// SPDX-License-Identifier: Apache-2.0
// Stores of values by threads that may all want one word: any of the values stays.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// On a GPU one lane of a warp stores for each word, by an atomic operation. Where some keys are frequent, plain stores
// take 4 to 8 times as long, because other lanes read these lines. `few`: the call has so few items that each lane
// takes less time to store by itself.
template <atomic_integer Word>
TILEHASH_FN void store_once(Word* at, Word x, [[maybe_unused]] bool few) {
#if defined(__CUDA_ARCH__)
  if (few) return store_relaxed(at, x);
  const u32 same = __match_any_sync(__activemask(), reinterpret_cast<unsigned long long>(at));
  u32 lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane == lowest(same)) exchange(at, x);
#else
  store_relaxed(at, x);
#endif
}

// Can a value be stored by one operation, without the rest of its slot?
template <class Slot>
concept stored_at_once = atomic_integer<typename Slot::value_bits> &&
                         sizeof(typename Slot::value_bits) == sizeof(typename Slot::mapped_type);

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
