// SPDX-License-Identifier: Apache-2.0
// The first row of each key on a GPU: a table of slots that rows of equal keys lower, and that has codes at last.
//
//   key of 4 bytes    | key | row |              8 bytes; all bits set: empty
//   key of 8 bytes    | key       | row |   |    16 bytes; the key's bits all set: empty (that key has a cell)
//
// A key never leaves its slot, and its row only falls. So words of a near cache, which may be old, still say that an
// earlier row is present: most rows of frequent keys read nothing else.
#pragma once

#include <algorithm>
#include <type_traits>

#include <tilehash/algorithm/sketch.hpp>
#include <tilehash/analysis/lane_rows.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/key.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace analysis::detail {

inline constexpr u32 no_row_yet = ~u32(0);

template <class Key>
inline constexpr bool fits_first_table = packed_bytes<Key> <= 8;

// Slots of keys of up to 4 bytes.
struct narrow_firsts {
  using bits = u32;
  using slot = u64;
  static constexpr slot empty = ~u64(0);
  static constexpr bool has_cell = false;  // of the key whose bits are all set

  slot* entries;
  u64 capacity;
  u64 seed;

  TILEHASH_FN static slot item(bits key, u32 row) { return u64(key) << 32 | row; }
  TILEHASH_FN u64 home(bits key) const { return u64(mix32(key ^ static_cast<u32>(seed))) * capacity >> 32; }
  TILEHASH_FN slot cached(u64 at) const { return load_cached(entries + at); }
  TILEHASH_FN slot read(u64 at) const { return entries[at]; }
  TILEHASH_FN static bool is_empty(const slot& s) { return s == empty; }
  TILEHASH_FN static bool has(const slot& s, bits key) { return s != empty && s >> 32 == key; }
  TILEHASH_FN static u32 row(const slot& s) { return static_cast<u32>(s); }
  // False: the slot is another key's.
  TILEHASH_FN bool put(u64 at, bits key, u32 row) const {
    slot s = load_relaxed(entries + at);
    if (s == empty) s = compare_and_swap(entries + at, empty, item(key, row));
    if (s == empty) return true;
    if (s >> 32 != key) return false;
    if (row < static_cast<u32>(s)) fetch_min(entries + at, item(key, row));
    return true;
  }
  TILEHASH_FN void set_row(u64 at, u32 row) const { entries[at] = entries[at] >> 32 << 32 | row; }
};
// Slots of keys of up to 8 bytes.
struct wide_firsts {
  using bits = u64;
  struct alignas(16) slot {
    u64 key;
    u32 row, unused;
  };
  static constexpr u64 empty = ~u64(0);
  static constexpr bool has_cell = true;

  slot* entries;
  u64 capacity;
  u64 seed;

  TILEHASH_FN u64 home(bits key) const { return fast_range(mix64(key ^ seed), capacity); }
  TILEHASH_FN slot cached(u64 at) const {
#if defined(__CUDA_ARCH__)
    u64 key, rest;
    asm volatile("ld.global.ca.v2.u64 {%0, %1}, [%2];" : "=l"(key), "=l"(rest) : "l"(entries + at));
    return {key, static_cast<u32>(rest), 0};
#else
    return {load_relaxed(&entries[at].key), load_relaxed(&entries[at].row), 0};
#endif
  }
  TILEHASH_FN slot read(u64 at) const { return entries[at]; }
  TILEHASH_FN static bool is_empty(const slot& s) { return s.key == empty; }
  TILEHASH_FN static bool has(const slot& s, bits key) { return s.key == key; }
  TILEHASH_FN static u32 row(const slot& s) { return s.row; }
  TILEHASH_FN bool put(u64 at, bits key, u32 row) const {
    u64 found = load_relaxed(&entries[at].key);
    if (found == empty) found = compare_and_swap(&entries[at].key, empty, key);
    if (found != empty && found != key) return false;
    lower_to(&entries[at].row, row, no_row_yet);
    return true;
  }
  TILEHASH_FN void set_row(u64 at, u32 row) const { entries[at].row = row; }
};
template <class Key>
using firsts_of = std::conditional_t<(packed_bytes<Key> <= 4), narrow_firsts, wide_firsts>;

// The first rows of two kinds of keys that have no slot, then whether the table has too few slots.
struct first_cells {
  u32* words;
  static constexpr u32 missing = 0, all_ones = 1, failed = 2, many = 3;
};

// A row's key, and the slot where it may be.
template <class Table>
struct row_of_key {
  typename Table::bits key;
  u32 cell;  // of a key without a slot; many: it has one
  u64 at;
  typename Table::slot seen;
};
template <class Key, class Table>
struct key_rows {
  using of_row = row_of_key<Table>;
  static constexpr u32 at_once = tuning::gpu::hashed_at_once;
  const Key* keys;
  Table table;
  first_cells cells;

  TILEHASH_FN of_row load(u64 row) const {
    const Key key = keys[row];
    of_row x{};
    x.key = key_to_bits<typename Table::bits>(key);
    x.cell = !is_legal(key)                                                           ? first_cells::missing
             : Table::has_cell && x.key == static_cast<typename Table::bits>(~u64(0)) ? first_cells::all_ones
                                                                                      : first_cells::many;
    x.at = x.cell == first_cells::many ? table.home(x.key) : 0;
    return x;
  }
  TILEHASH_FN u64 after(u64 at) const { return at + 1 == table.capacity ? 0 : at + 1; }
};

// Puts rows into the table, each at its key's slot, which keeps the least row.
template <class Key, class Table>
struct put_first_rows : key_rows<Key, Table> {
  using of_row = row_of_key<Table>;
  static constexpr bool meets_others = true;
  bool from_cache;
  u64 most_steps;

  TILEHASH_FN void seek(of_row& x) const {
    if (from_cache) x.seen = this->table.cached(x.at);
  }
  TILEHASH_FN void use(u64 i, const of_row& x) const {
    const u32 row = static_cast<u32>(i);
    u32* const cells = this->cells.words;
    if (x.cell != first_cells::many) return lower_to(cells + x.cell, row, load_cached(cells + x.cell));
    if (from_cache && is_known(row, x)) return;
    if (load_cached(cells + first_cells::failed) != 0) return;  // the call begins again
    u64 at = x.at;
    for (u64 step = 0; step < most_steps; ++step, at = this->after(at))
      if (this->table.put(at, x.key, row)) return;
    set_bits(cells + first_cells::failed, u32(1));
  }

 private:
  TILEHASH_FN bool is_known(u32 row, const of_row& x) const {
    typename Table::slot s = x.seen;
    u64 at = x.at;
    for (u64 step = 0; step < most_steps && !Table::is_empty(s); ++step) {
      if (Table::has(s, x.key)) return Table::row(s) <= row;
      at = this->after(at);
      s = this->table.cached(at);
    }
    return false;
  }
};
// Writes the codes of rows, which are in the table and the cells now.
template <class Key, class Table, class Code>
struct write_found_codes : key_rows<Key, Table> {
  using of_row = row_of_key<Table>;
  Code* codes;
  TILEHASH_FN void seek(of_row& x) const { x.seen = this->table.read(x.at); }
  TILEHASH_FN void use(u64 i, const of_row& x) const {
    if (x.cell != first_cells::many) {
      const u32 code = this->cells.words[x.cell];
      codes[i] = code == no_code ? static_cast<Code>(-1) : static_cast<Code>(code);
      return;
    }
    typename Table::slot s = x.seen;
    u64 at = x.at;
    while (!Table::has(s, x.key)) {  // its row is in the table
      at = this->after(at);
      s = this->table.read(at);
    }
    codes[i] = static_cast<Code>(Table::row(s));
  }
};

template <class Table>
struct clear_slots {
  Table table;
  TILEHASH_FN void operator()(u64 at) const {
    if constexpr (Table::has_cell)
      table.entries[at] = {Table::empty, no_row_yet, 0};
    else
      table.entries[at] = Table::empty;
  }
};
// The first rows are marked ...
template <class Table>
struct mark_slots {
  Table table;
  row_ranks ranks;
  TILEHASH_FN void operator()(u64 at) const {
    const auto s = table.read(at);
    if (!Table::is_empty(s)) ranks.mark(Table::row(s));
  }
};
struct mark_cells {
  first_cells cells;
  row_ranks ranks;
  TILEHASH_FN void operator()(u64 cell) const {
    if (cells.words[cell] != no_row_yet) ranks.mark(cells.words[cell]);
  }
};
// ... and replaced by their ranks.
template <class Table>
struct number_slots {
  Table table;
  row_ranks ranks;
  TILEHASH_FN void operator()(u64 at) const {
    const auto s = table.read(at);
    if (!Table::is_empty(s)) table.set_row(at, ranks.of(Table::row(s)));
  }
};
struct number_cells {
  first_cells cells;
  row_ranks ranks;
  TILEHASH_FN void operator()(u64 cell) const {
    u32& word = cells.words[cell];
    if (word != no_row_yet) word = ranks.of(word);
  }
};

// The first rows of keys of up to 8 bytes, and codes that are their ranks.
template <class Key, class Space>
class first_table {
  using table = firsts_of<Key>;

 public:
  // Memory: 21 to 31 bytes a key of up to 4 bytes, 42 to 62 a wider one; 3/8 of a byte a row. Synchronizes. Throws
  // out_of_memory.
  // `entries`: for tests, that many slots at first.
  first_table(Space& space, std::span<const Key> keys, bool missing_is_key, u64 entries = 0)
      : keys_(keys), ranks_(space, keys.size()), cells_(space, 4) {
    const u64 n = keys.size();
    const bool sketches = n > tuning::gpu::rows_without_sketch && entries == 0;
    u64 capacity = entries != 0 ? entries : sketches ? slots_for_all(space) : 2 * n + 1;
    while (!put(space, capacity, missing_is_key)) capacity *= 2;
    space.for_each(capacity, mark_slots<table>{view(), ranks_.view()});
    space.for_each(2, mark_cells{cells(), ranks_.view()});
    first_rows_ = ranks_.rows(space);
  }
  // Writes a code for each row; -1 for a missing one. Does not synchronize.
  template <class Code>
  void codes(Space& space, Code* out) {
    if (!numbered_) {
      space.for_each(slots_.size(), number_slots<table>{view(), ranks_.view()});
      space.for_each(2, number_cells{cells(), ranks_.view()});
      numbered_ = true;
    }
    for_rows(space, 0, keys_.size(),
             write_found_codes<Key, table, Code>{{keys_.data(), view(), cells()}, out});
  }
  buffer<u32, Space>& first_rows() { return first_rows_; }

 private:
  table view() const { return {slots_.data(), slots_.size(), seed_}; }
  first_cells cells() const { return first_cells{cells_.data()}; }

  // A table in half of the cache has more free slots: steps cost more than memory then.
  u64 slots_for_all(Space& space) const {
    const double keys = 1.04 * count_by_sketch(space, keys_.data(), 0, keys_.size(), nullptr, drawn_seed());
    const u64 many = static_cast<u64>(keys / tuning::gpu::cached_first_load) + 1024;
    if (many * sizeof(typename table::slot) <= space.cache_bytes() / tuning::gpu::cache_share) return many;
    return static_cast<u64>(keys / tuning::gpu::first_load) + 1024;
  }
  // False: there are too few slots.
  bool put(Space& space, u64 capacity, bool missing_is_key) {
    const u64 n = keys_.size(), alone = first_rows_alone(n);
    slots_ = {};
    slots_ = buffer<typename table::slot, Space>(space, capacity);
    seed_ = drawn_seed();
    space.for_each(capacity, clear_slots<table>{view()});
    space.fill(cells_.data(), 2, no_row_yet);
    space.fill(cells_.data() + first_cells::failed, 2, u32(0));
    const bool suffices = capacity > n;
    const u64 steps = suffices ? capacity : std::min<u64>(capacity, tuning::gpu::first_steps);
    const key_rows<Key, table> rows{keys_.data(), view(), cells()};
    for_rows(space, 0, alone, put_first_rows<Key, table>{rows, false, steps});
    for_rows(space, alone, n, put_first_rows<Key, table>{rows, true, steps});
    if (has_nan<Key> && !missing_is_key) space.fill(cells_.data() + first_cells::missing, 1, no_row_yet);
    return suffices || read_one(space, cells_.data() + first_cells::failed) == 0;
  }

  std::span<const Key> keys_;
  lane_ranks<Space> ranks_;
  buffer<typename table::slot, Space> slots_;
  buffer<u32, Space> cells_, first_rows_;
  u64 seed_ = 0;
  bool numbered_ = false;  // slots have codes
};

}  // namespace analysis::detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
