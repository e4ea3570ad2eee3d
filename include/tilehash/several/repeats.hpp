// SPDX-License-Identifier: Apache-2.0
// Keys that repeat in a call are sent once. Else the owner of a key that is half of all items would receive
// half of all items, while the other ranks wait.
//
// A sample decides, for each rank alone. A key that is a quarter of a rank's even part, or more, makes the
// keys of the sample repeat that often.
#pragma once

#include <span>
#include <utility>

#include <tilehash/algorithm/sample.hpp>
#include <tilehash/analysis/factorize.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Do so many of the keys repeat that one rank might receive 1.25 times its even part?
template <class Space, class Key>
bool repeats_much(Space& space, std::span<const Key> keys, u32 ranks, u64 least) {
  if (ranks == 1 || keys.size() < least) return false;
  const key_sample sample = sample_keys(space, keys.data(), keys.size());
  const u64 repeated = sample.size - sample.different;
  return repeated * ranks * 4 > sample.size;
}

// The different keys of a call, and each key's number among them.
template <class Key, class Space>
struct different_keys {
  buffer<Key, Space> keys;
  buffer<u32, Space> codes;

  different_keys() = default;
  different_keys(Space& space, std::span<const Key> all) {
    auto found = analysis::factorize(space, all, {.missing_keys = analysis::missing::as_key});
    keys = buffer<Key, Space>(space, found.size());
    space.for_each(found.size(),
                   analysis::detail::gather<Key>{all.data(), found.first_rows.data(), keys.data()});
    codes = std::move(found.codes);
  }
};

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
