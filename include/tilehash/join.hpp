// SPDX-License-Identifier: Apache-2.0
// join: finds the rows of two sides whose keys are equal, as row numbers. Both sides may have duplicates.
//
//   left keys  | 7 | 4 | 9 |        inner   0-1, 0-2, 2-0
//   right keys | 9 | 7 | 7 |        left    the same and 1-no_match;   semi   0, 2;   anti   1
//
// There are two ways:
//   by regions   both sides are partitioned, and blocks join the regions in their own memory
//                (algorithm/region_join.hpp)
//   by a table   a multimap holds the right side's row numbers, and the left keys are looked up in it
//
// Frequent keys cost the table no more than others: it counts a key's matches at once and writes them evenly
// (algorithm/segments.hpp). Regions with too frequent keys, small right sides and keys of over 8 bytes are
// joined by the table. On a GPU few rows of keys of up to 8 bytes take a short way by a table of their own
// (algorithm/small_join.hpp).
//
// All ways count the rows in time linear in both sides, and write them when there is memory for all of them:
// O(left + right + rows). By regions the counting pass also writes, to memory for one row for each left row.
// A second pass runs only if there are more rows. The order of the rows is unspecified. A NaN equals no key.
#pragma once

#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tilehash/algorithm/region_join.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/algorithm/small_join.hpp>
#include <tilehash/algorithm/write_matches.hpp>
#include <tilehash/core/arrays.hpp>
#include <tilehash/core/join_options.hpp>
#include <tilehash/engine/multi.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// The rows of a join. Row i pairs row left[i] of the left side with row right[i] of the right side, or with
/// no_match. `right` is empty in a semi- or antijoin.
template <class Space>
struct join_rows {
  buffer<u32, Space> left;                  ///< numbers of left rows, from 0
  buffer<u32, Space> right;                 ///< numbers of right rows, or no_match
  u64 size() const { return left.size(); }  ///< the number of rows
};

namespace detail {

// ---- by a table ----

struct number_rows {
  u32* numbers;
  TILEHASH_FN void operator()(u64 i) const { numbers[i] = static_cast<u32>(i); }
};
// Stores the result of a left key's lookup: where its matches begin among the values, and its number of rows.
struct match_sink {
  const u32* all;
  join_kind kind;
  u32* begins;
  u64* counts;
  template <class Hit>
  TILEHASH_FN void operator()(u64 i, const Hit& hit) const {
    begins[i] = hit.found() ? static_cast<u32>(hit.first - all) : no_match;
    counts[i] = joined_rows(kind, hit.found() ? hit.number : 0);
  }
};
// Whether a join of few rows takes a way of its own.
template <class Key, class Space>
inline constexpr bool joins_few = Space::has_lanes && sizeof(Key) <= 8;
struct no_few_rows {};

template <class Key, class Space>
class table_join {
  using matches = typename multi<Key, u32>::template engine<Space>;
  using few_rows = std::conditional_t<joins_few<Key, Space>, small_join<Key, Space>, no_few_rows>;

 public:
  // Counts the rows. Null numbers mean the keys' positions. Synchronizes. Throws out_of_memory.
  void count(Space& space, std::span<const Key> left, const u32* left_numbers, std::span<const Key> right,
             const u32* right_numbers, join_kind kind) {
    numbers_ = left_numbers;
    kind_ = kind;
    matches table(space, 0, {});
    {
      buffer<u32, Space> own;
      if (right_numbers == nullptr) {
        own = buffer<u32, Space>(space, right.size());
        space.for_each(right.size(), number_rows{own.data()});
        right_numbers = own.data();
      }
      std::ignore = table.build_arrays(space, right.data(), right_numbers, right.size());
    }
    rows_ = left.size();
    begins_ = buffer<u32, Space>(space, rows_);
    offsets_ = buffer<u64, Space>(space, rows_ + 1);
    space.fill(offsets_.data() + rows_, 1, u64(0));
    table.look_up(space, left.data(), rows_,
                  match_sink{table.view().all_values, kind, begins_.data(), offsets_.data()});
    space.exclusive_scan(offsets_.data(), offsets_.data(), rows_ + 1);
    size_ = read_one(space, offsets_.data() + rows_);
    table_.emplace(std::move(table));
  }
  // The same by the way of few rows, if they are. Returns false, and counts nothing, otherwise.
  bool count_few(Space& space, std::span<const Key> left, std::span<const Key> right, join_kind kind) {
    if constexpr (joins_few<Key, Space>) {
      if (!few_rows::takes(left.size(), right.size())) return false;
      kind_ = kind;
      few_.count(space, left, right, kind, drawn_seed());
      size_ = few_.size();
      return true;
    } else {
      return false;
    }
  }
  u64 size() const { return size_; }
  // Does not synchronize.
  void write(Space& space, const join_output& out) const {
    if (size_ == 0) return;
    write_matches(space, matched(), size_, kind_, out);
  }

 private:
  match_segments matched() const {
    if constexpr (joins_few<Key, Space>)
      if (!table_) return few_.matched();
    return {offsets_.data(), rows_, begins_.data(), numbers_, table_->view().all_values};
  }

  std::optional<matches> table_;
  join_kind kind_ = join_kind::inner;
  const u32* numbers_ = nullptr;
  u64 rows_ = 0, size_ = 0;
  buffer<u32, Space> begins_;
  buffer<u64, Space> offsets_;
  [[no_unique_address]] few_rows few_;
};

// ---- both ----

// Allocates memory for n rows.
template <class Space>
join_rows<Space> make_join_rows(Space& space, u64 n, join_kind kind) {
  const bool pairs = has_right_rows(kind);
  join_rows<Space> rows;
  try {
    rows.left = buffer<u32, Space>(space, n);
    if (pairs) rows.right = buffer<u32, Space>(space, n);
  } catch (const out_of_memory&) {
    throw out_of_memory("tilehash: the join has " + std::to_string(n) + " rows of " +
                        std::to_string((pairs ? 2 : 1) * sizeof(u32)) +
                        " bytes each, and there is not the memory for them; join the left side in parts");
  }
  return rows;
}

// Replaces region_join where keys are too wide for regions: it has no rows.
template <class Space>
struct no_regions {
  static u64 size() { return 0; }
  static u64 written() { return 0; }
  static void forget_written() {}
  static void write(Space& /*space*/, const join_output& /*out*/) {}
};

// A counted join. If the caller will need the rows, the count also writes them where that costs nothing.
template <class Key, class Space>
class counted_join {
 public:
  counted_join(Space& space, std::span<const Key> left, std::span<const Key> right, const join_options& how,
               bool will_be_asked = false)
      : kind_(how.kind), will_be_asked_(will_be_asked) {
    constexpr u64 most = no_match - 1;
    require(left.size() <= most && right.size() <= most,
            "join: a side has at most 2^32 - 2 rows; join it in parts");
    space.check_pointer(left, "join: the left keys");
    space.check_pointer(right, "join: the right keys");
    if (how.way == join_options::ways::automatic && count_few(space, left, right)) return;
    if constexpr (sizeof(Key) <= 8) {
      if (how.way != join_options::ways::by_table && count_by_regions(space, left, right, how)) return;
    }
    require(sizeof(Key) <= 8 || how.way != join_options::ways::by_regions,
            "join: only keys of up to 8 bytes are joined by regions");
    by_table_.count(space, left, nullptr, right, nullptr, how.kind);
  }
  u64 size() const { return by_regions_.size() + by_table_.size(); }
  // Writes the rows; call it once. Synchronizes.
  void write(Space& space, u32* left, u32* right) {
    if (by_regions_.size() != 0) by_regions_.write(space, {left, right});
    const u64 done = by_regions_.size();
    by_table_.write(space, {left + done, right != nullptr ? right + done : nullptr});
    space.synchronize();
  }
  // Returns the rows in memory of their own. Throws out_of_memory.
  join_rows<Space> rows(Space& space) {
    const u64 n = size(), written = by_regions_.written();
    if (written == 0) there_ = {};
    join_rows<Space> all = written != 0 && there_.size() == n ? std::move(there_) : copied(space, written);
    write(space, all.left.data(), all.right.data());
    return all;
  }

 private:
  using regions = std::conditional_t<sizeof(Key) <= 8, region_join<Key, Space>, no_regions<Space>>;

  // How often right keys come, about, from a sample: 1, if they come seldom; 0, if so often that regions would
  // get too uneven. (A CPU takes one way for all: a thread that walks a list is no slower.)
  static u32 copies_in(Space& space, std::span<const Key> right) {
    if constexpr (Space::has_lanes) {
      u32 parts = 1;  // as precise for many rows as for fewer
      while (parts < 8 && u64(parts) * parts << 20 < right.size()) parts *= 2;
      const auto sample = sample_keys(space, right.data(), right.size(), parts);
      if (!sample.more_uneven_than(tuning::of<Space>::walked_copies)) return 1;
      for (u32 copies = 4; copies <= tuning::of<Space>::joined_copies; copies *= 2)
        if (!sample.more_uneven_than(copies)) return copies;
      return 0;
    } else {
      return 1;
    }
  }
  // Allocates memory for all rows and copies those already written into it.
  join_rows<Space> copied(Space& space, u64 written) {
    join_rows<Space> all;
    try {
      all = make_join_rows(space, size(), kind_);
    } catch (const out_of_memory&) {
      if (written == 0) throw;
      there_ = {};
      by_regions_.forget_written();
      return make_join_rows(space, size(), kind_);
    }
    if (written == 0) return all;
    space.copy(all.left.data(), there_.left.data(), written * sizeof(u32));
    if (has_right_rows(kind_)) space.copy(all.right.data(), there_.right.data(), written * sizeof(u32));
    return all;
  }
  // Allocates memory for one row for each left row, if it is free.
  void reserve_rows(Space& space, u64 rows) {
    if (!will_be_asked_) return;
    try {
      there_ = make_join_rows(space, rows, kind_);
    } catch (const out_of_memory&) {  // the rows are written after they are counted
    }
  }
  // Returns false, and counts nothing, where another way is to join the sides.
  bool count_few(Space& space, std::span<const Key> left, std::span<const Key> right) {
    try {
      return by_table_.count_few(space, left, right, kind_);
    } catch (const out_of_memory&) {  // another way may need less
      by_table_ = {};
      return false;
    }
  }
  // Returns false, and counts nothing, where the table is to join the sides.
  bool count_by_regions(Space& space, std::span<const Key> left, std::span<const Key> right,
                        const join_options& how) {
    const bool asked = how.way == join_options::ways::by_regions;
    if (!asked && (right.size() < regions::least_rows || left.empty())) return false;
    try {
      u32 copies = right.empty() ? 1 : copies_in(space, right);
      if (copies == 0 && !asked) return false;
      if (copies == 0) copies = 1;
      if (copies == 1) reserve_rows(space, left.size());
      if (!by_regions_.count(space, left, right, how.kind, drawn_seed(),
                             {there_.left.data(), there_.right.data()}, there_.size(), copies))
        return false;
      by_regions_.rest(space, rest_left_, rest_right_);
      if (rest_left_.keys.size() != 0)
        by_table_.count(space, rest_left_.keys.span(), rest_left_.numbers.data(), rest_right_.keys.span(),
                        rest_right_.numbers.data(), how.kind);
      return true;
    } catch (const out_of_memory&) {  // the table may need less
      if (asked) throw;
      there_ = {};
      by_regions_ = {};
      by_table_ = {};
      rest_left_ = {};
      rest_right_ = {};
      return false;
    }
  }

  join_kind kind_;
  bool will_be_asked_;
  join_rows<Space> there_;
  regions by_regions_;
  numbered_rows<Key, Space> rest_left_, rest_right_;
  table_join<Key, Space> by_table_;
};

template <class Keys>
using key_of = std::remove_cv_t<std::ranges::range_value_t<Keys>>;

template <class Left, class Right>
concept joinable = std::ranges::contiguous_range<Left> && std::ranges::contiguous_range<Right> &&
                   std::same_as<key_of<Left>, key_of<Right>>;

template <class Space, class Left, class Right>
auto count_join(Space& space, const Left& left, const Right& right, const join_options& how,
                bool will_be_asked = false) {
  using key = key_of<Left>;
  static_assert(checked_key<key>::is);
  return counted_join<key, Space>(space, std::span<const key>(left), std::span<const key>(right), how,
                                  will_be_asked);
}

}  // namespace detail

/// Returns how many rows the join has.
///
/// The time does not depend on the result: a million equal keys on both sides have 10^12 rows.
/// \param space that runs the join.
/// \param left,right arrays of one key type in memory of the space, of at most 2^32 - 2 rows each.
/// \param options the kind of join, and how it finds the rows.
/// \return the number of rows.
/// \throws invalid_argument for memory of another space, for longer sides, or if options ask for regions and
/// the keys are wide; out_of_memory (strong).
/// \complexity O(left + right).
/// \memory by regions, 1.2 to 1.4 times the bytes of both sides; a row counts as its key and 4 to 8 bytes.
/// By a table, that of its build and 12 bytes for each left row. Few rows on a GPU: 16 bytes for each left row
/// and 36 to 44 for each right row.
/// \synchronizes yes.
/// \concurrency no other call may write the keys.
template <class Space, class Left, class Right>
  requires detail::joinable<Left, Right>
[[nodiscard]] u64 join_size(Space& space, const Left& left, const Right& right,
                            const join_options& options = {}) {
  return detail::count_join(space, left, right, options).size();
}

/// Joins two sides and returns the rows in memory of the space.
///
/// \param space that runs the join.
/// \param left,right arrays of one key type in memory of the space, of at most 2^32 - 2 rows each.
/// \param options the kind of join, and how it finds the rows.
/// \return the rows, in no given order.
/// \throws as join_size() (strong). If the rows do not fit the memory, the message of out_of_memory has
/// their number and the bytes of each.
/// \complexity O(left + right + rows).
/// \memory as join_size(); by regions also 8 bytes for each left row, if that memory is free.
/// \synchronizes yes.
/// \concurrency no other call may write the keys.
template <class Space, class Left, class Right>
  requires detail::joinable<Left, Right>
[[nodiscard]] join_rows<Space> join(Space& space, const Left& left, const Right& right,
                                    const join_options& options = {}) {
  return detail::count_join(space, left, right, options, true).rows(space);
}

/// Joins two sides and writes the rows to the caller's arrays.
///
/// \param space that runs the join.
/// \param left,right arrays of one key type in memory of the space, of at most 2^32 - 2 rows each.
/// \param left_rows,right_rows receive the rows. Semi- and antijoins do not use `right_rows`.
/// \param options the kind of join, and how it finds the rows.
/// \return the number of rows. If an array has fewer elements, nothing is written.
/// \throws invalid_argument as join_size(), and if these arrays overlap each other or the keys (strong);
/// out_of_memory (basic).
/// \complexity O(left + right + rows).
/// \memory as join_size().
/// \synchronizes yes.
/// \concurrency no other call may use the rows' arrays or write the keys.
template <class Space, class Left, class Right>
  requires detail::joinable<Left, Right>
[[nodiscard]] u64 join(Space& space, const Left& left, const Right& right, std::span<u32> left_rows,
                       std::span<u32> right_rows, const join_options& options = {}) {
  const bool pairs = detail::has_right_rows(options.kind);
  space.check_pointer(left_rows, "join: the left rows");
  if (pairs) space.check_pointer(right_rows, "join: the right rows");
  const std::span<const detail::key_of<Left>> left_keys(left), right_keys(right);
  const std::span<u32> written_right = pairs ? right_rows : std::span<u32>();
  for (const auto& rows : {left_rows, written_right}) {
    detail::require_apart(rows, left_keys, "join", "the rows", "the left keys");
    detail::require_apart(rows, right_keys, "join", "the rows", "the right keys");
  }
  detail::require_apart(left_rows, written_right, "join", "the left rows", "the right rows");
  auto counted = detail::count_join(space, left, right, options);
  const u64 n = counted.size();
  if (n <= left_rows.size() && (!pairs || n <= right_rows.size()))
    counted.write(space, left_rows.data(), pairs ? right_rows.data() : nullptr);
  return n;
}

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(join);
TILEHASH_PUBLIC(join_size);
}  // namespace tilehash
