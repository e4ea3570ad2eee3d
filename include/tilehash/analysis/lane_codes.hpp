// SPDX-License-Identifier: Apache-2.0
// Codes of rows on a GPU: a table of the first row of each key, then ranks of the first rows. Integers in a small range
// need no hash: an array has the first row of each integer of the range.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <tilehash/analysis/coded_rows.hpp>
#include <tilehash/analysis/lane_rows.hpp>
#include <tilehash/analysis/lane_table.hpp>
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
// Unsigned words may be signed numbers, of which a small range has words near 0 and near the greatest one. So the
// range of words whose upper bit is flipped counts, too.
template <class Key>
inline constexpr bool may_be_signed = std::is_unsigned_v<Key> && sizeof(Key) >= 4;
template <class Key>
inline constexpr u64 sign_bit = u64(1) << (8 * sizeof(Key) - 1);
// The least and the greatest word, then the same of flipped words: of a sample, and of all rows if the sample's range
// is small.
struct extents {
  u64 of_sample[4], of_all[4];
  TILEHASH_FN static bool is_small(const u64* of, u64 most) {
    return (of[0] <= of[1] && of[1] - of[0] < most) || (of[2] <= of[3] && of[3] - of[2] < most);
  }
};
struct clear_extents {
  extents* found;
  TILEHASH_FN void operator()(u64 i) const {
    found->of_sample[i] = found->of_all[i] = i % 2 == 0 ? ~u64(0) : 0;
  }
};
// From row `lane * apart` on, every `step`-th row.
template <class Key>
struct find_extent {
  static constexpr u32 warp = 32, at_once = tuning::gpu::coded_at_once, kinds = may_be_signed<Key> ? 2 : 1;
  using word = std::conditional_t<sizeof(Key) <= 4, u32, u64>;
  const Key* keys;
  u64 n, apart, step;
  bool sample;
  u64 most;
  extents* found;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    if (!sample && !extents::is_small(found->of_sample, most)) return;
    word least[kinds], greatest[kinds];
    TILEHASH_UNROLL
    for (u32 kind = 0; kind < kinds; ++kind) least[kind] = static_cast<word>(~u64(0)), greatest[kind] = 0;
    for (u64 i = lane.index() * apart; i < n; i += at_once * step) {
      word words[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) words[k] = short_word(keys[i + k * step < n ? i + k * step : i]);
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once * kinds; ++k) {
        const word w = k < at_once ? words[k] : static_cast<word>(words[k % at_once] ^ sign_bit<Key>);
        least[k / at_once] = w < least[k / at_once] ? w : least[k / at_once];
        greatest[k / at_once] = w > greatest[k / at_once] ? w : greatest[k / at_once];
      }
    }
    TILEHASH_UNROLL
    for (u32 kind = 0; kind < kinds; ++kind)
      add(lane.template tile<warp>(), (sample ? found->of_sample : found->of_all) + u64(2) * kind,
          widened(least[kind]), widened(greatest[kind]));
  }

 private:
  // ordered_word() in 4 bytes, if the key has no more, and back.
  TILEHASH_FN static word short_word(Key key) {
    if constexpr (sizeof(word) == 8)
      return ordered_word(key);
    else
      return static_cast<u32>(key) ^ (std::is_signed_v<Key> ? u32(1) << 31 : 0);
  }
  TILEHASH_FN static u64 widened(word w) {
    if constexpr (sizeof(word) == 8 || std::is_unsigned_v<Key>)
      return w;
    else
      return ordered_word(static_cast<std::int32_t>(w ^ u32(1) << 31));
  }
  // Adds those of all lanes of a warp.
  template <class Tile>
  TILEHASH_FN static void add(Tile t, u64* to, u64 least, u64 greatest) {
    TILEHASH_UNROLL
    for (u32 by = 1; by < warp; by *= 2) {
      const u64 other_least = t.from_left(least, by), other_greatest = t.from_left(greatest, by);
      least = other_least < least ? other_least : least;
      greatest = other_greatest > greatest ? other_greatest : greatest;
    }
    if (t.rank() != warp - 1) return;
    lower_to(to, least, ~u64(0));
    if (greatest > load_relaxed(to + 1)) fetch_max(to + 1, greatest);
  }
};
// The range of the words of integers, if it has at most `most` words; size 0 otherwise. Synchronizes.
template <class Key, class Space>
word_range range_on_lanes(Space& space, std::span<const Key> keys, u64 most) {
  const u64 n = keys.size();
  buffer<extents, Space> found(space, 1);
  space.for_each(4, clear_extents{found.data()});
  for (const bool sample : {true, false}) {
    const u64 most_lanes = sample ? tuning::gpu::sampled_rows : tuning::gpu::range_lanes;
    const u64 lanes = most_lanes < n ? most_lanes : n;
    constexpr u64 block = tuning::gpu::lanes_block;
    space.for_each_lane(
        lanes, find_extent<Key>{keys.data(), n, sample ? n / lanes : 1,
                                sample ? n : divide_up(lanes, block) * block, sample, most, found.data()});
  }
  const extents all = read_one(space, found.data());
  if (!extents::is_small(all.of_all, most)) return {};
  const u64* const of = all.of_all;
  if (of[0] <= of[1] && of[1] - of[0] < most) return {of[0], of[1] - of[0] + 1};
  return {of[2] ^ sign_bit<Key>, of[3] - of[2] + 1};
}

// A row's word as an offset in the range, and the word of the table there.
struct row_in_range {
  u32 at, seen;
};
template <class Key>
struct rows_in_range {
  using of_row = row_in_range;
  static constexpr u32 at_once = tuning::gpu::coded_at_once;
  const Key* keys;
  u64 least;
  u32* rows;
  TILEHASH_FN of_row load(u64 row) const { return {static_cast<u32>(ordered_word(keys[row]) - least), 0}; }
};
template <class Key>
struct write_least_rows : rows_in_range<Key> {
  static constexpr bool meets_others = true;
  bool from_cache;
  TILEHASH_FN void seek(row_in_range& x) const {
    x.seen = from_cache ? load_cached(this->rows + x.at) : no_code;
  }
  TILEHASH_FN void use(u64 i, const row_in_range& x) const {
    lower_to(this->rows + x.at, static_cast<u32>(i), x.seen);
  }
};
template <class Key, class Code>
struct write_codes_of_range : rows_in_range<Key> {
  Code* codes;
  TILEHASH_FN void seek(row_in_range& x) const { x.seen = this->rows[x.at]; }
  TILEHASH_FN void use(u64 i, const row_in_range& x) const { codes[i] = static_cast<Code>(x.seen); }
};
struct mark_words {
  const u32* rows;
  row_ranks ranks;
  TILEHASH_FN void operator()(u64 word) const {
    if (rows[word] != no_code) ranks.mark(rows[word]);
  }
};
struct number_words {
  u32* rows;
  row_ranks ranks;
  TILEHASH_FN void operator()(u64 word) const {
    if (rows[word] != no_code) rows[word] = ranks.of(rows[word]);
  }
};
// The same for few words, which each lane compares with all. The number of first rows is at numbers[range].
struct number_few {
  const u32* rows;
  u64 range;
  u32* numbers;
  TILEHASH_FN void operator()(u64 word) const {
    const u32 row = word < range ? rows[word] : no_code;
    u32 less = 0;
    for (u64 other = 0; other < range; ++other) less += u32(rows[other] < row);
    numbers[word] = row == no_code && word < range ? no_code : less;
  }
};
struct write_few {
  const u32* numbers;
  u32 *rows, *first_rows;
  TILEHASH_FN void operator()(u64 word) const {
    if (rows[word] != no_code) first_rows[numbers[word]] = rows[word];
    rows[word] = numbers[word];
  }
};
// Replaces the first rows of a range's words by their ranks among all. Returns the first rows. Synchronizes.
template <class Space>
buffer<u32, Space> number_range(Space& space, const buffer<u32, Space>& rows, u64 n) {
  const u64 range = rows.size();
  if (range <= tuning::gpu::few_words) {
    buffer<u32, Space> numbers(space, range + 1);
    space.for_each(range + 1, number_few{rows.data(), range, numbers.data()});
    buffer<u32, Space> first_rows(space, read_one(space, numbers.data() + range));
    space.for_each(range, write_few{numbers.data(), rows.data(), first_rows.data()});
    return first_rows;
  }
  lane_ranks<Space> ranks(space, n);
  space.for_each(range, mark_words{rows.data(), ranks.view()});
  auto first_rows = ranks.rows(space);
  space.for_each(range, number_words{rows.data(), ranks.view()});
  return first_rows;
}
// Rows of the first kernel, if the range has so many words.
inline u64 rows_alone_in_range(u64 n, u64 range) {
  return range <= tuning::gpu::cached_words ? first_rows_alone(n) : n;
}
// The first rows of integers in a small range, and codes that are their ranks: an array has a word for each integer.
template <class Key, class Space>
class range_table {
 public:
  // Memory: 4 bytes a word of the range, 3/8 of a byte a row. Synchronizes. Throws out_of_memory.
  range_table(Space& space, std::span<const Key> keys, word_range range)
      : keys_(keys), least_(range.least), rows_(space, range.size) {
    const u64 n = keys.size();
    space.fill(rows_.data(), range.size, no_code);
    const rows_in_range<Key> rows{keys.data(), least_, rows_.data()};
    const u64 alone = rows_alone_in_range(n, range.size);
    for_rows(space, 0, alone, write_least_rows<Key>{rows, false});
    for_rows(space, alone, n, write_least_rows<Key>{rows, true});
    first_rows_ = number_range(space, rows_, n);
  }
  // Writes a code for each row. Does not synchronize.
  template <class Code>
  void codes(Space& space, Code* out) const {
    for_rows(space, 0, keys_.size(),
             write_codes_of_range<Key, Code>{{keys_.data(), least_, rows_.data()}, out});
  }
  buffer<u32, Space>& first_rows() { return first_rows_; }

 private:
  std::span<const Key> keys_;
  u64 least_;
  buffer<u32, Space> rows_, first_rows_;
};

// The range of keys that need no hash; size 0: they need one. Synchronizes.
template <class Key, class Space>
word_range small_range(Space& space, std::span<const Key> keys) {
  if constexpr (std::is_integral_v<Key> && sizeof(Key) <= 8) {
    const u64 n = keys.size(), most = tuning::gpu::dense_share * n;
    if (n >= tuning::gpu::least_dense) return range_on_lanes(space, keys, most < no_code ? most : no_code);
  }
  return {};
}
// The first rows of keys of up to 8 bytes, and their codes: by one of the two tables. The keys outlive it. A range that
// the caller knows is not looked for.
template <class Key, class Space>
class coded_keys {
 public:
  // Synchronizes. Throws out_of_memory.
  coded_keys(Space& space, std::span<const Key> keys, missing_rows missing, word_range known = {}) {
    const word_range range = known.size != 0 ? known : small_range(space, keys);
    if constexpr (std::is_integral_v<Key>) {
      if (range.size != 0) {
        by_range_ = std::make_unique<range_table<Key, Space>>(space, keys, range);
        return;
      }
    }
    by_hash_ = std::make_unique<first_table<Key, Space>>(space, keys, missing == missing_rows::are_a_key);
  }
  // Writes a code for each row; -1 for a missing one. Does not synchronize.
  template <class Code>
  void codes(Space& space, Code* out) {
    if constexpr (std::is_integral_v<Key>) {
      if (by_range_ != nullptr) return by_range_->codes(space, out);
    }
    by_hash_->codes(space, out);
  }
  buffer<u32, Space>& first_rows() {
    return by_range_ != nullptr ? by_range_->first_rows() : by_hash_->first_rows();
  }

 private:
  std::unique_ptr<range_table<Key, Space>> by_range_;
  std::unique_ptr<first_table<Key, Space>> by_hash_;
};

// As code_rows() for a CPU, by a map for keys of over 8 bytes. Temporary memory: the map, and 8 bytes a row.
// Synchronizes.
template <class Key, class Space>
buffer<u32, Space> code_by_map(Space& space, std::span<const Key> keys, u32* codes, missing_rows missing) {
  const u64 n = keys.size();
  buffer<u32, Space> numbers(space, n);
  space.for_each(n, write_number{numbers.data()});
  map<Key, u32, Space> least(space, 0);
  const std::span<const u32> rows = numbers.span();
  const insert_report report = least.insert_or_apply(space, keys, rows, op::minimum{});
  least.find_or(space, keys, std::span<u32>(codes, n), no_code);
  if (report.refused != 0) require_all_keys(space, keys, codes);
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

// As code_rows() for a CPU. Temporary memory: a table of the different keys, and 3/8 of a byte a row. Synchronizes.
template <class Key, class Space>
buffer<u32, Space> code_on_lanes(Space& space, std::span<const Key> keys, u32* codes, missing_rows missing,
                                 word_range known = {}) {
  if constexpr (fits_first_table<Key>) {
    coded_keys<Key, Space> coded(space, keys, missing, known);
    coded.codes(space, codes);
    space.synchronize();
    return std::move(coded.first_rows());
  } else {
    return code_by_map(space, keys, codes, missing);
  }
}

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
