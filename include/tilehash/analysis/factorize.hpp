// SPDX-License-Identifier: Apache-2.0
// factorize, unique, value_counts, isin: one call over arrays of keys.
//
//   keys    | 7 | 4 | 7 | 9 | 4 |      codes   | 0 | 1 | 0 | 2 | 1 |      values   | 7 | 4 | 9 |
//
// Codes are in the order of first appearance, or of the values. Results depend on neither threads nor seeds.
#pragma once

#include <ranges>
#include <span>
#include <type_traits>

#include <tilehash/analysis/lane_codes.hpp>
#include <tilehash/analysis/lane_folds.hpp>
#include <tilehash/core/arrays.hpp>
#include <tilehash/map.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/algorithms.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis {

/// The code of a row that has no key: of a NaN, if those are excluded.
inline constexpr u32 no_code = detail::no_code;

/// How a call treats keys that are NaN.
enum class missing : u8 {
  excluded,  ///< they get no_code and are no value
  as_key,    ///< all of them are one key
  refused,   ///< the call throws invalid_argument
};
/// The order of the codes.
enum class order : u8 {
  first,   ///< by the first row of a value
  sorted,  ///< ascending; a missing key comes last
};
/// Options of the calls here. Use designated initializers.
struct code_options {
  missing missing_keys = missing::excluded;  ///< what to do with NaN
  order by = order::first;                   ///< the order of the codes
};

/// The result of factorize(): value c is the key of row first_rows[c].
template <class Space>
struct factors {
  buffer<u32, Space> codes;                       ///< of each row
  buffer<u32, Space> first_rows;                  ///< of each value
  u64 size() const { return first_rows.size(); }  ///< the number of values
};
/// The result of unique() and value_counts().
template <class Key, class Space>
struct unique_values {
  buffer<Key, Space> values;                  ///< each key once
  buffer<u32, Space> counts;                  ///< rows of each value
  buffer<u32, Space> first_rows;              ///< the first row of each value
  buffer<u32, Space> codes;                   ///< of each row: its value's number
  u64 size() const { return values.size(); }  ///< the number of values
};

namespace detail {

template <class Keys>
using key_of_array = std::remove_cv_t<std::ranges::range_value_t<Keys>>;

struct count_rows {
  const u32* codes;
  u32* counts;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] != no_code) tilehash::TILEHASH_ABI::detail::fetch_add(counts + codes[i], u32(1));
  }
};
// Adds 1 to the count of each row's code.
template <class Space>
void count_codes(Space& space, const u32* codes, u64 n, u64 values, u32* counts) {
  if constexpr (Space::has_lanes)
    fold_on_lanes(space, codes, n, values, ones{}, counts, op::sum{});
  else
    space.for_each(n, count_rows{codes, counts});
}
template <class T>
struct gather {
  const T* from;
  const u32* rows;
  T* to;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[rows[i]]; }
};
struct permute_codes {
  u32* codes;
  const u32* ranks;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] != no_code) codes[i] = ranks[codes[i]];
  }
};
struct invert {
  const u32* order;
  u32* ranks;
  TILEHASH_FN void operator()(u64 i) const { ranks[order[i]] = static_cast<u32>(i); }
};
// An integer with the order of the key; a NaN is the largest.
template <class Key>
struct write_ordered_bits {
  const Key* keys;
  u64* bits;
  TILEHASH_FN void operator()(u64 i) const {
    constexpr u32 width = 8 * sizeof(Key);
    constexpr u64 sign = u64(1) << (width - 1);
    const u64 b = to_bits<u64>(canonical(keys[i]));
    if constexpr (ieee_float<Key>)
      bits[i] = !is_legal(keys[i]) ? ~u64(0) : (b & sign) != 0 ? ~b & (sign | (sign - 1)) : b | sign;
    else
      bits[i] = std::is_signed_v<Key> ? b ^ sign : b;
  }
};

// Renumbers values in ascending order. Temporary memory: 24 bytes a value.
template <class Key, class Space>
void sort_values(Space& space, const Key* keys, factors<Space>& found, u64 n) {
  static_assert((std::is_integral_v<Key> || ieee_float<Key>)&&sizeof(Key) <= 8,
                "tilehash: only numbers of up to 8 bytes are sorted");
  const u64 values = found.size();
  buffer<Key, Space> of_values(space, values);
  buffer<u64, Space> bits(space, values);
  buffer<u32, Space> order(space, values), ranks(space, values), rows(space, values);
  space.for_each(values, gather<Key>{keys, found.first_rows.data(), of_values.data()});
  space.for_each(values, write_ordered_bits<Key>{of_values.data(), bits.data()});
  space.for_each(values, write_number{order.data()});
  space.sort_pairs(bits.data(), order.data(), values, 64);
  space.for_each(values, invert{order.data(), ranks.data()});
  space.for_each(n, permute_codes{found.codes.data(), ranks.data()});
  space.for_each(values, gather<u32>{found.first_rows.data(), order.data(), rows.data()});
  space.synchronize();
  found.first_rows = std::move(rows);
}

template <class Key>
struct is_missing_at {
  const Key* keys;
  u32* any;
  TILEHASH_FN void operator()(u64 i) const {
    if (!is_legal(keys[i])) tilehash::TILEHASH_ABI::detail::fetch_or(any, u32(1));
  }
};
template <class Key, class Space>
void refuse_missing(Space& space, std::span<const Key> keys) {
  if constexpr (has_nan<Key>) {
    buffer<u32, Space> any(space, 1);
    space.fill(any.data(), 1, u32(0));
    space.for_each(keys.size(), is_missing_at<Key>{keys.data(), any.data()});
    require(read_one(space, any.data()) == 0, "analysis: a key is NaN, and missing keys are refused");
  }
}

// A row of one array is compared with a row of another.
template <class Key>
struct probing_rows : array_rows<Key> {
  const Key* others = nullptr;
  bool same(u64 row, u64 other) const {
    if constexpr (array_rows<Key>::exact)
      return true;
    else
      return same_key(this->keys[row], others[other]);
  }
};

}  // namespace detail

/// Numbers the different keys of an array.
///
/// \param space that runs the call.
/// \param keys an array in memory of the space, of at most 2^32 - 2 rows.
/// \param options the order of the codes, and what NaN means.
/// \return the code of each row, and the first row of each value.
/// \throws invalid_argument for more rows, for memory of another space and for refused keys; out_of_memory
/// (strong).
/// \complexity O(n) expected; sorted, O(n + d log d) for d values.
/// \memory on a CPU, at most 60 bytes a value and 1/4 byte a row. On a GPU, at most 31 bytes a value and 1/2 byte a
/// row, or 16 bytes a row for up to 2^20 rows. Keys of over 4 bytes take twice that, keys of over 8 bytes a map of the
/// values and 8 bytes a row.
/// \synchronizes yes.
/// \concurrency no other call may write the keys.
template <class Space, std::ranges::contiguous_range Keys>
[[nodiscard]] factors<Space> factorize(Space& space, const Keys& keys, const code_options& options = {}) {
  using key = detail::key_of_array<Keys>;
  static_assert(detail::checked_key<key>::is);
  const std::span<const key> all(keys);
  detail::require(all.size() < no_code, "factorize: an array has at most 2^32 - 2 rows; split it");
  space.check_pointer(all, "factorize: the keys");
  if (options.missing_keys == missing::refused) detail::refuse_missing(space, all);
  const auto how = options.missing_keys == missing::as_key ? detail::missing_rows::are_a_key
                                                           : detail::missing_rows::excluded;
  factors<Space> found;
  found.codes = buffer<u32, Space>(space, all.size());
  if (all.empty()) return found;
  if constexpr (Space::has_lanes)
    found.first_rows = detail::code_on_lanes(space, all, found.codes.data(), how);
  else
    found.first_rows =
        detail::code_rows(space, detail::array_rows<key>{all.data()}, all.size(), found.codes.data(), how);
  if constexpr (sizeof(key) <= 8 && (std::is_integral_v<key> || detail::ieee_float<key>)) {
    if (options.by == order::sorted) detail::sort_values(space, all.data(), found, all.size());
  } else {
    detail::require(options.by == order::first, "factorize: only numbers of up to 8 bytes are sorted");
  }
  return found;
}

/// Finds the different keys of an array, with their counts, their first rows and the value of each row.
///
/// Parameters, exceptions, complexity and memory as for factorize(); also a copy of the values and 4 bytes
/// for each.
template <class Space, std::ranges::contiguous_range Keys>
[[nodiscard]] unique_values<detail::key_of_array<Keys>, Space> unique(Space& space, const Keys& keys,
                                                                      const code_options& options = {}) {
  using key = detail::key_of_array<Keys>;
  const std::span<const key> all(keys);
  auto found = factorize(space, keys, options);
  unique_values<key, Space> result;
  const u64 values = found.size();
  result.values = buffer<key, Space>(space, values);
  result.counts = buffer<u32, Space>(space, values);
  space.for_each(values, detail::gather<key>{all.data(), found.first_rows.data(), result.values.data()});
  if (values != 0) space.fill(result.counts.data(), values, u32(0));
  detail::count_codes(space, found.codes.data(), all.size(), values, result.counts.data());
  space.synchronize();
  result.first_rows = std::move(found.first_rows);
  result.codes = std::move(found.codes);
  return result;
}

/// Counts the rows of each different key. As unique(), without the value of each row and the first rows.
template <class Space, std::ranges::contiguous_range Keys>
[[nodiscard]] unique_values<detail::key_of_array<Keys>, Space> value_counts(
    Space& space, const Keys& keys, const code_options& options = {}) {
  auto found = unique(space, keys, options);
  found.codes = {};
  found.first_rows = {};
  return found;
}

/// Tests which keys are among the wanted ones. A NaN is among none.
///
/// \param space that runs the call.
/// \param keys,wanted arrays of one key type in memory of the space.
/// \param out as many flags as keys.
/// \throws invalid_argument for other sizes, overlap or memory of another space; out_of_memory (strong).
/// \complexity O(keys + wanted) expected.
/// \memory a set of the wanted keys.
/// \synchronizes yes.
/// \concurrency no other call may write the keys or use `out`.
template <class Space, std::ranges::contiguous_range Keys, std::ranges::contiguous_range Wanted>
void isin(Space& space, const Keys& keys, const Wanted& wanted, flags out) {
  using key = detail::key_of_array<Keys>;
  static_assert(std::is_same_v<key, detail::key_of_array<Wanted>>, "tilehash: isin takes keys of one type");
  const std::span<const key> all(keys), among(wanted);
  detail::require(out.size() == all.size(), "isin: keys and flags differ in length");
  if constexpr (Space::has_lanes) {
    set<key, Space> table(space, among.size());
    static_cast<void>(table.insert(space, among));
    table.contains(space, all, out);
  } else {
    space.check_pointer(all, "isin: the keys");
    space.check_pointer(among, "isin: the wanted keys");
    detail::require(among.size() < no_code, "isin: there are at most 2^32 - 2 wanted keys");
    const detail::array_rows<key> rows{among.data()};
    detail::key_finder<detail::array_rows<key>> table(space, rows, among.size());
    table.find(space, detail::probing_rows<key>{{all.data()}, among.data()}, all.size(), no_code,
               [&](u64 row, u32 code) { out.data()[row] = code != no_code; });
  }
}

}  // namespace analysis
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(analysis);
}  // namespace tilehash
