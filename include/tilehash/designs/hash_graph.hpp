// HashGraph: hash values and items as a bipartite graph, stored in compressed sparse rows.
//
//   hash value      0   1   2   3   4
//   offsets       | 0 | 2 | 2 | 3 | 6 | 6 |           row r is entries[offsets[r] .. offsets[r + 1])
//   entries       | a   b | c | d   e   f |           key and value, back to back, no holes
//
// Built in bulk from all items at once, with no retries and no failures at any load factor (rows = items at
// load factor 1): count the items of each row, scan the counts into offsets, scatter the items. The counting
// atomic already tells an item's place within its row, so scattering needs no second round of atomics.
//
// Nothing is compared while building: a key that comes more than once keeps all its items (a multimap), in no
// given order. find() gives any of them, count() how many there are. Keys and values may be of any size.
//
// A lookup reads the row's bounds and then its entries: two accesses, and an unsuccessful one ends after the
// bounds when the row is empty. It cannot be changed after the build; building again replaces it.
//
// Safe to run at the same time: any number of lookups.
//
// Source: HashGraph (O. Green) version 1 as studied in A. Kolushev, Algorithms and data structures for
// hashing on GPU, CTU Prague 2021, section 2.5, algorithms 7 and 9.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/buffer.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash {

namespace detail {

// Keys of any size: equal when their canonical bytes are.
template <key_like Key>
TILEHASH_FN bool same_key(const Key& a, const Key& b) {
  if constexpr (sizeof(Key) <= 16) {
    using bits = bits_t<sizeof(Key)>;
    return to_bits<bits>(canonical(a)) == to_bits<bits>(canonical(b));
  } else {
    const auto* x = reinterpret_cast<const unsigned char*>(&a);
    const auto* y = reinterpret_cast<const unsigned char*>(&b);
    bool same = true;
    for (u32 i = 0; i < sizeof(Key); ++i) same &= x[i] == y[i];
    return same;
  }
}

// ... and hashed 8 bytes at a time when they are longer than 16.
template <class Hash, key_like Key>
TILEHASH_FN u64 hash_key(const Hash& hash, const Key& key) {
  if constexpr (sizeof(Key) <= 16) {
    return hash(to_bits<bits_t<sizeof(Key)>>(canonical(key)));
  } else {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&key);
    u64 h = sizeof(Key);
    for (u32 i = 0; i < sizeof(Key); i += 8) {
      u64 part = 0;
      memcpy(&part, bytes + i, sizeof(Key) - i < 8 ? sizeof(Key) - i : 8);
      h = hash(rehash(h) ^ part);
    }
    return h;
  }
}

}  // namespace detail

// `Offset` u32 serves up to 2^32 - 1 items; take u64 for more.
template <key_like Key, value_like Value, class Hash = murmur, class Offset = u32>
class hash_graph {
 public:
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  static constexpr bool is_set = std::is_void_v<Value>;
  static constexpr bool is_bulk_built = true;
  static constexpr bool keeps_duplicates = true;
  static constexpr const char* name = "hash_graph";

  struct pair_entry {
    Key key;
    std::conditional_t<is_set, char, Value> value;
  };
  struct key_entry {
    Key key;
  };
  using entry = std::conditional_t<is_set, key_entry, pair_entry>;

  // How many rows `items` get at a load factor (items a row): O(1).
  static u64 rows_for(u64 items, double load_factor) {
    detail::require(
        items <= static_cast<Offset>(~Offset(0)) - Offset(1),
        "hash_graph: too many items for 32-bit offsets; use hash_graph<Key, Value, Hash, std::uint64_t>");
    return detail::slots_for(items, load_factor);
  }
  static u64 bytes(u64 rows, u64 items) { return entries_at(rows) + items * sizeof(entry); }

  hash_graph() = default;
  hash_graph(void* memory, u64 rows, u64 items, u64 seed)
      : offsets_(static_cast<Offset*>(memory)),
        entries_(reinterpret_cast<entry*>(static_cast<char*>(memory) + entries_at(rows))),
        rows_(rows),
        items_(items),
        hash_(seed) {}

  TILEHASH_FN u64 capacity() const { return rows_; }
  TILEHASH_FN u64 size() const { return items_; }
  TILEHASH_FN const entry* entries() const { return entries_; }

  // ---- lookup ----
  struct place {
    u64 row;
  };
  struct range {
    const entry *first, *last;
  };
  TILEHASH_FN place locate(const Key& key) const { return {reduce(detail::hash_key(hash_, key), rows_)}; }
  TILEHASH_FN const void* address(const place& p) const { return offsets_ + p.row; }
  TILEHASH_FN const void* address(const range& r) const { return r.first; }
  TILEHASH_FN range row(const place& p) const {
    return {entries_ + offsets_[p.row], entries_ + offsets_[p.row + 1]};
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

  // ---- build: O(items + rows) work, three passes ----
  // Fills the rows from `n` keys and, in a map, their values; gives how many were legal. A key that is NaN is
  // left out; size() is then smaller than n.
  template <class Space, class MappedPointer>
  u64 build(Space& space, const Key* keys, MappedPointer values, u64 n) {
    buffer<Offset, Space> ranks(space, n);
    space.fill(offsets_, rows_ + 1, Offset(0));
    space.for_each(n, count_body{*this, keys, ranks.data()});
    space.exclusive_scan(offsets_, offsets_, rows_ + 1);
    space.for_each(n, scatter_body<MappedPointer>{*this, keys, values, ranks.data()});
    items_ = read_one(space, offsets_ + rows_);
    return items_;
  }

  // The build's two passes over the items. (Public because nvcc starts no kernel on a private type.)
  struct count_body {
    hash_graph graph;
    const Key* keys;
    Offset* ranks;
    TILEHASH_FN void operator()(u64 i) const {
      if (detail::is_legal(keys[i]))
        ranks[i] = detail::fetch_add(graph.offsets_ + graph.locate(keys[i]).row, Offset(1));
    }
  };
  template <class MappedPointer>
  struct scatter_body {
    hash_graph graph;
    const Key* keys;
    MappedPointer values;
    const Offset* ranks;
    TILEHASH_FN void operator()(u64 i) const {
      if (!detail::is_legal(keys[i])) return;
      entry& e = graph.entries_[graph.offsets_[graph.locate(keys[i]).row] + ranks[i]];
      e.key = detail::canonical(keys[i]);
      if constexpr (!is_set) e.value = values[i];
    }
  };

 private:
  static constexpr u64 entries_at(u64 rows) {
    constexpr u64 align = alignof(entry) > 16 ? alignof(entry) : 16;
    return ((rows + 1) * sizeof(Offset) + align - 1) / align * align;
  }

  Offset* offsets_ = nullptr;
  entry* entries_ = nullptr;
  u64 rows_ = 0;
  u64 items_ = 0;
  Hash hash_;
};

}  // namespace tilehash
