// SPDX-License-Identifier: Apache-2.0
// Perfect spatial hashing: a table without collisions. A lookup reads one offset and one slot, found or not.
//
//   offsets    | 3 | 0 | 7 | 1 |                      one for every four keys, 16 bits each
//                    ^ h1(k)
//                    |                                h(k) = h0(k) + offsets[h1(k)]  (mod slots)
//   slots      | d | b'| k | b | b'| a | b'|          key and value; b' is a copy of b
//                        ^ h(k)
//
// Keys of one h1 form a group and share an offset, which moves all their slots. The build searches an offset
// for each group such that no two keys of the table collide. The largest groups come first, while most slots
// are free; single keys come last, as almost any free slot suits them. So the table can be filled to 0.98 and
// a lookup still reads one slot. The offsets take 4 bits an item.
//
// Invariants. (1) Every key is in slot h(k) and no other. (2) A slot without an item holds a copy of some key
// of the table, which h maps elsewhere. No lookup of that key reads this slot, and every other lookup sees a
// key that is not its own. So no key is reserved as a mark, and the key of a slot shows that it is empty. (3)
// A table without items answers no lookup from its slots.
//
// h0 and h1 come from a code of the key, of 64 bits (papers/perfect_spatial/code.hpp). For points of two or
// three dimensions it is linear in the coordinates, so that neighbours share cache lines; for other keys it
// is a hash. Equal codes must be equal keys, or the build restarts.
//
// The build sorts the items by code, which makes groups and equal keys contiguous. Then all groups of one
// size try offsets concurrently. A try claims the slots of a group one by one in a bitmap, and releases them
// when one is taken; a group has 65 536 tries. Two groups that collide lose nothing: they continue with their
// next offsets. If a group finds no offset, or has more keys than a fair hash would give it, the build
// restarts with other parameters, which counts as a restart.
//
// The table cannot be changed after the build; building again replaces it. Any one of equal keys wins.
// Concurrency: any number of lookups.
//
// Source: the baseline of D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, sections
// 2.2.2 and 5.4.1, after S. Lefebvre and H. Hoppe, Perfect Spatial Hashing, ACM Trans. Graphics 25(3), 2006.
#pragma once

#include <string>

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/designs/rows.hpp>
#include <tilehash/engine/built_once.hpp>
#include <tilehash/papers/perfect_spatial/code.hpp>
#include <tilehash/space/algorithms.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

template <class Key, class Value>
class perfect_spatial {
  static_assert(detail::checked_key<Key>::is && detail::checked_value<Value>::is);

 public:
  using key_type = Key;
  using mapped_type = Value;
  using hasher = murmur;
  static constexpr bool is_set = std::is_void_v<Value>;
  template <class Space>
  using engine = tilehash::engine::built_once<perfect_spatial, Space>;

  static constexpr const char* name = "perfect_spatial";

  static constexpr u64 group_size = 4;      // keys that share an offset, on average
  static constexpr u64 largest_group = 64;  // a hash with a larger group is replaced
  static constexpr u32 max_offsets = 1 << 16;
  static constexpr u32 max_attempts = 32;

  using entry = detail::row_entry<Key, Value>;

  static u64 rows_for(u64 items, double load_factor) { return detail::slots_for(items, load_factor); }
  static u64 bytes(u64 slots, u64 items) { return offsets_at(slots) + groups_for(items) * sizeof(u16); }

  perfect_spatial() = default;
  perfect_spatial(void* memory, u64 slots, u64 items, u64 seed)
      : entries_(static_cast<entry*>(memory)),
        offsets_(reinterpret_cast<u16*>(static_cast<char*>(memory) + offsets_at(slots))),
        slots_(slots),
        groups_(groups_for(items)),
        seed_(seed),
        code_(slots, groups_, seed, 0) {}

  // The same table, with its memory copied to `memory`.
  perfect_spatial moved_to(void* memory) const {
    perfect_spatial moved = *this;
    moved.entries_ = static_cast<entry*>(memory);
    moved.offsets_ = reinterpret_cast<u16*>(static_cast<char*>(memory) + offsets_at(slots_));
    return moved;
  }

  TILEHASH_FN bool has_memory() const { return entries_ != nullptr; }
  TILEHASH_FN u64 capacity() const { return slots_; }
  TILEHASH_FN u64 size() const { return items_; }
  TILEHASH_FN u64 groups() const { return groups_; }
  // True if points are hashed by their coordinates, which keeps neighbours together.
  TILEHASH_FN bool is_coherent() const { return code_.is_linear(); }

  // ---- all slots: item(i) is an item where holds(i) ----
  TILEHASH_FN bool holds(u64 i) const { return items_ != 0 && slot_of(code_(entries_[i].key)) == i; }
  TILEHASH_FN const entry& item(u64 i) const { return entries_[i]; }

  // ---- lookup: one offset, one slot ----
  struct location {
    u64 code;
  };
  struct range {
    const entry* at;
  };
  TILEHASH_FN location locate(const Key& key) const { return {code_(key)}; }
  TILEHASH_FN const void* address(const location& p) const { return offsets_ + code_.group(p.code); }
  TILEHASH_FN const void* address(const range& r) const { return r.at; }
  TILEHASH_FN range row(const location& p) const { return {entries_ + slot_of(p.code)}; }

  struct slot_hit {
    const entry* at;
    bool same;

    TILEHASH_FN bool found() const { return same; }
    TILEHASH_FN auto value() const
      requires(!is_set)
    {
      return at->value;
    }
    TILEHASH_FN u32 count() const { return same; }
    TILEHASH_FN u32 probes() const { return 2; }  // the offset and the slot
  };
  TILEHASH_FN slot_hit hit(const Key& key, const range& r) const {
    return {r.at, items_ != 0 && detail::same_key(r.at->key, key)};
  }

  // ---- build: a sort, and about ten reads of the bitmap of taken slots for each item at load 0.8 ----
  // Builds from `n` keys and, in a map, their values. Refuses NaN keys. Throws `error` when max_attempts sets
  // of parameters have failed.
  template <class Space, class MappedPointer>
  insert_report build(Space& space, const Key* keys, MappedPointer values, u64 n) {
    insert_report report;
    space.fill(offsets_, groups_, u16(0));
    if (n == 0) return report;
    while (!place_all(space, keys, values, n, report)) {
      if (++report.restarts == max_attempts)
        throw error("tilehash: perfect_spatial: " + std::to_string(max_attempts) +
                    " sets of parameters have all left keys that collide; ask for a lower load factor");
      code_ = detail::spatial_code<Key>(slots_, groups_, seed_, static_cast<u32>(report.restarts));
    }
    return report;
  }

  // The build's passes. (Public because nvcc launches no kernel on a private type.)
  struct build_record {
    u64 failed, legal, repeated;
  };
  struct encode {
    perfect_spatial to;
    const Key* keys;
    u64 *codes, *numbers;
    build_record* record;
    TILEHASH_FN void operator()(u64 i) const {
      u64 at = i;
      if constexpr (detail::has_nan<Key>) {
        if (!detail::is_legal(keys[i])) return;
        at = detail::fetch_add(&record->legal, u64(1));
      }
      codes[at] = to.code_(keys[i]);
      numbers[at] = i;
    }
  };
  // Checks that neighbours of equal code have equal keys.
  struct compare_neighbours {
    const Key* keys;
    const u64 *codes, *numbers;
    build_record* record;
    TILEHASH_FN void operator()(u64 i) const {
      if (i == 0 || codes[i] != codes[i - 1]) return;
      if (detail::same_key(keys[numbers[i]], keys[numbers[i - 1]]))
        detail::fetch_add(&record->repeated, u64(1));
      else
        detail::fetch_max(&record->failed, u64(1));
    }
  };
  struct mark_first {
    const u64* codes;
    u64* rank;
    TILEHASH_FN void operator()(u64 i) const { rank[i] = i == 0 || codes[i] != codes[i - 1]; }
  };
  struct keep_first {
    const u64 *codes, *numbers, *rank;
    u64 *kept_codes, *kept_numbers;
    TILEHASH_FN void operator()(u64 i) const {
      if (i != 0 && codes[i] == codes[i - 1]) return;
      kept_codes[rank[i]] = codes[i];
      kept_numbers[rank[i]] = numbers[i];
    }
  };
  // The begin of each class of a sorted array, also of empty ones: entry i is of class of(i).
  template <class Of>
  struct find_starts {
    Of of;
    u64 n, classes;
    u64* starts;
    TILEHASH_FN void operator()(u64 i) const {  // i = n ends all remaining classes
      const u64 from = i == 0 ? 0 : of(i - 1) + 1, to = i == n ? classes : of(i);
      for (u64 c = from; c <= to; ++c) starts[c] = i;
    }
  };
  struct group_of_code {
    detail::spatial_code<Key> code;
    const u64* codes;
    TILEHASH_FN u64 operator()(u64 i) const { return code.group(codes[i]); }
  };
  struct number_at {
    const u64* numbers;
    TILEHASH_FN u64 operator()(u64 i) const { return numbers[i]; }
  };
  // Gives large groups small numbers, so that sorting moves them to the front.
  struct measure {
    const u64* starts;
    u64 *ranks, *order;
    build_record* record;
    TILEHASH_FN void operator()(u64 g) const {
      const u64 size = starts[g + 1] - starts[g];
      if (size > largest_group) detail::fetch_max(&record->failed, u64(1));
      ranks[g] = size > largest_group ? 0 : largest_group - size;
      order[g] = g;
    }
  };
  // Searches an offset for a group.
  struct find_offset {
    perfect_spatial to;
    const u64 *codes, *starts, *order;
    u32* taken;
    build_record* record;
    TILEHASH_FN void operator()(u64 i) const {
      if (detail::load_relaxed(&record->failed) != 0) return;
      const u64 group = order[i], first = starts[group], last = starts[group + 1];
      for (u32 offset = 0; offset < max_offsets; ++offset) {
        if (claim(first, last, offset)) {
          to.offsets_[group] = static_cast<u16>(offset);
          return;
        }
      }
      detail::fetch_max(&record->failed, u64(1));
    }
    // Takes the slots of all keys of the group, or none. (Reading first costs less than releasing claims.)
    TILEHASH_FN bool claim(u64 first, u64 last, u32 offset) const {
      for (u64 k = first; k < last; ++k) {
        const u64 slot = to.code_.slot(codes[k], offset);
        if ((detail::load_relaxed(taken + slot / 32) >> slot % 32 & 1) != 0) return false;
      }
      for (u64 k = first; k < last; ++k) {
        if (detail::try_lock(taken, to.code_.slot(codes[k], offset))) continue;
        while (k-- > first) detail::unlock(taken, to.code_.slot(codes[k], offset));
        return false;
      }
      return true;
    }
  };
  template <class MappedPointer>
  struct write_item {
    perfect_spatial to;
    const Key* keys;
    MappedPointer values;
    const u64 *codes, *numbers;
    TILEHASH_FN void operator()(u64 i) const {
      to.entries_[to.slot_of(codes[i])] = detail::make_entry<entry>(keys, values, numbers[i]);
    }
  };
  // Fills every slot with a copy of the first item, before the items are written.
  template <class MappedPointer>
  struct write_filler {
    perfect_spatial to;
    const Key* keys;
    MappedPointer values;
    const u64* numbers;
    TILEHASH_FN void operator()(u64 i) const {
      to.entries_[i] = detail::make_entry<entry>(keys, values, numbers[0]);
    }
  };

 private:
  static u64 groups_for(u64 items) { return items / group_size + 1; }
  static constexpr u64 offsets_at(u64 slots) { return (slots * sizeof(entry) + 15) / 16 * 16; }
  TILEHASH_FN u64 slot_of(u64 code) const { return code_.slot(code, offsets_[code_.group(code)]); }

  // One attempt; false if its parameters fail.
  template <class Space, class MappedPointer>
  bool place_all(Space& space, const Key* keys, MappedPointer values, u64 n, insert_report& report) {
    using numbers = buffer<u64, Space>;
    buffer<build_record, Space> record(space, 1);
    space.fill(record.data(), 1, build_record{});
    const auto recorded = [&] { return read_one(space, record.data()); };

    numbers codes(space, n), order(space, n);
    space.for_each(n, encode{*this, keys, codes.data(), order.data(), record.data()});
    const u64 legal = detail::has_nan<Key> ? recorded().legal : n;
    space.sort_pairs(codes.data(), order.data(), legal, 64);
    space.for_each(legal, compare_neighbours{keys, codes.data(), order.data(), record.data()});
    const build_record found = recorded();
    if (found.failed != 0) return false;
    const u64 items = legal - found.repeated;
    if (found.repeated != 0) keep_one_of_each(space, codes, order, legal, items);

    numbers starts(space, groups_ + 1);
    space.for_each(items + 1,
                   find_starts<group_of_code>{{code_, codes.data()}, items, groups_, starts.data()});
    if (!find_offsets(space, codes.data(), starts.data(), record.data())) return false;
    if (items != 0) {
      space.for_each(slots_, write_filler<MappedPointer>{*this, keys, values, order.data()});
      space.for_each(items, write_item<MappedPointer>{*this, keys, values, codes.data(), order.data()});
    }
    items_ = items;
    report = {
        .inserted = items, .present = found.repeated, .refused = n - legal, .restarts = report.restarts};
    space.synchronize();
    return true;
  }

  // Keeps the first item of each code of `n` sorted items, `kept` in all.
  template <class Space>
  static void keep_one_of_each(Space& space, buffer<u64, Space>& codes, buffer<u64, Space>& order, u64 n,
                               u64 kept) {
    buffer<u64, Space> rank(space, n), kept_codes(space, kept), kept_order(space, kept);
    space.for_each(n, mark_first{codes.data(), rank.data()});
    space.exclusive_scan(rank.data(), rank.data(), n);
    space.for_each(n,
                   keep_first{codes.data(), order.data(), rank.data(), kept_codes.data(), kept_order.data()});
    codes = std::move(kept_codes);
    order = std::move(kept_order);
  }

  // The offsets of all groups, largest groups first.
  template <class Space>
  bool find_offsets(Space& space, const u64* codes, const u64* starts, build_record* record) {
    buffer<u64, Space> ranks(space, groups_), order(space, groups_), classes(space, largest_group + 2);
    space.for_each(groups_, measure{starts, ranks.data(), order.data(), record});
    if (read_one(space, record).failed != 0) return false;
    space.sort_pairs(ranks.data(), order.data(), groups_, 7);
    static_assert(largest_group < 128);
    space.for_each(groups_ + 1,
                   find_starts<number_at>{{ranks.data()}, groups_, largest_group + 1, classes.data()});
    const auto begin = classes.to_host();

    const u64 words = slots_ / 32 + 1;
    buffer<u32, Space> taken(space, words);
    space.fill(taken.data(), words, 0U);
    for (u64 c = 0; c < largest_group; ++c) {  // class c: groups of largest_group - c keys
      space.for_each(begin[c + 1] - begin[c],
                     find_offset{*this, codes, starts, order.data() + begin[c], taken.data(), record});
    }
    return read_one(space, record).failed == 0;
  }

  entry* entries_ = nullptr;
  u16* offsets_ = nullptr;
  u64 slots_ = 1;
  u64 groups_ = 1;
  u64 items_ = 0;
  u64 seed_ = 0;
  detail::spatial_code<Key> code_;
};

static_assert(rowed<perfect_spatial<u32, u32>> &&
              requires(const perfect_spatial<u32, u32> d) { d.holds(0); });

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
