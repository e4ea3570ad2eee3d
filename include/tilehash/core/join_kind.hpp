// Which rows a join gives.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {

// A join pairs the rows of a left and of a right side whose keys are equal. It gives
enum class join_kind {
  inner,  // every such pair
  left,   // the same, and each left row without one once, with no_match beside it
  semi,   // each left row that is in a pair, once; no right rows
  anti,   // each left row that is in none; no right rows
};

// Stands for the right row of a left row that has none.
inline constexpr std::uint32_t no_match = ~std::uint32_t(0);

}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// How many rows a left row becomes that has so many matches.
TILEHASH_FN constexpr u64 joined_rows(join_kind kind, u64 matches) {
  switch (kind) {
    case join_kind::inner:
      return matches;
    case join_kind::left:
      return matches != 0 ? matches : 1;
    case join_kind::semi:
      return matches != 0;
    default:
      return matches == 0;
  }
}
constexpr bool has_right_rows(join_kind kind) { return kind == join_kind::inner || kind == join_kind::left; }

// Where the rows go. `right` is null where there are none.
struct join_output {
  u32* left;
  u32* right;
  TILEHASH_FN void put(u64 at, u32 l, u32 r) const {
    left[at] = l;
    if (right != nullptr) right[at] = r;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
