// SPDX-License-Identifier: Apache-2.0
// group_by: rows grouped once, by one or several key columns, then any number of reductions of values.
//
//   keys    | 7 | 4 | 7 | 9 |      codes   | 0 | 1 | 0 | 2 |
//   values  | 1 | 5 | 2 | 8 |      sum     | 3 | 5 | 8 |
//
// On a CPU each thread serves a range of the groups and reads all codes. So each group's values are combined
// in the order of their rows, and sums of floating-point numbers do not depend on the threads. On a GPU
// values are combined by atomic operations, in any order.
#pragma once

#include <ranges>
#include <span>
#include <utility>

#include <tilehash/analysis/columns.hpp>
#include <tilehash/core/op.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis {
namespace detail {

// Calls step(state of the row's group, row) for each row with a group. The rows of a group come in order, and
// from one thread.
template <class State, class Step>
void fold_groups(cpu& space, const u32* codes, u64 n, State* states, u64 groups, const Step& step) {
  const u64 threads = n < tuning::cpu::least_shared ? 1 : static_cast<u64>(space.threads());
  const u64 shares = threads < groups ? threads : groups;
  if (shares <= static_cast<u64>(tuning::cpu::few_threads) &&
      (shares <= 1 || groups * sizeof(State) <= tuning::cpu::first_in_order)) {
    for (u64 i = 0; i < n; ++i)
      if (codes[i] != no_code) step(states[codes[i]], i);
    return;
  }
  space.for_each_block(shares, 1, 0, [&](auto block) {
    const u64 from = block.index() * groups / shares, many = (block.index() + 1) * groups / shares - from;
    // Whose a row is cannot be predicted, so the thread lists its rows without a branch.
    u32 mine[tuning::cpu::listed_rows];
    for (u64 at = 0; at < n; at += tuning::cpu::listed_rows) {
      const u64 rows = n - at < tuning::cpu::listed_rows ? n - at : tuning::cpu::listed_rows;
      u64 listed = 0;
      for (u64 i = 0; i < rows; ++i) {
        mine[listed] = static_cast<u32>(i);
        listed += static_cast<u64>(codes[at + i] - from < many);  // (no_code is in no range)
      }
      for (u64 i = 0; i < listed; ++i) step(states[codes[at + mine[i]]], at + mine[i]);
    }
  });
}

// One key from the codes of two columns. Rows without a key in either have one that no others have.
struct write_pair {
  const u32 *codes, *others;
  u64 number;
  u64* pairs;
  u32* least_missing;
  TILEHASH_FN void operator()(u64 i) const {
    const bool none = codes[i] == no_code || others[i] == no_code;
    pairs[i] = none ? ~u64(0) : codes[i] * number + others[i];
    if (none) tilehash::TILEHASH_ABI::detail::fetch_min(least_missing, static_cast<u32>(i));
  }
};
// Takes one code out of all.
struct drop_code {
  u32 dropped;
  u32* codes;
  TILEHASH_FN void operator()(u64 i) const {
    if (codes[i] == dropped)
      codes[i] = no_code;
    else if (codes[i] != no_code && codes[i] > dropped)
      --codes[i];
  }
};
struct skip_one {
  u32 skipped;
  const u32* from;
  u32* to;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[i < skipped ? i : i + 1]; }
};
template <class Space>
void drop_code_of_row(Space& space, factors<Space>& found, u32 row) {
  const u32 dropped = read_one(space, found.codes.data() + row);
  space.for_each(found.codes.size(), drop_code{dropped, found.codes.data()});
  buffer<u32, Space> rows(space, found.size() - 1);
  space.for_each(rows.size(), skip_one{dropped, found.first_rows.data(), rows.data()});
  space.synchronize();
  found.first_rows = std::move(rows);
}

// Factors of a column; a null is missing, as NaN is.
template <class Space, std::ranges::contiguous_range Keys>
factors<Space> factorize_column(Space& space, const Keys& keys, const code_options& options) {
  return factorize(space, keys, options);
}
template <class Space, class Key>
factors<Space> factorize_column(Space& space, const nullable<Key>& column, const code_options& options) {
  if (column.valid == nullptr) return factorize(space, column.keys, options);
  require(options.by == order::first,
          "group_by: groups of a column with nulls are in the order of first rows");
  const u64 n = column.keys.size();
  const auto plain = factorize(space, column.keys);
  if (n == 0) return factorize(space, column.keys);
  buffer<u64, Space> words(space, n);
  buffer<u32, Space> missing_row(space, 1);
  space.fill(missing_row.data(), 1, no_code);
  space.for_each(n, write_valid{plain.codes.data(), validity_of(column), words.data(), missing_row.data()});
  const u32 row = read_one(space, missing_row.data());
  require(row == no_code || options.missing_keys != missing::refused,
          "group_by: a key is missing, and missing keys are refused");
  auto found = factorize(space, words.span());
  if (row != no_code && options.missing_keys == missing::excluded) drop_code_of_row(space, found, row);
  return found;
}

// Codes that leave rows out.
struct void_rows {
  const u32* codes;
  validity valid;
  u32* out;
  TILEHASH_FN void operator()(u64 i) const { out[i] = valid.at(i) ? codes[i] : no_code; }
};

}  // namespace detail

/// Rows in groups of equal keys.
template <class Space>
class groups {
 public:
  /// Groups the rows by one key column or more. Rows with a NaN or a null belong to no group, unless options say
  /// other.
  ///
  /// \param space that runs the call.
  /// \param options the order of the groups, and what NaN means.
  /// \param first,more arrays of equal length in memory of the space, or `nullable` ones, of at most 2^32 - 2
  /// rows.
  /// \throws invalid_argument as factorize(), and for arrays of other lengths or a sorted order of several
  /// columns or nulls; out_of_memory (strong).
  /// \complexity O(n) expected for each column.
  /// \memory as factorize(); several columns 20 bytes a row in addition.
  /// \synchronizes yes.
  /// \concurrency no other call may write the keys.
  template <detail::key_column First, detail::key_column... More>
  groups(Space& space, const code_options& options, const First& first, const More&... more)
      : found_(detail::factorize_column(space, first, options)) {
    detail::require(sizeof...(More) == 0 || options.by == order::first,
                    "group_by: groups of several columns are in the order of first rows");
    (add(space, options, more), ...);
  }

  u64 size() const { return found_.size(); }                          ///< groups
  std::span<const u32> codes() const { return found_.codes.span(); }  ///< the group of each row, or no_code
  std::span<const u32> first_rows() const { return found_.first_rows.span(); }  ///< of each group

  /// Combines the values of each group, beginning with `start`.
  ///
  /// \param space that runs the call.
  /// \param values one for each row.
  /// \param op as for a table's insert_or_apply(); on a GPU it must be associative and commutative.
  /// \param start the value of a group of no rows.
  /// \return a value for each group.
  /// \throws invalid_argument for another number of values; out_of_memory; what op throws (strong).
  /// \complexity O(n).
  /// \memory the result.
  /// \synchronizes yes.
  /// \concurrency concurrent calls are safe.
  template <std::ranges::contiguous_range Values, class Op>
  [[nodiscard]] auto reduce(Space& space, const Values& values, Op op,
                            std::ranges::range_value_t<Values> start) const {
    using value = std::remove_cv_t<std::ranges::range_value_t<Values>>;
    const std::span<const value> all(values);
    detail::require(all.size() == codes().size(), "group_by: keys and values differ in length");
    space.check_pointer(all, "group_by: the values");
    buffer<value, Space> out(space, size());
    if (size() == 0) return out;
    space.fill(out.data(), size(), start);
    if constexpr (Space::has_lanes) {
      detail::fold_on_lanes(space, codes().data(), all.size(), size(),
                            detail::given_values<value>{all.data()}, out.data(), op);
      space.synchronize();
    } else {
      detail::fold_groups(space, codes().data(), all.size(), out.data(), size(),
                          [&](value& stored, u64 row) { stored = op(stored, all[row]); });
    }
    return out;
  }
  /// The same groups without the rows whose bit is 0, to reduce values with nulls.
  ///
  /// \param space that runs the call.
  /// \param valid bit (offset + i) % 8 of byte (offset + i) / 8 is 1 if row i stays, in memory of the space.
  /// \param offset the bit of row 0.
  /// \return groups of the same number and order; a group may have no rows.
  /// \throws out_of_memory (strong).
  /// \complexity O(n).
  /// \memory the result: 4 bytes a row and a group.
  /// \synchronizes yes.
  /// \concurrency concurrent calls are safe.
  [[nodiscard]] groups where(Space& space, const u8* valid, u64 offset = 0) const {
    groups left;
    left.found_.codes = buffer<u32, Space>(space, codes().size());
    left.found_.first_rows = buffer<u32, Space>(space, size());
    space.for_each(codes().size(),
                   detail::void_rows{codes().data(), {valid, offset}, left.found_.codes.data()});
    if (size() != 0) space.copy(left.found_.first_rows.data(), first_rows().data(), size() * sizeof(u32));
    space.synchronize();
    return left;
  }
  /// Counts the rows of each group. O(n). Synchronizes.
  [[nodiscard]] buffer<u32, Space> counts(Space& space) const {
    buffer<u32, Space> out(space, size());
    if (size() == 0) return out;
    space.fill(out.data(), size(), u32(0));
    if constexpr (Space::has_lanes) {
      detail::count_codes(space, codes().data(), codes().size(), size(), out.data());
      space.synchronize();
    } else {
      detail::fold_groups(space, codes().data(), codes().size(), out.data(), size(),
                          [](u32& count, u64 /*row*/) { ++count; });
    }
    return out;
  }

 private:
  groups() = default;

  template <class Keys>
  void add(Space& space, const code_options& options, const Keys& keys) {
    const auto column = detail::factorize_column(space, keys, options);
    const u64 n = codes().size();
    detail::require(column.codes.size() == n, "group_by: the key columns differ in length");
    if (n == 0) return;
    buffer<u64, Space> pairs(space, n);
    buffer<u32, Space> missing(space, 1);
    space.fill(missing.data(), 1, no_code);
    space.for_each(n, detail::write_pair{codes().data(), column.codes.data(), column.size(), pairs.data(),
                                         missing.data()});
    const u32 row = read_one(space, missing.data());
    found_ = factorize(space, pairs.span());
    if (row != no_code) detail::drop_code_of_row(space, found_, row);
  }

  factors<Space> found_;
};

/// Groups rows by key columns: group_by(space, keys) or group_by(space, keys, more_keys...).
template <class Space, detail::key_column... Keys>
[[nodiscard]] groups<Space> group_by(Space& space, const Keys&... keys) {
  return groups<Space>(space, {}, keys...);
}

}  // namespace analysis
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
