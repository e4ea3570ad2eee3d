// SPDX-License-Identifier: Apache-2.0
// Joins on a CPU by codes, in the order of the left rows: one side's keys get codes once, and are probed by any
// number of arrays.
//
//   indexed keys   | 9 | 7 | 7 |     codes | 0 | 1 | 1 |     rows by code | 0 | 1 2 |
//   probing keys   | 7 | 4 | 9 |     codes | 1 | - | 0 |     rows         0-1, 0-2, 2-0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <tilehash/analysis/coded_rows.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

// Rows in the order of their codes: those of code c are rows[offsets[c] .. offsets[c + 1]), ascending. Rows
// without a code are left out. O(n). Throws out_of_memory.
struct rows_by_code {
  buffer<u32, cpu> offsets, rows;

  rows_by_code(cpu& space, const u32* codes, u64 n, u64 number) : offsets(space, number + 2) {
    u32* const begins = offsets.data() + 1;  // one further on while rows are written
    std::fill_n(offsets.data(), offsets.size(), 0U);
    for (u64 i = 0; i < n; ++i)
      if (codes[i] != no_code && codes[i] + 1 < number) ++begins[codes[i] + 1];
    u32 sum = 0;
    for (u64 c = 0; c < number; ++c) begins[c] = sum += begins[c];
    u64 coded = 0;
    for (u64 i = 0; i < n; ++i) coded += codes[i] != no_code;
    rows = buffer<u32, cpu>(space, coded);
    for (u64 i = 0; i < n; ++i)
      if (codes[i] != no_code) rows.data()[begins[codes[i]]++] = static_cast<u32>(i);
  }
  u32 count(u32 code) const { return offsets.data()[code + 1] - offsets.data()[code]; }
};

enum class unmatched_rows : u8 { dropped, kept };

// The rows of a join of probing rows, by their codes among the indexed ones. `right` is ~0 for an unmatched
// row. Unmatched indexed rows come last, if wanted.
template <class Row>
struct joined_pairs {
  std::vector<buffer<Row, cpu>> columns;  // left, right
};
template <class Row>
joined_pairs<Row> join_codes(cpu& space, const u32* codes, u64 n, const rows_by_code& indexed, u64 number,
                             const u32* indexed_codes, u64 indexed_rows, unmatched_rows left,
                             unmatched_rows right) {
  const u64 parts = n < tuning::cpu::least_shared ? 1 : 4 * static_cast<u64>(space.threads());
  std::vector<u64> begins(parts + 1, 0);
  const bool keeps = left == unmatched_rows::kept;
  const auto rows_of = [&](u32 code) -> u64 { return code == no_code ? keeps : indexed.count(code); };
  space.for_each_block(parts, 1, 0, [&](auto block) {
    u64 sum = 0;
    for (u64 i = block.index() * n / parts; i < (block.index() + 1) * n / parts; ++i)
      sum += rows_of(codes[i]);
    begins[block.index() + 1] = sum;
  });
  for (u64 p = 0; p < parts; ++p) begins[p + 1] += begins[p];
  std::vector<Row> alone;
  if (right == unmatched_rows::kept) {
    std::vector<bool> met(number, false);
    for (u64 i = 0; i < n; ++i)
      if (codes[i] != no_code) met[codes[i]] = true;
    for (u64 i = 0; i < indexed_rows; ++i)
      if (indexed_codes[i] == no_code || !met[indexed_codes[i]]) alone.push_back(static_cast<Row>(i));
  }
  joined_pairs<Row> pairs;
  for (u32 c = 0; c < 2; ++c) pairs.columns.emplace_back(space, begins[parts] + alone.size());
  Row *const lefts = pairs.columns[0].data(), *const rights = pairs.columns[1].data();
  space.for_each_block(parts, 1, 0, [&](auto block) {
    u64 at = begins[block.index()];
    for (u64 i = block.index() * n / parts; i < (block.index() + 1) * n / parts; ++i) {
      if (codes[i] == no_code) {
        if (keeps) lefts[at] = static_cast<Row>(i), rights[at++] = static_cast<Row>(-1);
        continue;
      }
      for (u32 r = indexed.offsets.data()[codes[i]]; r < indexed.offsets.data()[codes[i] + 1]; ++r)
        lefts[at] = static_cast<Row>(i), rights[at++] = static_cast<Row>(indexed.rows.data()[r]);
    }
  });
  std::fill_n(lefts + begins[parts], alone.size(), static_cast<Row>(-1));
  std::copy(alone.begin(), alone.end(), rights + begins[parts]);
  return pairs;
}

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
