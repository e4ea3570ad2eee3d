// SPDX-License-Identifier: Apache-2.0
// Codes of rows on a GPU: a map from keys to their least row, then ranks of the first rows. Integers in a small range
// need no map: an array has the least row of each integer of the range.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <tilehash/analysis/coded_rows.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/map.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

struct write_number {
  u32* numbers;
  TILEHASH_FN void operator()(u64 i) const { numbers[i] = static_cast<u32>(i); }
};
// The least row that has no key, in *least.
struct find_missing {
  const u32* firsts;
  u32* least;
  TILEHASH_FN void operator()(u64 i) const {
    if (firsts[i] == no_code) tilehash::TILEHASH_ABI::detail::fetch_min(least, static_cast<u32>(i));
  }
};
// Rows without a key get this first row, if there is one.
struct mark_first {
  u32* firsts;
  const u32* missing;
  u32* marks;
  TILEHASH_FN void operator()(u64 i) const {
    if (missing != nullptr && firsts[i] == no_code) firsts[i] = *missing;
    marks[i] = firsts[i] == i ? 1 : 0;
  }
};
// In place: first rows become codes. (firsts and codes are one array; ranks has an element more than rows.)
struct write_code {
  u32* codes;
  const u32* ranks;
  u32* first_rows;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] == no_code) return;
    if (codes[i] == i) first_rows[ranks[i]] = static_cast<u32>(i);
    codes[i] = ranks[codes[i]];
  }
};

// Is a legal key absent from the map?
template <class Key>
struct find_refused {
  const Key* keys;
  const u32* firsts;
  u32* any;
  TILEHASH_FN void operator()(u64 i) const {
    if (firsts[i] == no_code && is_legal(keys[i])) tilehash::TILEHASH_ABI::detail::fetch_or(any, u32(1));
  }
};
// A map without memory to grow refuses keys, as it refuses NaN. Throws out_of_memory if it has refused others.
template <class Key, class Space>
void require_all_keys(Space& space, std::span<const Key> keys, const u32* firsts) {
  buffer<u32, Space> any(space, 1);
  space.fill(any.data(), 1, u32(0));
  space.for_each(keys.size(), find_refused<Key>{keys.data(), firsts, any.data()});
  if (read_one(space, any.data()) != 0)
    throw out_of_memory("factorize: there is no memory for a table of all keys");
}

// The order of integers as that of unsigned words.
template <class Key>
TILEHASH_FN u64 ordered_word(Key key) {
  if constexpr (std::is_signed_v<Key>)
    return static_cast<u64>(static_cast<std::int64_t>(key)) ^ u64(1) << 63;
  else
    return static_cast<u64>(key);
}
// The least and the greatest word of every `step`-th row, from row `lane * apart` on.
template <class Key>
struct find_extent {
  const Key* keys;
  u64 n, apart, step;
  u64* extent;
  TILEHASH_FN void operator()(u64 lane) const {
    u64 least = ~u64(0), greatest = 0;
    for (u64 i = lane * apart; i < n; i += step) {
      const u64 w = ordered_word(keys[i]);
      least = w < least ? w : least;
      greatest = w > greatest ? w : greatest;
    }
    using tilehash::TILEHASH_ABI::detail::load_relaxed;
    if (least < load_relaxed(extent)) tilehash::TILEHASH_ABI::detail::fetch_min(extent, least);
    if (greatest > load_relaxed(extent + 1)) tilehash::TILEHASH_ABI::detail::fetch_max(extent + 1, greatest);
  }
};
template <class Key>
struct write_least_row {
  const Key* keys;
  u64 least;
  u32* rows;
  TILEHASH_FN void operator()(u64 i) const {
    u32* const at = rows + (ordered_word(keys[i]) - least);
    if (i < tilehash::TILEHASH_ABI::detail::load_relaxed(at))
      tilehash::TILEHASH_ABI::detail::fetch_min(at, static_cast<u32>(i));
  }
};
// Reads the element of the row's word.
template <class Key>
struct read_of_word {
  const Key* keys;
  u64 least;
  const u32* of_words;
  u32* out;
  TILEHASH_FN void operator()(u64 i) const { out[i] = of_words[ordered_word(keys[i]) - least]; }
};
struct mark_present {
  const u32* rows;
  u32* marks;
  TILEHASH_FN void operator()(u64 word) const { marks[word] = rows[word] != no_code ? 1 : 0; }
};
struct write_present {
  const u32 *rows, *places;
  u32 *to_rows, *to_words;
  TILEHASH_FN void operator()(u64 word) const {
    if (rows[word] == no_code) return;
    to_rows[places[word]] = rows[word];
    to_words[places[word]] = static_cast<u32>(word);
  }
};
struct number_words {
  const u32* words;
  u32* codes;
  TILEHASH_FN void operator()(u64 code) const { codes[words[code]] = static_cast<u32>(code); }
};
template <class Key>
struct write_keys_of_words {
  const u32* words;
  u64 least;
  Key* keys;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 word = least + words[i];
    keys[i] = static_cast<Key>(std::is_signed_v<Key> ? word ^ u64(1) << 63 : word);
  }
};

// The range of the words of integers, if it has at most `most` words; size 0 otherwise. A sample decides first.
// Synchronizes.
template <class Key, class Space>
word_range range_on_lanes(Space& space, std::span<const Key> keys, u64 most) {
  const u64 n = keys.size();
  buffer<u64, Space> extent(space, 2);
  for (const bool sample : {true, false}) {
    space.fill(extent.data(), 1, ~u64(0));
    space.fill(extent.data() + 1, 1, u64(0));
    const u64 most_lanes = sample ? tuning::gpu::sampled_rows : tuning::gpu::range_lanes;
    const u64 lanes = most_lanes < n ? most_lanes : n;
    space.for_each(
        lanes, find_extent<Key>{keys.data(), n, sample ? n / lanes : 1, sample ? n : lanes, extent.data()});
    u64 found[2];
    space.copy_to_host(found, extent.data(), sizeof found);
    if (found[1] - found[0] >= most) return {};
    if (!sample) return {found[0], found[1] - found[0] + 1};
  }
  return {};
}
// The least row of each word of the keys' range, or no_code; none if the range is large. Memory: 8 bytes a row at most.
// Synchronizes.
template <class Space>
struct rows_of_range {
  word_range range;
  buffer<u32, Space> rows;
};
template <class Key, class Space>
rows_of_range<Space> least_rows_of_range(Space& space, std::span<const Key> keys) {
  if constexpr (std::is_integral_v<Key> && sizeof(Key) <= 8) {
    const u64 n = keys.size(), most = tuning::gpu::dense_share * n;
    if (n < tuning::gpu::least_dense) return {};
    const word_range range = range_on_lanes(space, keys, most < no_code ? most : no_code);
    if (range.size == 0) return {};
    buffer<u32, Space> rows(space, range.size);
    space.fill(rows.data(), range.size, no_code);
    space.for_each(keys.size(), write_least_row<Key>{keys.data(), range.least, rows.data()});
    return {range, std::move(rows)};
  } else {
    return {};
  }
}
// The words of the range that are those of keys, and their least rows, in the order of these. Synchronizes.
template <class Space>
struct words_by_row {
  buffer<u32, Space> rows, words;

  words_by_row(Space& space, const rows_of_range<Space>& of) {
    const u64 size = of.range.size;
    buffer<u32, Space> places(space, size + 1);
    space.fill(places.data() + size, 1, u32(0));
    space.for_each(size, mark_present{of.rows.data(), places.data()});
    space.exclusive_scan(places.data(), places.data(), size + 1);
    const u64 many = read_one(space, places.data() + size);
    rows = buffer<u32, Space>(space, many);
    words = buffer<u32, Space>(space, many);
    space.for_each(size, write_present{of.rows.data(), places.data(), rows.data(), words.data()});
    space.sort_pairs(rows.data(), words.data(), many, 32);
    space.synchronize();
  }
};

// As code_rows() for a CPU. Temporary memory: a map of the different keys, and 8 bytes a row. Synchronizes.
template <class Key, class Space>
buffer<u32, Space> code_on_lanes(Space& space, std::span<const Key> keys, u32* codes, missing_rows missing) {
  const u64 n = keys.size();
  auto dense = least_rows_of_range(space, keys);
  if (dense.range.size != 0 && dense.range.size <= n / tuning::gpu::sorted_share) {
    words_by_row<Space> found(space, dense);
    space.for_each(found.words.size(), number_words{found.words.data(), dense.rows.data()});
    space.for_each(n, read_of_word<Key>{keys.data(), dense.range.least, dense.rows.data(), codes});
    space.synchronize();
    return std::move(found.rows);
  }
  if (dense.range.size != 0) {
    space.for_each(n, read_of_word<Key>{keys.data(), dense.range.least, dense.rows.data(), codes});
    dense.rows = {};
  } else {
    buffer<u32, Space> numbers(space, n);
    space.for_each(n, write_number{numbers.data()});
    map<Key, u32, Space> least(space, 0);
    const std::span<const u32> rows = numbers.span();
    const insert_report report = least.insert_or_apply(space, keys, rows, op::minimum{});
    least.find_or(space, keys, std::span<u32>(codes, n), no_code);
    if (report.refused != 0) require_all_keys(space, keys, codes);
  }
  buffer<u32, Space> ranks(space, n + 1), least_missing(space, 1);
  const bool is_key = missing == missing_rows::are_a_key && has_nan<Key>;
  if (is_key) {
    space.fill(least_missing.data(), 1, no_code);
    space.for_each(n, find_missing{codes, least_missing.data()});
  }
  space.fill(ranks.data() + n, 1, u32(0));
  space.for_each(n, mark_first{codes, is_key ? least_missing.data() : nullptr, ranks.data()});
  space.exclusive_scan(ranks.data(), ranks.data(), n + 1);
  buffer<u32, Space> first_rows(space, read_one(space, ranks.data() + n));
  space.for_each(n, write_code{codes, ranks.data(), first_rows.data()});
  space.synchronize();
  return first_rows;
}

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
