// SPDX-License-Identifier: Apache-2.0
// Inserts on a CPU whose threads combine the items of equal keys first (algorithm/thread_combine.hpp). The
// table then meets each key once.
//
// Nothing has changed in the table when combining fails: by lack of memory, by what an op throws, or by a clash
// of fingerprints (designs/indexed.hpp).
#pragma once

#include <optional>

#include <tilehash/algorithm/sample.hpp>
#include <tilehash/algorithm/thread_combine.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Wraps an op. Its out_of_memory is not mistaken for one of the space's (core/error.hpp).
template <class Op>
struct marking {
  Op op;
  template <class Value>
  Value operator()(const Value& a, const Value& b) const {
    try {
      return op(a, b);
    } catch (...) {
      throw user_exception{std::current_exception()};
    }
  }
};
template <class Space, class Value, class Op>
auto marked(const Op& op) {
  if constexpr (Space::has_lanes || combines_in_place<Op, Value>)
    return op;
  else
    return marking<Op>{op};
}

// The op that combines given values for an update of a table, if there is one.
template <class Update>
inline constexpr bool combines_given = false;
template <>
inline constexpr bool combines_given<keep_stored> = true;
template <class Op>
  requires requires { requires Op::is_associative; }
inline constexpr bool combines_given<apply<Op>> = true;

// The op that combines the items of a call with one another, or first with the stored value of their key.
template <class Space, class Value, class View, class Update>
auto op_for_given(const View& view, bool empty, const Update& update) {
  if constexpr (std::same_as<Update, keep_stored> || std::is_void_v<Value>) {
    return keep_one{};
  } else {
    auto op = marked<Space, Value>(update.op);
    if constexpr (combines_given<Update>)
      return op;
    else
      return stored_first<View, decltype(op)>{view, empty, op};
  }
}
// The update of a table with the result of that op.
template <class Update>
auto update_by_combined(const Update& update) {
  if constexpr (combines_given<Update>)
    return update;
  else
    return apply<op::assign>{};
}

// Hashes keys for a table that compares the keys themselves.
template <class Key>
struct key_hash {
  static constexpr bool stops_at_clash = false;
  murmur hash;
  explicit key_hash(u64 seed) : hash(seed) {}
  u64 operator()(const Key& key) const { return hash_key(hash, key); }
};

// Combines the items of a source. Nothing: the memory did not suffice, or keys clash.
template <class Source, class Hash, class Op, class Space>
auto combine_by_threads(Space& space, const Source& source, u64 n, const Hash& hash, const Op& op) {
  using work = thread_combine<Source, Hash, Op, Space>;
  std::optional<typename work::list> list;
  if (n >= tuning::cpu::most_combined) return list;
  try {
    list = work(space, source, n, hash, op).run(space);
    if (list->clash) list.reset();
  } catch (const out_of_memory&) {
  }
  return list;
}

// Does combining pay? A sample shows whether keys repeat; without memory for it, they count as different.
template <class Space, class Key>
bool combining_pays(Space& space, const Key* keys, u64 n) {
  if (n < tuning::cpu::least_combined || n >= tuning::cpu::most_combined) return false;
  try {
    return sample_keys(space, keys, n).more_uneven_than(tuning::cpu::few_combined_copies);
  } catch (const out_of_memory&) {
    return false;
  }
}

// Completes the report of a call of n items, of which `illegal` have illegal keys, from that of its list. A
// refused key of the list represents all items of its key, so these are counted.
template <class Table, class Space, class Key>
insert_report report_of_all(const Table& table, Space& space, const Key* keys, u64 n, u64 illegal,
                            const buffer<u64, Space>& missing, insert_report report) {
  if (report.refused == 0) {
    report.refused = illegal;
  } else {
    space.fill(missing.data(), 1, u64(0));
    table.look_up(space, keys, n, missing_sink{missing.data()});
    report.refused = read_one(space, missing.data());
  }
  report.present = n - report.inserted - report.refused;
  return report;
}

// Combines the n items of a source, calls insert(list), and reports on all items. insert() throws out_of_memory
// only while nothing has changed. Nothing: the table is unchanged, because combining failed.
template <class Table, class Space, class Source, class Hash, class Op, class Insert>
std::optional<insert_report> insert_by_list(const Table& table, Space& space, const Source& source, u64 n,
                                            const Hash& hash, const Op& op, const Insert& insert) {
  const auto list = combine_by_threads(space, source, n, hash, op);
  if (!list) return std::nullopt;
  try {
    const buffer<u64, Space> missing(space, 1);
    const insert_report report = insert(*list);
    return report_of_all(table, space, source.keys, n, list->illegal, missing, report);
  } catch (const out_of_memory&) {
  }
  return std::nullopt;
}

// Inserts n items with different keys.
template <class Table, class Space, class Slot, class Update>
insert_report insert_listed(Table& table, Space& space, const array_source<Slot>& each, u64 n,
                            const Update& update) {
  return table.size() == 0 ? table.insert_different(space, each, n, keep_stored{})
                           : table.insert_different(space, each, n, update);
}

// Inserts items into a table of slots.
template <class Table, class Space, class Source, class Update>
std::optional<insert_report> insert_thread_combined(Table& table, Space& space, const Source& source, u64 n,
                                                    const Update& update) {
  using slot_type = typename Table::slot_type;
  using key_type = typename slot_type::key_type;
  const auto op =
      op_for_given<Space, typename slot_type::mapped_type>(table.view(), table.size() == 0, update);
  return insert_by_list(table, space, source, n, key_hash<key_type>(drawn_seed()), op, [&](const auto& list) {
    array_source<slot_type> each{list.keys.data(), nullptr};
    if constexpr (!slot_type::is_set) each.values = list.values.data();
    return insert_listed(table, space, each, list.size, update_by_combined(update));
  });
}

// The same for an op whose arguments are not values, if it pays to combine items first.
template <class Table, class Space, class Key, class Given, class Op>
std::optional<insert_report> insert_lifted(Table& table, Space& space, const Key* keys, const Given* given,
                                           u64 n, const Op& op) {
  if (!combining_pays(space, keys, n)) return std::nullopt;
  const lifted_arrays<Key, typename Table::mapped_type, Given, Op> source{keys, given};
  return insert_thread_combined(table, space, source, n, apply<Op>{op});
}

// On a CPU: inserts items, of equal keys any one, if it pays to combine these first; otherwise returns nothing.
template <class Table, class Space, class Slot>
  requires(!Space::has_lanes)
std::optional<insert_report> insert_repeated(Table& table, Space& space, const array_source<Slot>& items,
                                             u64 n) {
  if (!combining_pays(space, items.keys, n)) return std::nullopt;
  const key_value_arrays<typename Slot::key_type, typename Slot::mapped_type> source{items.keys,
                                                                                     items.values};
  return insert_thread_combined(table, space, source, n, keep_stored{});
}

// Keys with their numbers, of which the smallest is the first item of its key.
template <class Key>
struct keys_with_numbers {
  using key_type = Key;
  using value_type = u32;
  const Key* keys;
  const Key& key(u64 i) const { return keys[i]; }
  u32 value(u64 i) const { return static_cast<u32>(i); }
};

// The same for inserts of the first of equal keys.
template <class Table, class Space, class Slot>
std::optional<insert_report> insert_thread_first(Table& table, Space& space, const array_source<Slot>& items,
                                                 u64 n) {
  using key_type = typename Slot::key_type;
  return insert_by_list(
      table, space, keys_with_numbers<key_type>{items.keys}, n, key_hash<key_type>(drawn_seed()),
      op::minimum{}, [&](const auto& list) {
        const buffer<typename Slot::mapped_type, Space> values(space, list.size);
        space.for_each(list.size, [to = values.data(), from = items.values,
                                   number = list.values.data()](u64 i) { put_new(to + i, from[number[i]]); });
        const array_source<Slot> each{list.keys.data(), values.data()};
        return insert_listed(table, space, each, list.size, keep_stored{});
      });
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
