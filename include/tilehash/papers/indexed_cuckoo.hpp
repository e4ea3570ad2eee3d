// SPDX-License-Identifier: Apache-2.0
// Cuckoo hashing of indices: items of any size stay in place, and words move that each name one item.
//
//   items    | c | a | d | b |                      in the order given; never moved
//                  ^
//                  '----------------.
//   slots    | . | 2 | . | 3 | . | [1] | . | 0 |    8 bytes each:  | tag 29 | function 3 | index 32 |
//                      ^            |     ^
//                    h1(a)        h2(a)  h3(a)      each a jump further; the jump follows from the tag
//
// An insert exchanges its word with the one in its slot, and continues with that one at its next slot, until
// a slot was empty. A bare index would not determine that next slot: its item would have to be read and
// hashed again. The word has the number of the function that maps it here, and its tag gives the distance to
// the next slot. So each item is read once, when its word is made, however often that moves. A lookup reads
// an item only if tag and function are those of its key.
//
// Invariants. (1) A slot that was taken does not become empty again, and a word goes from slot to slot in
// order. So no empty slot precedes a key among its own, and lookups stop at one. (2) An item is in the table
// if a word with its index is.
//
// Equal keys share all slots. A word that meets one of an equal key replaces it. Among those that have not
// met, the one at the lowest function stays, and marks replace the others. A chain of exchanges that becomes
// too long restarts the build with another hash function.
//
// The table cannot be changed after the build; building again replaces it. `indexed` over `cuckoo`
// (designs/indexed.hpp) can change: its words have 64 bits of the hash in place of tag and number.
// Concurrency: any number of lookups.
//
// Source: A. Kolushev, Algorithms and data structures for hashing on GPU, CTU Prague 2021, sections 2.4 and
// 3.3; the thesis stores index and function apart, and reads the item for each move.
#pragma once

#include <string>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/rows.hpp>
#include <tilehash/engine/built_once.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

// Functions: 3 to 6; the thesis takes 6.
template <class Key, class Value, u32 Functions = 6, class Hash = murmur>
class indexed_cuckoo {
  static_assert(detail::checked_key<Key>::is && detail::checked_value<Value>::is);
  static_assert(Functions >= 3 && Functions <= 6, "tilehash: indexed_cuckoo has 3 to 6 hash functions");

 public:
  using key_type = Key;
  using mapped_type = Value;
  using hasher = Hash;
  static constexpr bool is_set = std::is_void_v<Value>;
  template <class Space>
  using engine = tilehash::engine::built_once<indexed_cuckoo, Space>;

  static constexpr const char* name = "indexed_cuckoo";
  static constexpr double max_load_factor = Functions == 3   ? 0.88
                                            : Functions == 4 ? 0.95
                                                             : detail::max_load_factor;
  static constexpr u32 max_restarts = 16;
  using entry = detail::row_entry<Key, Value>;

  // A prime number of slots, so that the slots of a key differ.
  static u64 rows_for(u64 items, double load_factor) {
    detail::require(items <= ~u32(0), "indexed_cuckoo has at most 2^32 - 1 items; use hash_graph");
    const u64 slots = detail::slots_for(items, load_factor, max_load_factor);
    return detail::next_prime(slots < Functions ? Functions : slots);
  }
  static u64 bytes(u64 slots, u64 items) { return items_at(slots) + items * sizeof(entry); }

  indexed_cuckoo() = default;
  indexed_cuckoo(void* memory, u64 slots, u64 /*items*/, u64 seed)
      : slots_(static_cast<u64*>(memory)),
        items_(reinterpret_cast<entry*>(static_cast<char*>(memory) + items_at(slots))),
        size_(slots),
        seed_(seed),
        hash_(seed) {}

  // The same table, with its memory copied to `memory`.
  indexed_cuckoo moved_to(void* memory) const {
    indexed_cuckoo moved(memory, size_, 0, seed_);
    moved.hash_ = hash_;
    return moved;
  }

  TILEHASH_FN bool has_memory() const { return slots_ != nullptr; }
  TILEHASH_FN u64 capacity() const { return size_; }
  TILEHASH_FN const u64* slots() const { return slots_; }

  // ---- a slot's word ----
  static constexpr u32 tag_bits = 29, no_function = 7;
  static constexpr u64 empty_word = ~u64(0), removed_word = empty_word - 1;
  TILEHASH_FN static u32 index_in(u64 word) { return static_cast<u32>(word); }
  TILEHASH_FN static u32 function_in(u64 word) { return static_cast<u32>(word >> 32 & no_function); }
  TILEHASH_FN static u64 tag_in(u64 word) { return word >> 35; }
  TILEHASH_FN bool holds(u64 slot) const { return function_in(slots_[slot]) != no_function; }
  TILEHASH_FN const entry& item(u64 slot) const { return items_[index_in(slots_[slot])]; }

  // ---- lookup ----
  struct location {
    u64 at, tag;
    u32 function_number;
  };
  struct range {
    location here;
    const entry* found;  // has the tag; null if no item has it
  };
  TILEHASH_FN location locate(const Key& key) const {
    const u64 h = detail::hash_key(hash_, key);
    return {fast_range(h, size_), mix64(h) >> (64 - tag_bits), 0};
  }
  TILEHASH_FN const void* address(const location& p) const { return slots_ + p.at; }
  TILEHASH_FN const void* address(const range& r) const { return r.found; }
  // The first item with the tag, from this location on.
  TILEHASH_FN range row(location p) const {
    for (; p.function_number < Functions; next(p)) {
      const u64 word = slots_[p.at];
      if (word == empty_word) break;
      if (word >> 32 == (p.tag << 3 | p.function_number)) return {p, items_ + index_in(word)};
    }
    return {p, nullptr};
  }

  struct item_hit {
    const entry* at;
    u32 steps;

    TILEHASH_FN bool found() const { return at != nullptr; }
    TILEHASH_FN auto value() const
      requires(!is_set)
    {
      return at->value;
    }
    TILEHASH_FN u32 count() const { return found(); }
    TILEHASH_FN u32 probes() const { return steps; }  // slots and items read
  };
  TILEHASH_FN item_hit hit(const Key& key, range r) const {
    u32 items = 0;
    while (r.found != nullptr) {
      ++items;
      if (detail::same_key(r.found->key, key)) break;
      next(r.here);
      r = row(r.here);
    }
    const u32 last = r.here.function_number < Functions ? r.here.function_number : Functions - 1;
    return {r.found, items + last + 1};
  }

  // ---- build ----
  // Builds from `n` keys and, in a map, their values. Refuses NaN keys. Throws `error` when the items found
  // no slots under max_restarts hash functions.
  template <class Space, class MappedPointer>
  insert_report build(Space& space, const Key* keys, MappedPointer values, u64 n) {
    space.for_each(n, store<MappedPointer>{items_, keys, values});
    insert_report report;
    for (; report.restarts < max_restarts; ++report.restarts) {
      hash_ = Hash(seed_ + report.restarts);
      space.fill(slots_, size_, u64(empty_word));
      if (n == 0) return report;
      const buffer<build_record, Space> record(space, 1);
      space.fill(record.data(), 1, build_record{});
      space.for_each(n, send{*this, record.data()});
      space.for_each(size_, part_equal_keys{*this, record.data()});
      const build_record made = read_one(space, record.data());
      if (made.unplaced != 0) continue;
      report.refused = made.illegal;
      report.present = made.repeated;
      report.inserted = n - made.illegal - made.repeated;
      return report;
    }
    throw error("tilehash: indexed_cuckoo: the items found no place by " + std::to_string(max_restarts) +
                " hash functions; ask for a lower load factor, or take another hash");
  }

  // The build's passes. (Public because nvcc launches no kernel on a private type.)
  struct build_record {
    u64 unplaced, illegal, repeated;
  };
  template <class MappedPointer>
  struct store {
    entry* items;
    const Key* keys;
    MappedPointer values;
    TILEHASH_FN void operator()(u64 i) const { items[i] = detail::make_entry<entry>(keys, values, i); }
  };
  struct send {
    indexed_cuckoo to;
    build_record* record;
    TILEHASH_FN void operator()(u64 i) const {
      const Key& key = to.items_[i].key;
      if (!detail::is_legal(key)) {
        detail::fetch_add(&record->illegal, u64(1));
        return;
      }
      location p = to.locate(key);
      u64 evicted = p.tag << 35 | static_cast<u32>(i);
      for (u64 left = to.longest_chain(); left != 0; --left) {
        const u64 old = detail::exchange(to.slots_ + p.at, evicted);
        if (old == empty_word) return;
        if (tag_in(old) == tag_in(evicted) && to.same_item(old, evicted)) {
          detail::fetch_add(&record->repeated, u64(1));
          return;
        }
        p = to.after(p.at, old);
        evicted = old >> 35 << 35 | u64(p.function_number) << 32 | index_in(old);
        if (left % 64 == 0 && detail::load_relaxed(&record->unplaced) != 0) return;
      }
      detail::fetch_add(&record->unplaced, u64(1));
    }
  };
  // Keeps the one at the lowest function of equal keys that have not met.
  struct part_equal_keys {
    indexed_cuckoo in;
    build_record* record;
    TILEHASH_FN void operator()(u64 slot) const {
      const u64 word = in.slots_[slot];
      if (function_in(word) == no_function) return;
      location p{slot, tag_in(word), function_in(word)};
      for (u64 back = in.size_ - in.jump(p.tag); p.function_number-- != 0;) {
        p.at = add_modulo(p.at, back, in.size_);
        const u64 other = detail::load_relaxed(in.slots_ + p.at);
        if (other >> 32 != (p.tag << 3 | p.function_number) || !in.same_item(other, word)) continue;
        detail::exchange(in.slots_ + slot, u64(removed_word));
        detail::fetch_add(&record->repeated, u64(1));
        return;
      }
    }
  };

 private:
  static constexpr u64 items_at(u64 slots) {
    constexpr u64 align = alignof(entry) > 16 ? alignof(entry) : 16;
    return (slots * sizeof(u64) + align - 1) / align * align;
  }
  TILEHASH_FN u64 longest_chain() const { return u64(64) * detail::bit_width(size_); }
  TILEHASH_FN bool same_item(u64 a, u64 b) const {
    return detail::same_key(items_[index_in(a)].key, items_[index_in(b)].key);
  }
  TILEHASH_FN u64 jump(u64 tag) const { return 1 + fast_range(mix64(tag), size_ - 1); }
  TILEHASH_FN void next(location& p) const {
    p.at = add_modulo(p.at, jump(p.tag), size_);
    ++p.function_number;
  }
  // The next location of a word that was in this slot; its last slot is followed by its first.
  TILEHASH_FN location after(u64 slot, u64 word) const {
    location p{slot, tag_in(word), function_in(word)};
    if (p.function_number + 1 < Functions) {
      next(p);
      return p;
    }
    for (const u64 back = size_ - jump(p.tag); p.function_number != 0; --p.function_number)
      p.at = add_modulo(p.at, back, size_);
    return p;
  }

  u64* slots_ = nullptr;
  entry* items_ = nullptr;
  u64 size_ = 0;
  u64 seed_ = 0;
  Hash hash_;
};

static_assert(rowed<indexed_cuckoo<u32, u32>> && requires(const indexed_cuckoo<u32, u32> d) { d.holds(0); });

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
