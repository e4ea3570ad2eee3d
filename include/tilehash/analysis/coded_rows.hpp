// SPDX-License-Identifier: Apache-2.0
// code_rows(): codes of all rows of an array on a CPU, by threads, and the first row of each key.
//
// One thread writes codes at once. Several write the first row of each row's key, and mark it in a bit. The
// number of marks before a row is then its code (the rank of its bit), so codes do not depend on the threads.
// Few different keys are coded by a table for each thread instead (coded_shares.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include <tilehash/analysis/code_table.hpp>
#include <tilehash/analysis/coded_shares.hpp>
#include <tilehash/analysis/dense_codes.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

// Rows in ascending order, in memory that grows.
class row_list {
 public:
  explicit row_list(cpu& space) : space_(&space) {}
  // Throws out_of_memory.
  void push_back(u64 row) {
    if (size_ == rows_.size()) {
      buffer<u32, cpu> more(*space_, std::max<u64>(2 * size_, block_rows));
      std::copy_n(rows_.data(), size_, more.data());
      rows_ = std::move(more);
    }
    rows_.data()[size_++] = static_cast<u32>(row);
  }
  // Throws out_of_memory.
  buffer<u32, cpu> taken() {
    buffer<u32, cpu> exact(*space_, size_);
    std::copy_n(rows_.data(), size_, exact.data());
    return exact;
  }

 private:
  cpu* space_;
  u64 size_ = 0;
  buffer<u32, cpu> rows_;
};

// A bit for each row, and how many are set before each 64 of them.
class row_marks {
  struct word {
    u64 bits, before;
  };

 public:
  row_marks(cpu& space, u64 rows) : words_(space, (rows + 63) / 64) {
    space.fill(words_.data(), words_.size(), word{0, 0});
  }
  void mark(u64 row) const {
    tilehash::TILEHASH_ABI::detail::fetch_or(&words_.data()[row / 64].bits, u64(1) << row % 64);
  }
  // Call it once, after all marks. Returns their number.
  u64 count() {
    u64 sum = 0;
    for (word& w : words_.span()) sum = (w.before = sum) + static_cast<u64>(std::popcount(w.bits));
    return sum;
  }
  u32 rank(u64 row) const {
    const word w = words_.data()[row / 64];
    return static_cast<u32>(w.before + static_cast<u64>(std::popcount(w.bits & ((u64(1) << row % 64) - 1))));
  }
  // The marked rows.
  buffer<u32, cpu> rows(cpu& space, u64 number) const {
    buffer<u32, cpu> all(space, number);
    space.for_each(words_.size(), [&](u64 i) {
      u64 at = words_.data()[i].before;
      for (u64 bits = words_.data()[i].bits; bits != 0; bits &= bits - 1)
        all.data()[at++] = static_cast<u32>(64 * i + static_cast<u64>(std::countr_zero(bits)));
    });
    return all;
  }

 private:
  buffer<word, cpu> words_;
};

// How rows without a key are treated.
enum class missing_rows : u8 { excluded, are_a_key };

// By several tables, one for each share of the keys.
template <class Table, class Rows, class Code>
buffer<u32, cpu> code_by_shares(cpu& space, std::vector<Table*> tables, const Rows& rows, u64 n, Code* codes,
                                bool missing_is_key) {
  const u32 shares = static_cast<u32>(tables.size());
  row_marks marks(space, n);
  std::vector<u64> reached(shares, 0);
  const auto found = [&](u64 row) { marks.mark(row); };
  for (bool more = true; more;) {
    space.for_each_block(shares, 1, 0, [&](auto block) {
      const u32 me = static_cast<u32>(block.index());
      reached[me] =
          tables[me]->template code<true>(rows, reached[me], n, codes, missing_is_key, {me, shares}, found);
    });
    more = false;
    for (u32 i = 0; i < shares; ++i) {
      if (reached[i] == n) continue;
      tables[i]->provide();
      more = true;
    }
  }
  const u64 number = marks.count();
  space.for_each(n, [&](u64 i) {
    if (codes[i] != static_cast<Code>(-1))
      codes[i] = static_cast<Code>(marks.rank(static_cast<u64>(codes[i])));
  });
  return marks.rows(space, number);
}

// By one table and one thread.
template <class Table, class Rows, class Code>
buffer<u32, cpu> code_in_order(cpu& space, Table& table, const Rows& rows, u64 n, Code* codes,
                               bool missing_is_key) {
  row_list firsts(space);
  const auto found = [&](u64 row) { firsts.push_back(row); };
  for (u64 at = 0; (at = table.template code<false>(rows, at, n, codes, missing_is_key, {}, found)) < n;)
    table.provide();
  return firsts.taken();
}

// Writes the code of each row to codes[0 .. n), or -1. Returns the first row of each key. O(n) expected.
// Throws out_of_memory.
template <class Rows, class Code>
buffer<u32, cpu> code_rows(cpu& space, const Rows& rows, u64 n, Code* codes, missing_rows missing) {
  using hashed = code_table<Rows>;
  using dense = dense_codes<Rows>;
  const bool is_key = missing == missing_rows::are_a_key;
  const u32 shares = n < tuning::cpu::least_shared ? 1 : static_cast<u32>(space.threads());
  const word_range range = range_of(space, rows, n, tuning::cpu::dense_share * n);
  if (range.size != 0) {
    // (Each thread would read all rows: few threads are no faster than one.)
    const u32 serving = shares <= static_cast<u32>(tuning::cpu::few_threads) ? 1 : shares;
    dense table(space, range, serving);
    if (serving == 1) return code_in_order(space, table, rows, n, codes, is_key);
    return code_by_shares(space, std::vector<dense*>(serving, &table), rows, n, codes, is_key);
  }
  const u64 seed = drawn_seed();
  if (shares > 1 && own_tables_pay(space, rows, n, seed))
    return code_by_own_tables(space, rows, n, codes, is_key, seed);
  std::vector<hashed> tables;
  for (u32 i = 0; i < shares; ++i) tables.emplace_back(space, seed);
  if (shares == 1) return code_in_order(space, tables.front(), rows, n, codes, is_key);
  std::vector<hashed*> each;
  for (hashed& table : tables) each.push_back(&table);
  return code_by_shares(space, each, rows, n, codes, is_key);
}

// Finds the keys of other arrays in one array, which outlives it. O(1) expected for each row.
template <class Rows>
class key_finder {
 public:
  // Throws out_of_memory.
  key_finder(cpu& space, const Rows& rows, u64 n, missing_rows missing = missing_rows::excluded)
      : table_(space, drawn_seed()) {
    buffer<u32, cpu> codes(space, n);
    const bool is_key = missing == missing_rows::are_a_key;
    first_rows_ = code_in_order(space, table_, rows, n, codes.data(), is_key);
    codes_ = std::move(codes);
  }
  // Calls use(row, code) for each row, on any thread: the code of its key, or no_code.
  template <class Other, class Use>
  void find(cpu& space, const Other& rows, u64 n, u32 missing_code, const Use& use) const {
    space.for_each_share(
        n, [&](u64 first, u64 end) { table_.find(rows, first, end, missing_code, use); },
        tuning::cpu::least_shared);
  }
  const buffer<u32, cpu>& codes() const { return codes_; }  // of the array's rows
  const buffer<u32, cpu>& first_rows() const { return first_rows_; }
  u32 missing_code() const { return table_.missing_code(); }

 private:
  code_table<Rows> table_;
  buffer<u32, cpu> codes_, first_rows_;
};

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
