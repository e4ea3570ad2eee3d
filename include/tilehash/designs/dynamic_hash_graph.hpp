// SPDX-License-Identifier: Apache-2.0
// A hash graph with inserts and erases: its rows have free entries between them.
//
//   row            0           1       2           3             256 rows are a section
//   heads        | 0, 2      | 3, 0  | 4, 1      | 6, 3       |  where a row begins, with the filter of its
//                                                                keys as in a hash_graph, and how many items
//   entries      | a   b   . | .     | c   .     | d   e   f . |  it has; free entries are spread evenly
//
//   put x into row 3   its free entry
//   and y after it     row 3 has none: the nearest row with one, 2, gives its own. Each row in between moves
//                      by one entry, and copies only one, as the order within a row means nothing
//
//   entries      | a   b   . | .     | c | d   e   f   x   y  |
//
// A section has a fixed range of the entries. It begins with `slack` free ones for each of its items, or for
// each item that the table was made for. Any row of a section can use the section's free entries. If the
// items of a call fit all their sections, they are added in place; else the table is rebuilt with all items.
// After a rebuild every section has its slack again, and there are more rows if the items exceed the load
// factor. So a call adds all its items or, where memory ends, none.
//
// A section belongs to one thread while items are inserted. No other thread reads or writes its heads and
// entries, and the beginning of the next section does not change. Erases go key by key. The first thread to
// mark a key's first entry marks all of them; then the first thread to reach a row closes its gaps.
//
// A key that comes more than once keeps all its items, in no given order; erasing it takes all of them.
// Memory: 16 bytes a row, and 1 + slack entries an item.
//
// Safe to run at the same time: any number of lookups.
//
// Source: HashGraph as in hash_graph.hpp, whose authors leave updates open; gaps in compressed sparse rows:
// B. Wheatman and H. Xu, Packed Compressed Sparse Row, HPEC 2018; packed memory arrays: M. Bender,
// E. Demaine, M. Farach-Colton, Cache-Oblivious B-Trees, FOCS 2000.
#pragma once

#include <tilehash/designs/hash_graph.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

/// A hash_graph with inserts and erases (docs/explain/hash_graph.md).
///
/// An insert of m items takes O(m + sections), or O(n + m) if a section is full: then the table is rebuilt. An
/// erase takes O(m + the rows' lengths), and takes all items of a key. Memory: 16 bytes a row, and 1 +
/// table_options::slack entries an item. In kernels, lookups may run concurrently with lookups.
/// \tparam Key,Value of any size; Value may be void.
template <class Key, class Value, class Hash = murmur>
class dynamic_hash_graph {
  static_assert(detail::checked_key<Key>::is && detail::checked_value<Value>::is);

 public:
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using graph = hash_graph<Key, Value, Hash>;  // without gaps: the first form of a build or of a call's items
  using index = filtered_rows;
  using entry = typename graph::entry;
  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool keeps_duplicates = true;
  static constexpr bool engine_erases = true;
  template <class Space>
  using engine = tilehash::engine::rows<dynamic_hash_graph, Space>;

  static constexpr const char* name = "dynamic_hash_graph";
  static constexpr double max_load_factor = graph::max_load_factor;
  static constexpr double usual_load_factor = graph::usual_load_factor;
  static constexpr u64 section_rows = detail::tuning::table::section_rows;

  struct alignas(16) head {
    u64 word;   // of the Index: where the row begins, and its filter
    u64 count;  // items
  };
  struct section {
    u64 begin;   // its first entry
    u64 filled;  // items
  };

  // Whole sections of rows: a key's section is then its row in a graph of as many rows as there are sections.
  static u64 rows_for(u64 items, double load_factor) {
    const u64 rows = graph::rows_for(items, load_factor);
    return (rows + section_rows - 1) / section_rows * section_rows;
  }
  static u64 bytes(u64 rows, u64 entries) { return entries_at(rows) + entries * sizeof(entry); }

  dynamic_hash_graph() = default;
  dynamic_hash_graph(char* memory, u64 rows, u64 seed) : rows_(rows), hash_(seed) {
    if (memory == nullptr) return;
    heads_ = reinterpret_cast<head*>(memory);
    sections_ = reinterpret_cast<section*>(memory + sections_at(rows));
    entries_ = reinterpret_cast<entry*>(memory + entries_at(rows));
  }

  // The same table in a copy of its memory.
  dynamic_hash_graph moved_to(void* memory) const {
    dynamic_hash_graph moved(static_cast<char*>(memory), rows_, 0);
    moved.hash_ = hash_;
    return moved;
  }

  TILEHASH_FN bool has_memory() const { return heads_ != nullptr; }
  TILEHASH_FN u64 capacity() const { return rows_; }
  TILEHASH_FN u64 sections() const { return rows_ / section_rows; }
  TILEHASH_FN head* heads() const { return heads_; }
  TILEHASH_FN entry* entries() const { return entries_; }
  TILEHASH_FN section& section_at(u64 s) const { return sections_[s]; }  // one more than there are
  TILEHASH_FN u64 begin(u64 r) const { return index::begin(heads_[r].word); }

  // ---- lookup ----
  using location = typename graph::location;
  using range = typename graph::range;
  using row_hit = typename graph::row_hit;
  TILEHASH_FN location locate(const Key& key) const {
    const u64 hash = detail::hash_key(hash_, key);
    return {fast_range(hash, rows_), index::filter_of(hash)};
  }
  TILEHASH_FN const void* address(const location& p) const { return heads_ + p.row; }
  TILEHASH_FN const void* address(const range& r) const { return r.first; }
  // The location's row; an empty one where its filter excludes the key.
  TILEHASH_FN range row(const location& p) const {
    const head h = heads_[p.row];
    const entry* const first = entries_ + index::begin(h.word);
    return {first, index::may_hold(h.word, p.filter) ? first + h.count : first};
  }
  TILEHASH_FN row_hit hit(const Key& key, const range& row) const { return detail::find_in_row(key, row); }

  // ---- change ----
  // Free entries of a section.
  TILEHASH_FN u64 free_in(u64 s) const {
    return sections_[s + 1].begin - sections_[s].begin - sections_[s].filled;
  }
  // Puts an item into a section with a free entry that no other thread changes; the caller counts the item.
  // O(section_rows).
  TILEHASH_FN void put(u64 s, const entry& e) const {
    const location p = locate(e.key);
    const u64 first = s * section_rows, last = first + section_rows - 1;
    u64 t = p.row;
    while (t < last && !has_free(s, t)) ++t;
    if (has_free(s, t)) {
      for (; t != p.row; --t) move_up(t);
    } else {
      for (t = p.row; t != first && !has_free(s, t);) --t;
      while (t != p.row) move_down(++t);
    }
    head& h = heads_[p.row];
    entries_[index::begin(h.word) + h.count] = e;
    h = {h.word | index::word(0, 0, p.filter), h.count + 1};
  }
  // Drops the entries of a row that `gone(entry number)` names. Returns how many. O(the row).
  template <class Gone>
  TILEHASH_FN u64 close_gaps(u64 r, const Gone& gone) const {
    const u64 at = begin(r), before = heads_[r].count;
    u64 kept = 0;
    u32 filter = 0;
    for (u64 i = 0; i < before; ++i) {
      if (gone(at + i)) continue;
      const entry e = entries_[at + i];
      if (kept != i) entries_[at + kept] = e;
      if (kept < detail::most_filtered) filter |= locate(e.key).filter;
      ++kept;
    }
    heads_[r] = {index::word(at, 0, kept > detail::most_filtered ? index::full_filter : filter), kept};
    return before - kept;
  }

 private:
  static constexpr u64 sections_at(u64 rows) { return rows * sizeof(head); }
  static constexpr u64 entries_at(u64 rows) {
    constexpr u64 align = alignof(entry) > 16 ? alignof(entry) : 16;
    return (sections_at(rows) + (rows / section_rows + 1) * sizeof(section) + align - 1) / align * align;
  }
  TILEHASH_FN bool has_free(u64 s, u64 r) const {
    const u64 end = (r + 1) % section_rows == 0 ? sections_[s + 1].begin : begin(r + 1);
    return begin(r) + heads_[r].count < end;
  }
  // A row begins one entry later, or earlier, where that one is free. (The filter is above the offset.)
  TILEHASH_FN void move_up(u64 r) const {
    const u64 at = begin(r), count = heads_[r].count;
    if (count != 0) entries_[at + count] = entries_[at];
    heads_[r].word += 1;
  }
  TILEHASH_FN void move_down(u64 r) const {
    const u64 at = begin(r), count = heads_[r].count;
    if (count != 0) entries_[at - 1] = entries_[at + count - 1];
    heads_[r].word -= 1;
  }

  head* heads_ = nullptr;
  section* sections_ = nullptr;
  entry* entries_ = nullptr;
  u64 rows_ = 0;
  Hash hash_;
};

static_assert(rowed<dynamic_hash_graph<u32, u32>> && erasable<dynamic_hash_graph<u32, u32>> &&
              multivalue<dynamic_hash_graph<u32, u32>>);

TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC(dynamic_hash_graph);
}  // namespace tilehash
