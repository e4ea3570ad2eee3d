// Reads an array with all threads of a block. Each thread requests several elements before it uses the first,
// so that its requests to memory overlap.
#pragma once

#include <type_traits>

#include <tilehash/core/config.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Calls use(i, from[i]) for each i < n that is this thread's: `me`, `me` + `all`, ...
template <u32 AtOnce = tuning::here::fetched_at_once, class From, class Use>
TILEHASH_FN void fetch_items(const From& from, u32 n, u32 me, u32 all, const Use& use) {
  for (u32 first = me; first < n; first += AtOnce * all) {
    std::remove_cvref_t<decltype(from[0])> e[AtOnce];
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      if (first + k * all < n) e[k] = from[first + k * all];
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < AtOnce; ++k) {
      if (first + k * all < n) use(first + k * all, e[k]);
    }
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
