// SPDX-License-Identifier: Apache-2.0
// code_by_own_tables(): codes of rows with few different keys, by threads. Each thread codes a share of the rows
// by a table of its own. The shares' first rows, in order, get codes in turn: those of all rows.
//
//   keys    | 7 4 7 | 9 4 4 |      codes of shares | 0 1 0 | 0 1 1 |      first rows | 0 1 | 3 4 |
//                                  their codes     | 0 1 | 2 1 |          codes      | 0 1 0 | 2 1 1 |
//
// A thread reads its own rows alone, so the work does not grow with the threads, as it does where they share the
// hashes (coded_rows.hpp). Each key is in the tables of all threads, so it pays only for few keys.
#pragma once

#include <algorithm>
#include <vector>

#include <tilehash/analysis/code_table.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

// Some of the rows, by their numbers.
template <class Rows>
struct listed_rows {
  static constexpr bool exact = Rows::exact;
  using word = typename Rows::word;

  const Rows& rows;
  const u32* numbers;

  bool load(u64 first, u32 n, word* words, bool* missing) const {
    bool any = false;
    for (u32 i = 0; i < n; ++i) {
      missing[i] = false;
      any |= rows.load(numbers[first + i], 1, words + i, missing + i);
    }
    return any;
  }
  bool same(u64 row, u64 other) const { return rows.same(numbers[row], numbers[other]); }
};

// A share's table, and its first rows: as many as the table has slots for, so that no thread allocates.
template <class Rows>
struct coded_share {
  code_table<Rows> table;
  buffer<u32, cpu> first_rows;
  u64 number = 0;  // of first rows

  coded_share(cpu& space, u64 seed) : table(space, seed) { grow(space); }
  // Gets capacity for the keys of as many slots as the table will have. Throws out_of_memory.
  void grow(cpu& space) {
    buffer<u32, cpu> more(space, table.next_slots());
    std::copy_n(first_rows.data(), number, more.data());
    first_rows = std::move(more);
  }
};

// Are the keys of a sample of rows so few that a table for each thread pays? O(1).
template <class Rows>
bool own_tables_pay(cpu& space, const Rows& rows, u64 n, u64 seed) {
  constexpr u64 sampled = tuning::cpu::sampled_codes;
  if (n < 4 * sampled) return false;
  buffer<u32, cpu> numbers(space, sampled), codes(space, sampled);
  for (u64 i = 0; i < sampled; ++i) numbers.data()[i] = static_cast<u32>(i * (n / sampled));
  const listed_rows<Rows> sample{rows, numbers.data()};
  code_table<listed_rows<Rows>> table(space, seed);
  for (u64 at = 0; (at = table.template code<false>(sample, at, sampled, codes.data(), true, {},
                                                    [](u64 /*row*/) {})) < sampled;)
    table.provide();
  // If m rows are drawn from d keys, m * m / 2d of them repeat another.
  const u64 repeated = sampled - table.size();
  return table.size() <= sampled / tuning::cpu::few_keys_share ||
         (repeated != 0 && sampled * sampled / 2 / repeated <= n / tuning::cpu::few_keys_rows);
}

// The shares' codes become codes of all rows.
template <class Rows, class Code, class Begin>
buffer<u32, cpu> renumbered(cpu& space, const Rows& rows, Code* codes, const Begin& begin,
                            const std::vector<coded_share<Rows>>& all, bool missing_is_key, u64 seed) {
  std::vector<u64> offsets{0};
  for (const auto& share : all) offsets.push_back(offsets.back() + share.number);
  buffer<u32, cpu> listed(space, offsets.back()), final_codes(space, offsets.back());
  for (u64 i = 0; i < all.size(); ++i)
    std::copy_n(all[i].first_rows.data(), all[i].number, listed.data() + offsets[i]);
  const listed_rows<Rows> list{rows, listed.data()};
  code_table<listed_rows<Rows>> table(space, seed);
  buffer<u32, cpu> first_rows(space, listed.size());
  u64 number = 0;
  const auto found = [&](u64 at) { first_rows.data()[number++] = listed.data()[at]; };
  for (u64 at = 0; (at = table.template code<false>(list, at, listed.size(), final_codes.data(),
                                                    missing_is_key, {}, found)) < listed.size();)
    table.provide();
  space.for_each_block(all.size(), 1, 0, [&](auto block) {
    const u32* const of = final_codes.data() + offsets[block.index()];
    for (u64 i = begin(block.index()); i < begin(block.index() + 1); ++i)
      if (codes[i] != static_cast<Code>(-1)) codes[i] = static_cast<Code>(of[static_cast<u64>(codes[i])]);
  });
  buffer<u32, cpu> exact(space, number);
  std::copy_n(first_rows.data(), number, exact.data());
  return exact;
}

// Writes codes to all rows. Returns the first row of each key. Throws out_of_memory.
template <class Rows, class Code>
buffer<u32, cpu> code_by_own_tables(cpu& space, const Rows& rows, u64 n, Code* codes, bool missing_is_key,
                                    u64 seed) {
  const u64 shares = static_cast<u64>(space.threads());
  std::vector<coded_share<Rows>> all;
  std::vector<u64> reached;
  const auto begin = [&](u64 i) { return i * n / shares; };
  for (u64 i = 0; i < shares; ++i) {
    all.emplace_back(space, seed);
    reached.push_back(begin(i));
  }
  for (bool more = true; more;) {
    space.for_each_block(shares, 1, 0, [&](auto block) {
      const u64 me = block.index();
      coded_share<Rows>& share = all[me];
      u32* const first_rows = share.first_rows.data();
      u64 number = share.number;
      reached[me] =
          share.table.template code<false>(rows, reached[me], begin(me + 1), codes, missing_is_key, {},
                                           [&](u64 row) { first_rows[number++] = static_cast<u32>(row); });
      share.number = number;
    });
    more = false;
    for (u64 i = 0; i < shares; ++i) {
      if (reached[i] == begin(i + 1)) continue;
      all[i].table.provide();
      all[i].grow(space);
      more = true;
    }
  }
  return renumbered(space, rows, codes, begin, all, missing_is_key, seed);
}

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
