// SPDX-License-Identifier: Apache-2.0
// The kinds and options of a join, and the rows that each kind returns.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {

/// The rows that a join returns. A join pairs the left and the right rows whose keys are equal.
enum class join_kind {
  inner,  ///< every such pair
  left,   ///< every pair, and each left row without a pair once, with no_match as its right row
  semi,   ///< each left row that is in a pair, once; no right rows
  anti,   ///< each left row that is in no pair; no right rows
};

/// Options of a join.
struct join_options {
  /// How a join of two arrays finds the rows with equal keys.
  enum class ways {
    automatic,  ///< by regions from 2^15 right rows on, where keys have up to 8 bytes and the memory suffices.
    ///< On a GPU, a side must also have over 2^18 rows, and right keys must occur at most 32 times,
    ///< as estimated from a sample. Fewer rows on a GPU take a way of their own.
    by_regions,  ///< keys of up to 8 bytes
    by_table,    ///< keys of any type
  };
  /// How a join with a graph finds them.
  enum class probes {
    standard,   ///< each left key finds its row and walks it
    intersect,  ///< builds a graph of the left keys and compares its rows with the right side's
  };
  /// The right row of a left row that is in no pair.
  static constexpr std::uint32_t no_match = ~std::uint32_t(0);

  join_kind kind = join_kind::inner;  ///< the rows that it returns
  ways way = ways::automatic;         ///< without a graph
  probes probe = probes::standard;    ///< with a graph
};

}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// A shorter name of join_options::no_match.
inline constexpr u32 no_match = join_options::no_match;

namespace detail {

// The number of rows that a join returns for a left row with `matches` matches.
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

// The arrays for the rows. `right` is null if the join returns no right rows.
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
