// SPDX-License-Identifier: Apache-2.0
// Rows of items in one array, built in bulk and read row by row.
//
//   row             0   1   2   3   4
//   offsets       | 0 | 2 | 2 | 3 | 6 | 6 |           row r is entries[offsets[r] .. offsets[r + 1])
//   entries       | a   b | c | d   e   f |           key and value, contiguous
//
// A key's hash names its row. A lookup reads the row's bounds and then its entries: two accesses. It ends
// after the bounds if the row is empty. The table cannot be changed after the build; building again replaces
// it. A build compares no keys. A key that occurs more than once keeps all its items (a multimap), in no
// given order. find() returns any of them, count() their number. Keys and values may be of any size.
//
// The Index determines the word of a row. It is where the row begins (plain_rows), or that, the row's size
// and a filter of its keys, in bits that no offset needs (filtered_rows). The filter ends nearly all lookups
// of absent keys:
//
//     | filter: 17 bits | size: 4 bits | offset: 43 bits |      a bit of the filter is set for each key
//
// The size gives the row's end without a read of the next row's word; the largest size means "or more".
//
// A Builder puts the items in order (builders::...): by regions where keys and values fit a word
// (rows/by_regions.hpp). Otherwise hash_graph.hpp goes bin by bin (rows/in_bins.hpp), or counts and scatters,
// and chained.hpp sorts.
//
// Safe to run at the same time: any number of lookups.
#pragma once

#include <bit>

#include <tilehash/algorithm/segments.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

// The alignment with which key and value are read at once, where a machine has a load of their size.
constexpr u64 entry_alignment(u64 size, u64 least) {
  return std::has_single_bit(size) && size <= 16 ? size : least;
}
// A key and a value, and the numbers of unused bytes between them and behind them (one of both is 0).
template <class Key, class Value>
struct pair_layout {
  struct plain {
    Key key;
    Value value;
  };
  static constexpr u64 between = (alignof(Value) - sizeof(Key) % alignof(Value)) % alignof(Value);
  static constexpr u64 behind = sizeof(plain) - sizeof(Key) - between - sizeof(Value);
  static constexpr u64 alignment = entry_alignment(sizeof(plain), alignof(plain));
};
template <class Key>
struct pair_layout<Key, void> {
  static constexpr u64 between = 0, behind = 0, alignment = entry_alignment(sizeof(Key), alignof(Key));
};
// Those bytes as a member: entries are moved whole, and no uninitialized byte is read.
template <u64 Bytes>
struct padding {
  using word = std::conditional_t<Bytes % 4 == 0, u32, u8>;
  word words[Bytes / sizeof(word)] = {};
};

// An item of a row: a key and, in a map, its value.
template <class Key, class Value>
struct alignas(pair_layout<Key, Value>::alignment) row_entry {
  Key key;
  Value value;
};
template <class Key, class Value>
  requires(pair_layout<Key, Value>::between != 0)
struct alignas(pair_layout<Key, Value>::alignment) row_entry<Key, Value> {
  Key key;
  padding<pair_layout<Key, Value>::between> between;
  Value value;
};
template <class Key, class Value>
  requires(pair_layout<Key, Value>::behind != 0)
struct alignas(pair_layout<Key, Value>::alignment) row_entry<Key, Value> {
  Key key;
  Value value;
  padding<pair_layout<Key, Value>::behind> behind;
};
template <class Key>
struct alignas(pair_layout<Key, void>::alignment) row_entry<Key, void> {
  Key key;
};

// Neighbouring entries.
template <class Entry>
struct row_range {
  const Entry *first, *last;
};

// The result of a search for a key in a row.
template <class Entry>
struct row_hit {
  using key_type = decltype(Entry::key);
  static constexpr bool small = sizeof(Entry) <= 16;  // kept as it was read; larger ones are read again

  key_type key;
  row_range<Entry> row;
  const Entry* at;  // the first entry with this key, or the row's end
  std::conditional_t<small, Entry, nothing> met;

  TILEHASH_FN bool found() const { return at != row.last; }
  TILEHASH_FN auto value() const
    requires requires(Entry e) { e.value; }
  {
    if constexpr (small)
      return met.value;
    else
      return at->value;
  }
  TILEHASH_FN u32 count() const {
    u32 n = 0;
    for (const Entry* e = at; e != row.last; ++e) n += same_key(e->key, key);
    return n;
  }
  TILEHASH_FN u32 probes() const {  // the row's bounds, and the entries compared
    return static_cast<u32>(1 + (at - row.first) + found());
  }
};
template <class Key, class Entry>
TILEHASH_FN row_hit<Entry> find_in_row(const Key& key, const row_range<Entry>& row) {
  row_hit<Entry> hit{key, row, row.first, {}};
  for (; hit.at != row.last; ++hit.at) {
    if constexpr (row_hit<Entry>::small) {
      hit.met = *hit.at;
      if (same_key(hit.met.key, key)) break;
    } else if (same_key(hit.at->key, key)) {
      break;
    }
  }
  return hit;
}

// The filter of a longer row passes all keys: reading the row for a filter would not pay.
inline constexpr u64 most_filtered = tuning::table::filtered_row;

}  // namespace detail

// ---- the word of a row: an Index ----

// The row's begin. `Offset` u32 serves up to 2^32 - 2 items.
template <class Offset>
struct plain_rows {
  using offset = Offset;
  static constexpr u64 most_items = static_cast<Offset>(~Offset(0)) - Offset(1);
  static constexpr bool has_filter = false;
  static constexpr const char* too_many =
      "too many items for 32-bit offsets; use hash_graph, or chained<Key, Value, Hash, std::uint64_t>";

  TILEHASH_FN static u64 begin(Offset word) { return word; }
  // The end of the row that begins with this word.
  TILEHASH_FN static u64 end(const Offset* word) { return word[1]; }
  TILEHASH_FN static u32 filter_of(u64 /*hash*/) { return 0; }
  TILEHASH_FN static bool may_hold(Offset /*word*/, u32 /*filter*/) { return true; }
  TILEHASH_FN static Offset word(u64 begin, u64 /*size*/, u32 /*filter*/) {
    return static_cast<Offset>(begin);
  }
};

// The row's begin, a filter of its keys, and its size if that is small. Serves 2^43 - 1 items.
struct filtered_rows {
  using offset = u64;
  static constexpr u32 offset_bits = 43, size_bits = 4, filter_bits = 17;
  static constexpr u32 filter_shift = offset_bits + size_bits;
  static constexpr u64 most_items = (u64(1) << offset_bits) - 1;
  static constexpr u32 largest_size = (1U << size_bits) - 1, full_filter = (1U << filter_bits) - 1;
  static constexpr bool has_filter = true;
  static constexpr const char* too_many = "a hash_graph cannot have 2^43 items or more; make several";

  TILEHASH_FN static u64 begin(u64 word) { return word & most_items; }
  TILEHASH_FN static u64 end(const u64* word) {
    const u64 size = *word >> offset_bits & largest_size;
    return size < largest_size ? begin(*word) + size : begin(word[1]);
  }
  // A key's bit. (The row uses the hash's upper bits; these six are the last bits of a hash of 32.)
  TILEHASH_FN static u32 filter_of(u64 hash) {
    return 1U << ((static_cast<u32>(hash >> 32 ^ hash) & 63) * filter_bits >> 6);
  }
  TILEHASH_FN static u32 filter_in(u64 word) { return static_cast<u32>(word >> filter_shift); }
  TILEHASH_FN static bool may_hold(u64 word, u32 filter) { return (filter_in(word) & filter) != 0; }
  TILEHASH_FN static u64 word(u64 begin, u64 size, u32 filter) {
    return begin | (size < largest_size ? size : largest_size) << offset_bits | u64(filter) << filter_shift;
  }
};

namespace detail {
template <class Index>
struct named_index {
  using type = Index;
};
template <std::integral Offset>
struct named_index<Offset> {
  using type = plain_rows<Offset>;
};
template <class Index>
using index_of = typename named_index<Index>::type;
}  // namespace detail

// A Builder has
//   name, max_load_factor (items a row)
//   build(space, rows, keys, values, n): fills the rows from n items without keys that are NaN and returns
//   the number of items. It calls rows.put_row() for each row, or writes rows.offsets() and rows.entries()
//   and then calls rows.add_filters(space)
template <class Key, class Value, class Builder, class Hash = murmur, class Index = plain_rows<u32>>
class row_table {
  static_assert(detail::checked_key<Key>::is && detail::checked_value<Value>::is);

 public:
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  using index = Index;
  using offset = typename Index::offset;
  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool keeps_duplicates = true;
  template <class Space>
  using engine = tilehash::engine::built_once<row_table, Space>;

  static constexpr const char* name = Builder::name;
  static constexpr double max_load_factor = Builder::max_load_factor;
  static constexpr double usual_load_factor = 1;  // items a row

  using entry = detail::row_entry<Key, Value>;

  // The number of rows for `items` at a load factor (items a row). O(1).
  static u64 rows_for(u64 items, double load_factor) {
    detail::require(items <= Index::most_items, Index::too_many);
    return detail::slots_for(items, load_factor, max_load_factor);
  }
  static u64 bytes(u64 rows, u64 items) { return entries_at(rows) + items * sizeof(entry); }

  row_table() = default;
  row_table(void* memory, u64 rows, u64 items, u64 seed)
      : rows_{static_cast<offset*>(memory), rows},
        entries_(memory == nullptr ? nullptr
                                   : reinterpret_cast<entry*>(static_cast<char*>(memory) + entries_at(rows))),
        items_(items),
        hash_(seed) {}

  // The same table in a copy of its memory.
  row_table moved_to(void* memory) const {
    row_table moved(memory, rows_.count, items_, 0);
    moved.hash_ = hash_;
    return moved;
  }

  TILEHASH_FN bool has_memory() const { return rows_.offsets != nullptr; }
  TILEHASH_FN u64 capacity() const { return rows_.count; }
  TILEHASH_FN u64 size() const { return items_; }
  TILEHASH_FN const detail::segments<offset>& rows() const { return rows_; }
  TILEHASH_FN offset* offsets() const { return rows_.offsets; }  // rows + 1
  TILEHASH_FN entry* entries() const { return entries_; }
  TILEHASH_FN const entry& item(u64 i) const { return entries_[i]; }

  // ---- lookup ----
  struct location {
    u64 row;
    u32 filter;
  };
  using range = detail::row_range<entry>;
  using row_hit = detail::row_hit<entry>;
  TILEHASH_FN location locate(const Key& key) const {
    const u64 hash = detail::hash_key(hash_, key);
    return {fast_range(hash, capacity()), Index::filter_of(hash)};
  }
  TILEHASH_FN const void* address(const location& p) const { return offsets() + p.row; }
  TILEHASH_FN const void* address(const range& r) const { return r.first; }
  // The location's row; an empty one where its filter excludes the key.
  TILEHASH_FN range row(const location& p) const {
    const offset* const word = offsets() + p.row;
    if (!Index::may_hold(*word, p.filter)) return {entries_, entries_};
    return {entries_ + Index::begin(*word), entries_ + Index::end(word)};
  }
  TILEHASH_FN u64 begin(u64 r) const { return Index::begin(offsets()[r]); }
  TILEHASH_FN range whole_row(u64 r) const { return {entries_ + begin(r), entries_ + begin(r + 1)}; }
  // The number of items in the rows of [from, to).
  TILEHASH_FN u64 items_of(u64 from, u64 to) const { return begin(to) - begin(from); }
  TILEHASH_FN row_hit hit(const Key& key, const range& row) const { return detail::find_in_row(key, row); }

  // ---- build ----
  // Fills the rows from `n` keys and, in a map, their values; returns how many were legal. A key that is NaN
  // is left out; size() is then smaller than n.
  template <class Space, class MappedPointer>
  u64 build(Space& space, const Key* keys, MappedPointer values, u64 n) {
    return items_ = Builder::build(space, *this, keys, values, n);
  }
  // The filter of a row of keys: key_at(i) for i of [0, size).
  template <class KeyAt>
  TILEHASH_FN u32 filter_of(u64 size, const KeyAt& key_at) const {
    u32 filter = 0;
    if constexpr (Index::has_filter) {
      if (size > detail::most_filtered) return Index::full_filter;
      for (u64 i = 0; i < size; ++i) filter |= Index::filter_of(detail::hash_key(hash_, key_at(i)));
    }
    return filter;
  }
  // Row r begins at entry `begin`.
  TILEHASH_FN void put_row(u64 r, u64 begin, u64 size, u32 filter) const {
    offsets()[r] = Index::word(begin, size, filter);
  }
  // Adds sizes and filters to offsets, once entries are written. O(rows + items). Does not synchronize.
  template <class Space>
  void add_filters(Space& space) const {
    if constexpr (Index::has_filter) space.for_each(capacity(), filter_body{*this});
  }
  // (Public because nvcc starts no kernel on a private type.)
  struct filter_body {
    row_table rows;
    TILEHASH_FN void operator()(u64 r) const {  // (the next row's word changes concurrently)
      offset* const word = rows.offsets() + r;
      const u64 begin = Index::begin(*word), size = Index::begin(detail::load_relaxed(word + 1)) - begin;
      const entry* const first = rows.entries() + begin;
      const u32 filter = rows.filter_of(size, [&](u64 i) -> const Key& { return first[i].key; });
      if (size != 0) detail::set_bits(word, Index::word(0, size, filter));
    }
  };

 private:
  static constexpr u64 entries_at(u64 rows) {
    constexpr u64 align = alignof(entry) > 16 ? alignof(entry) : 16;
    return ((rows + 1) * sizeof(offset) + align - 1) / align * align;
  }

  detail::segments<offset> rows_;
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

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
