// Rows of items in one array: what is built in bulk and walked row by row.
//
//   row             0   1   2   3   4
//   offsets       | 0 | 2 | 2 | 3 | 6 | 6 |           row r is entries[offsets[r] .. offsets[r + 1])
//   entries       | a   b | c | d   e   f |           key and value, back to back, no holes
//
// A key's hash names its row. A lookup reads the row's bounds and then its entries: two accesses, and one
// that finds nothing ends after the bounds when the row is empty. The table cannot be changed after the
// build; building again replaces it. Nothing is compared while building: a key that comes more than once
// keeps all its items (a multimap), in no given order; find() gives any of them, count() how many there are.
// Keys and values may be of any size.
//
// A Builder puts the items in order (builders::...): by regions where keys and values fit a word
// (rows/by_regions.hpp), else hash_graph.hpp counts and scatters, in bins (rows/binned.hpp) or not, and
// chained.hpp sorts.
//
// Safe to run at the same time: any number of lookups.
#pragma once

#include <tilehash/algorithm/segments.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::inline TILEHASH_ABI {

namespace detail {

// An item of a row: a key and, in a map, its value.
template <class Key, class Value>
struct row_entry {
  Key key;
  Value value;
};
template <class Key>
struct row_entry<Key, void> {
  Key key;
};

}  // namespace detail

// `Offset` u32 serves up to 2^32 - 1 items; take u64 for more. A Builder has
//   name, max_load_factor (items a row)
//   build(space, rows, keys, values, n): fills rows.offsets() and rows.entries() from n items; a key that is
//   NaN is left out
template <key_like Key, value_like Value, class Builder, class Hash = murmur, class Offset = u32>
class row_table {
 public:
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using offset = Offset;
  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool is_bulk_built = true;
  static constexpr bool keeps_duplicates = true;
  template <class Space>
  using engine = tilehash::engine::built_once<row_table, Space>;

  static constexpr const char* name = Builder::name;
  static constexpr double max_load_factor = Builder::max_load_factor;

  using entry = detail::row_entry<Key, Value>;

  // How many rows `items` get at a load factor (items a row): O(1).
  static u64 rows_for(u64 items, double load_factor) {
    detail::require(
        items <= static_cast<Offset>(~Offset(0)) - Offset(1),
        "too many items for 32-bit offsets; use hash_graph or chained<Key, Value, Hash, std::uint64_t>");
    return detail::slots_for(items, load_factor, max_load_factor);
  }
  static u64 bytes(u64 rows, u64 items) { return entries_at(rows) + items * sizeof(entry); }

  row_table() = default;
  row_table(void* memory, u64 rows, u64 items, u64 seed)
      : rows_{static_cast<Offset*>(memory), rows},
        entries_(memory == nullptr ? nullptr
                                   : reinterpret_cast<entry*>(static_cast<char*>(memory) + entries_at(rows))),
        items_(items),
        hash_(seed) {}

  // The same table where its memory was copied to.
  row_table moved_to(void* memory) const {
    row_table moved(memory, rows_.count, items_, 0);
    moved.hash_ = hash_;
    return moved;
  }

  TILEHASH_FN u64 capacity() const { return rows_.count; }
  TILEHASH_FN u64 size() const { return items_; }
  TILEHASH_FN const detail::segments<Offset>& rows() const { return rows_; }
  TILEHASH_FN Offset* offsets() const { return rows_.offsets; }  // rows + 1
  TILEHASH_FN entry* entries() const { return entries_; }
  TILEHASH_FN const entry& item(u64 i) const { return entries_[i]; }

  // ---- lookup ----
  struct place {
    u64 row;
  };
  struct range {
    const entry *first, *last;
  };
  TILEHASH_FN place locate(const Key& key) const {
    return {fast_range(detail::hash_key(hash_, key), capacity())};
  }
  TILEHASH_FN const void* address(const place& p) const { return offsets() + p.row; }
  TILEHASH_FN const void* address(const range& r) const { return r.first; }
  TILEHASH_FN range row(const place& p) const {
    return {entries_ + rows_.begin(p.row), entries_ + rows_.end(p.row)};
  }

  // What a row says of a key.
  struct row_hit {
    Key key;
    range row;
    const entry* at;  // the first entry with this key, or the row's end

    TILEHASH_FN bool found() const { return at != row.last; }
    TILEHASH_FN auto value() const
      requires(!is_set)
    {
      return at->value;
    }
    TILEHASH_FN u32 count() const {
      u32 n = 0;
      for (const entry* e = at; e != row.last; ++e) n += detail::same_key(e->key, key);
      return n;
    }
    TILEHASH_FN u32 probes() const {  // the row's bounds, and the entries compared
      return static_cast<u32>(1 + (at - row.first) + found());
    }
  };
  TILEHASH_FN row_hit hit(const Key& key, const range& row) const {
    const entry* e = row.first;
    while (e != row.last && !detail::same_key(e->key, key)) ++e;
    return {key, row, e};
  }

  // ---- build ----
  // Fills the rows from `n` keys and, in a map, their values; gives how many were legal. A key that is NaN is
  // left out; size() is then smaller than n.
  template <class Space, class MappedPointer>
  u64 build(Space& space, const Key* keys, MappedPointer values, u64 n) {
    Builder::build(space, *this, keys, values, n);
    items_ = rows_.positions(space);
    return items_;
  }

 private:
  static constexpr u64 entries_at(u64 rows) {
    constexpr u64 align = alignof(entry) > 16 ? alignof(entry) : 16;
    return ((rows + 1) * sizeof(Offset) + align - 1) / align * align;
  }

  detail::segments<Offset> rows_;
  entry* entries_ = nullptr;
  u64 items_ = 0;
  Hash hash_;
};

namespace detail {

template <class Entry, class Key, class MappedPointer>
TILEHASH_FN Entry make_entry(const Key* keys, MappedPointer values, u64 i) {
  Entry e;
  e.key = canonical(keys[i]);
  if constexpr (requires { e.value; }) e.value = values[i];
  return e;
}

}  // namespace detail

}  // namespace tilehash::inline TILEHASH_ABI
