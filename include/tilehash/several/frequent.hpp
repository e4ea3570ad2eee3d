// SPDX-License-Identifier: Apache-2.0
// Keys that are frequent in a call are sent once. Else the owner of a key that is half of all items would
// receive half of all items, while the other ranks wait.
//
// Each rank finds its frequent keys in a sample, alone. A key is frequent if it is a quarter of a rank's even
// part, or more. (One that is found by chance costs nothing.)
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include <tilehash/algorithm/sample.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/several/shards.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u32 most_frequent_keys = 16;  // of a call

// The frequent keys of a call, each with a value that came with it.
template <class Key, class Value, class Space>
struct frequent_items {
  buffer<Key, Space> keys;
  buffer<Value, Space> values;  // empty without values

  u32 size() const { return static_cast<u32>(keys.size()); }
};

template <class T>
struct pick_rows {
  const T* from;
  const u64* rows;
  T* to;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[rows[i]]; }
};

// The rows of the most frequent keys of a sample, of `least` occurrences there or more.
template <class Key>
std::vector<u64> frequent_rows(std::span<const Key> sample, u64 n, u32 least, u32 most) {
  struct entry {
    u32 first = 0, times = 0;
  };
  std::vector<entry> table(4 * sample.size());
  for (u32 i = 0; i < sample.size(); ++i) {
    u64 at = hash_key(owner_hash(), sample[i]) >> 32;
    while (table[at % table.size()].times != 0 &&
           !same_key(sample[table[at % table.size()].first], sample[i]))
      ++at;
    entry& e = table[at % table.size()];
    if (e.times++ == 0) e.first = i;
  }
  std::vector<u64> rows;
  for (u32 bar = static_cast<u32>(sample.size()); bar >= least && rows.size() < most; bar /= 2)
    for (const entry& e : table)
      if (e.times >= least && e.times <= bar && e.times > bar / 2 && rows.size() < most)
        rows.push_back(fast_range(mix64(e.first), n));
  return rows;
}

// Finds them. Synchronizes, unless there are few keys or one rank. Throws out_of_memory.
template <class Key, class Value, class Space>
frequent_items<Key, Value, Space> frequent_of_call(Space& space, std::span<const Key> keys,
                                                   const Value* values, u32 ranks, u64 least_keys) {
  constexpr u32 sampled = tuning::of<Space>::routed_sample;
  frequent_items<Key, Value, Space> found;
  if (ranks == 1 || keys.size() < least_keys || keys.empty()) return found;
  const buffer<Key, Space> drawn(space, sampled);
  space.for_each(sampled, draw_keys<Key>{keys.data(), keys.size(), drawn.data()});
  const auto sample = drawn.to_host();
  const u32 least = sampled / (4 * ranks) < 4 ? 4 : sampled / (4 * ranks);
  const auto rows = frequent_rows(std::span<const Key>(reinterpret_cast<const Key*>(sample.data()), sampled),
                                  keys.size(), least, most_frequent_keys);
  if (rows.empty()) return found;
  const buffer<u64, Space> at(space, std::span<const u64>(rows));
  found.keys = buffer<Key, Space>(space, rows.size());
  space.for_each(rows.size(), pick_rows<Key>{keys.data(), at.data(), found.keys.data()});
  if (values != nullptr) {
    found.values = buffer<Value, Space>(space, rows.size());
    space.for_each(rows.size(), pick_rows<Value>{values, at.data(), found.values.data()});
  }
  return found;
}

// An op of values alone, for values that were lifted before they were combined.
template <class Op>
struct lifted_op {
  static constexpr bool is_associative = requires { requires Op::is_associative; };
  Op op;

  template <class Value>
  TILEHASH_FN Value operator()(const Value& stored, const Value& given) const {
    return op(stored, given);
  }
  template <class At, class Value>
    requires combines_in_place<Op, Value>
  TILEHASH_FN static void in_place(At at, Value given) {
    Op::in_place(at, given);
  }
};

// Items with different keys, made of a call's items by a table of this rank alone.
template <class Table>
struct locally_combined {
  using Space = typename Table::space_type;
  buffer<typename Table::key_type, Space> keys;
  buffer<typename Table::value_element, Space> values;
  u64 refused = 0;  // items whose keys are not legal

  // apply(table, keys, values) inserts the items.
  template <class Apply>
  void make(Space& space, typename Table::keys_in all, const typename Table::value_element* all_values,
            const Apply& apply) {
    Table table(space);
    refused = apply(table, all, all_values).refused;
    keys = buffer<typename Table::key_type, Space>(space, table.size());
    if constexpr (Table::is_set) {
      table.retrieve_all(space, keys.span());
    } else {
      values = buffer<typename Table::value_element, Space>(space, table.size());
      table.retrieve_all(space, keys.span(), values.span());
    }
  }
};

// Counts the flags that are 0.
struct count_absent_by_lanes {
  const u8* flags;
  u64 n;
  u64* absent;
  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    lane.tally(absent, i < n && flags[i < n ? i : 0] == 0);
  }
};
template <class Space>
u64 count_absent(Space& space, const u8* flags, u64 n) {
  if (n == 0) return 0;
  const buffer<u64, Space> absent(space, 1);
  u64* const to = absent.data();
  space.fill(to, 1, u64(0));
  if constexpr (Space::has_lanes) {
    space.for_each_lane(n, count_absent_by_lanes{flags, n, to});
  } else {
    space.for_each_share(n, [=](u64 first, u64 last) {
      u64 own = 0;
      for (u64 i = first; i < last; ++i) own += flags[i] == 0;
      fetch_add(to, own);
    });
  }
  return read_one(space, to);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
