// SPDX-License-Identifier: Apache-2.0
// join_rows(): the row numbers of a join by key columns, in the order of the left rows.
//
//   left keys    | 7 | 4 | 9 |      left rows    | 0 | 0 | 1 | 2 |      (a left join)
//   right keys   | 9 | 7 | 7 |      right rows   | 1 | 2 | - | 0 |
//
// The rows of both sides get codes together: equal keys have equal codes. The right rows are sorted by code. Each
// left row counts its matches, a scan gives its place in the result, and the matches are written there.
#pragma once

#include <bit>
#include <span>
#include <tuple>
#include <utility>

#include <tilehash/analysis/columns.hpp>
#include <tilehash/analysis/group_by.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis {

/// The rows that a join gives.
enum class join_kind : u8 {
  inner,  ///< the pairs of equal keys
  left,   ///< also left rows without a match
  right,  ///< also right rows without a match, in the order of the right rows
  outer,  ///< also those of both sides; right rows without a match come last
  semi,   ///< left rows with a match, each once
  anti,   ///< left rows without a match
};
/// Options of join_rows(). Use designated initializers.
struct join_how {
  join_kind kind = join_kind::inner;  ///< which rows
  bool nulls_equal = false;           ///< nulls and NaN match each other; by default they match nothing
};
/// The result of join_rows(): row numbers, or no_row. A semi or anti join has no right rows.
template <class Space>
struct joined_rows {
  buffer<u32, Space> left, right;           ///< pair i is rows left[i] and right[i]
  u64 size() const { return left.size(); }  ///< pairs
};

/// The key columns of one side of a join: arrays, or `nullable` ones. They must outlive the call.
template <detail::key_column... Columns>
std::tuple<const Columns&...> on(const Columns&... columns) {
  return {columns...};
}

namespace detail {

// The codes of both sides' rows, left ones first, and a number that all codes are below.
template <class Space>
struct side_codes {
  buffer<u32, Space> codes;
  u64 number = 0;
};

// A row without a key gets the code `of_missing`.
struct write_missing {
  u32* codes;
  validity left, right;
  u64 left_rows;
  u32 of_missing;
  TILEHASH_FN void operator()(u64 i) const {
    const bool valid = i < left_rows ? left.at(i) : right.at(i - left_rows);
    if (!valid || codes[i] == no_code) codes[i] = of_missing;
  }
};
struct void_codes {
  const u64* pairs;
  u32* codes;
  TILEHASH_FN void operator()(u64 i) const {
    if (pairs[i] == ~u64(0)) codes[i] = no_code;
  }
};

template <class Space, class Left, class Right>
side_codes<Space> column_codes(Space& space, const Left& left_column, const Right& right_column,
                               bool nulls_equal) {
  const auto left = as_nullable(left_column);
  const auto right = as_nullable(right_column);
  using key = std::remove_cv_t<typename decltype(left.keys)::element_type>;
  static_assert(std::is_same_v<decltype(left), decltype(right)>,
                "tilehash: the key columns of a join have one type");
  space.check_pointer(left.keys, "join_rows: the left keys");
  space.check_pointer(right.keys, "join_rows: the right keys");
  const u64 n = left.keys.size(), m = right.keys.size();
  buffer<key, Space> both(space, n + m);
  if (n != 0) space.copy(both.data(), left.keys.data(), n * sizeof(key));
  if (m != 0) space.copy(both.data() + n, right.keys.data(), m * sizeof(key));
  auto found = factorize(space, both.span());
  const u32 of_missing = nulls_equal ? static_cast<u32>(found.size()) : no_code;
  space.for_each(n + m,
                 write_missing{found.codes.data(), validity_of(left), validity_of(right), n, of_missing});
  space.synchronize();
  return {std::move(found.codes), found.size() + 1};
}
// Codes of pairs of codes.
template <class Space>
side_codes<Space> paired_codes(Space& space, const side_codes<Space>& a, const side_codes<Space>& b) {
  const u64 n = a.codes.size();
  buffer<u64, Space> pairs(space, n);
  buffer<u32, Space> missing(space, 1);
  space.fill(missing.data(), 1, no_code);
  space.for_each(n, write_pair{a.codes.data(), b.codes.data(), b.number, pairs.data(), missing.data()});
  auto found = factorize(space, pairs.span());
  space.for_each(n, void_codes{pairs.data(), found.codes.data()});
  space.synchronize();
  return {std::move(found.codes), found.size()};
}
template <class Space, class Left, class Right, std::size_t... I>
side_codes<Space> codes_of_sides(Space& space, const Left& left, const Right& right, bool nulls_equal,
                                 std::index_sequence<I...>) {
  static_assert(sizeof...(I) == std::tuple_size_v<Right>,
                "tilehash: both sides of a join have as many columns");
  side_codes<Space> all;
  const auto add = [&](side_codes<Space>&& column, std::size_t i) {
    all = i == 0 ? std::move(column) : paired_codes(space, all, column);
  };
  (add(column_codes(space, std::get<I>(left), std::get<I>(right), nulls_equal), I), ...);
  return all;
}

struct write_code_and_row {
  const u32* codes;
  u64* words;
  TILEHASH_FN void operator()(u64 i) const { words[i] = u64(codes[i]) << 32 | i; }
};
struct take_low_half {
  const u64* words;
  u32* rows;
  TILEHASH_FN void operator()(u64 i) const { rows[i] = static_cast<u32>(words[i]); }
};

// The rows of code c are rows[begins[c] .. begins[c + 1]), ascending.
template <class Space>
struct rows_of_codes {
  buffer<u32, Space> begins, rows;

  rows_of_codes(Space& space, const u32* codes, u64 n, u64 number)
      : begins(space, number + 1), rows(space, n) {
    space.fill(begins.data(), number + 1, u32(0));
    count_codes(space, codes, n, number, begins.data());
    space.exclusive_scan(begins.data(), begins.data(), number + 1);
    if (n == 0) return;
    if constexpr (Space::has_lanes) {
      // A stable sort by the bits of a code; those of no_code are the greatest.
      buffer<u32, Space> numbers(space, n), sorted(space, n);
      space.for_each(n, write_number{numbers.data()});
      space.sort_pairs(codes, numbers.data(), sorted.data(), rows.data(), n,
                       static_cast<u32>(std::bit_width(number)));
    } else {
      buffer<u64, Space> words(space, n);
      space.for_each(n, write_code_and_row{codes, words.data()});
      space.sort(words.data(), n);
      space.for_each(n, take_low_half{words.data(), rows.data()});
    }
    space.synchronize();
  }
};

// The number of results of each left row.
struct count_matches {
  const u32 *codes, *begins;
  join_kind kind;
  u64* counts;
  TILEHASH_FN void operator()(u64 i) const {
    const u32 c = codes[i];
    const u32 matches = c == no_code ? 0 : begins[c + 1] - begins[c];
    const bool keeps = kind == join_kind::left || kind == join_kind::outer;
    if (kind == join_kind::semi || kind == join_kind::anti)
      counts[i] = (matches != 0) == (kind == join_kind::semi) ? 1 : 0;
    else
      counts[i] = keeps && matches == 0 ? 1 : matches;
  }
};
struct write_results {
  const u32 *codes, *begins, *rows;
  const u64* offsets;
  u32 *left, *right;  // right: null if only left rows are wanted
  TILEHASH_FN void write(u64 row, u64 match, u64 at) const {
    left[at] = static_cast<u32>(row);
    if (right == nullptr) return;
    const u32 c = codes[row];
    const bool any = c != no_code && begins[c + 1] != begins[c];
    right[at] = any ? rows[begins[c] + match] : no_row;
  }
};
// A thread writes the results of a row.
struct write_results_of_row : write_results {
  void operator()(u64 i) const {
    for (u64 at = offsets[i]; at < offsets[i + 1]; ++at) write(i, at - offsets[i], at);
  }
};
// A lane writes one result, so a row of many matches takes many lanes.
struct write_one_result : write_results {
  u64 left_rows;
  TILEHASH_FN void operator()(u64 at) const {
    u64 first = 0, end = left_rows;  // of the rows, one has first <= its offset <= at
    while (end - first > 1) {
      const u64 middle = first + (end - first) / 2;
      (offsets[middle] <= at ? first : end) = middle;
    }
    write(first, at - offsets[first], at);
  }
};

struct mark_met {
  const u32* codes;
  u32* met;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] != no_code) tilehash::TILEHASH_ABI::detail::fetch_or(met + codes[i], u32(1));
  }
};
struct mark_alone {
  const u32 *codes, *met;
  u32* alone;
  TILEHASH_FN void operator()(u64 i) const { alone[i] = codes[i] == no_code || met[codes[i]] == 0 ? 1 : 0; }
};
struct write_alone {
  const u32* places;  // one more than there are rows
  u32 *left, *right;
  TILEHASH_FN void operator()(u64 i) const {
    if (places[i] == places[i + 1]) return;
    left[places[i]] = no_row;
    right[places[i]] = static_cast<u32>(i);
  }
};
// The places of the right rows without a match among themselves; the last is their number.
template <class Space>
buffer<u32, Space> places_of_alone(Space& space, const u32* left, u64 n, const u32* right, u64 m,
                                   u64 number) {
  buffer<u32, Space> met(space, number), places(space, m + 1);
  space.fill(met.data(), number, u32(0));
  space.fill(places.data() + m, 1, u32(0));
  space.for_each(n, mark_met{left, met.data()});
  space.for_each(m, mark_alone{right, met.data(), places.data()});
  space.exclusive_scan(places.data(), places.data(), m + 1);
  space.synchronize();
  return places;
}

// The rows of a join of rows that have these codes, which are below `number`.
template <class Space>
joined_rows<Space> join_by_codes(Space& space, std::span<const u32> left_codes,
                                 std::span<const u32> right_codes, u64 number, join_kind kind) {
  const u32 *const left = left_codes.data(), *const right = right_codes.data();
  const u64 n = left_codes.size(), m = right_codes.size();
  const rows_of_codes<Space> indexed(space, right, m, number);
  buffer<u64, Space> offsets(space, n + 1);
  space.fill(offsets.data() + n, 1, u64(0));
  space.for_each(n, count_matches{left, indexed.begins.data(), kind, offsets.data()});
  space.exclusive_scan(offsets.data(), offsets.data(), n + 1);
  const u64 pairs = read_one(space, offsets.data() + n);
  buffer<u32, Space> places;
  u64 alone = 0;
  if (kind == join_kind::outer) {
    places = places_of_alone(space, left, n, right, m, number);
    alone = read_one(space, places.data() + m);
  }
  const bool both = kind != join_kind::semi && kind != join_kind::anti;
  joined_rows<Space> result{{space, pairs + alone}, {space, both ? pairs + alone : 0}};
  const write_results write{left,           indexed.begins.data(), indexed.rows.data(),
                            offsets.data(), result.left.data(),    both ? result.right.data() : nullptr};
  if constexpr (Space::has_lanes)
    space.for_each(pairs, write_one_result{write, n});
  else
    space.for_each(n, write_results_of_row{write});
  if (alone != 0)
    space.for_each(m, write_alone{places.data(), result.left.data() + pairs, result.right.data() + pairs});
  space.synchronize();
  return result;
}

}  // namespace detail

/// Finds the rows of two sides whose keys are equal.
///
/// Pairs are in the order of the left rows, then of the right rows; see join_kind for the others.
/// \param space that runs the call.
/// \param left,right the key columns, made by on(): as many on both sides, of the same types, in memory of the
/// space. Both sides have at most 2^32 - 2 rows together.
/// \param how the kind of the join, and whether nulls and NaN are equal.
/// \return the row numbers of each pair.
/// \throws invalid_argument for more rows, columns of other lengths or memory of another space; out_of_memory
/// (strong).
/// \complexity O(left + right + pairs) expected, for each column; on a CPU also O(right log right).
/// \memory the keys of a column, and as factorize() of both sides; 20 bytes a right row, 8 bytes a left row.
/// \synchronizes yes.
/// \concurrency no other call may write the keys.
template <class Space, class... Left, class... Right>
[[nodiscard]] joined_rows<Space> join_rows(Space& space, const std::tuple<const Left&...>& left,
                                           const std::tuple<const Right&...>& right, join_how how = {}) {
  static_assert(sizeof...(Left) != 0, "tilehash: a join has a key column");
  if (how.kind == join_kind::right) {
    auto swapped = join_rows(space, right, left, {join_kind::left, how.nulls_equal});
    return {std::move(swapped.right), std::move(swapped.left)};
  }
  const auto rows = [](const auto& first, const auto&... more) {
    const u64 n = detail::as_nullable(first).keys.size();
    (detail::require(detail::as_nullable(more).keys.size() == n,
                     "join_rows: the key columns of a side differ in length"),
     ...);
    return n;
  };
  static_cast<void>(std::apply(rows, right));
  const u64 n = std::apply(rows, left);
  const auto all =
      detail::codes_of_sides(space, left, right, how.nulls_equal, std::index_sequence_for<Left...>());
  const std::span<const u32> codes = all.codes.span();
  return detail::join_by_codes(space, codes.first(n), codes.subspan(n), all.number, how.kind);
}

}  // namespace analysis
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
