// SPDX-License-Identifier: Apache-2.0
// The verbs for all items of a table, and for its memory.
#pragma once

#include <concepts>
#include <span>
#include <utility>

#include <tilehash/kernel/entries.hpp>
#include <tilehash/table/owner.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace verbs {

/// retrieve_all, for_each, clear, reserve, rehash, shrink_to_fit.
template <class Design, class Space>
class contents : public owner<Design, Space> {
  using base = owner<Design, Space>;
  using misuse = detail::misuse<Design, Space>;

 public:
  using base::empty, base::is_set, base::size, base::view;
  using misuse::clear, misuse::for_each, misuse::reserve, misuse::retrieve_all;
  using typename base::key_type, typename base::value_element;

  /// Whether the capacity can change without a build().
  static constexpr bool can_resize =
      requires(typename base::engine_type e, Space s) { e.reserve(s, u64(0)); };

  /// Copies all items out, in no given order; a multimap's values of one key are contiguous.
  ///
  /// \param space of the table's device.
  /// \param keys at least size() elements.
  /// \param values at least size() elements.
  /// \return size(), the number of elements written to each array.
  /// \throws invalid_argument where an array is too small or the arrays overlap, out_of_memory (strong).
  /// \complexity O(capacity()).
  /// \memory 8 bytes; in a multimap, as many for 4096 items.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  u64 retrieve_all(Space& space, std::span<key_type> keys, std::span<value_element> values) const
    requires(!is_set)
  {
    check(space, values, "retrieve_all: the values");
    detail::require_apart(values, keys, "retrieve_all", "the values", "the keys");
    return retrieve_entries(space, keys, values.data(), values.size());
  }
  /// \overload
  u64 retrieve_all(Space& space, std::span<key_type> keys) const
    requires is_set
  {
    return retrieve_entries(space, keys, nullptr, ~u64(0));
  }
  /// Calls f(key, value), in a set f(key), for every item, in parallel.
  ///
  /// \param space of the table's device.
  /// \param f any callable; on a GPU a `__device__` functor.
  /// \throws on a CPU, what f throws; the call then skips some items. In a multimap, out_of_memory (strong).
  /// \complexity O(capacity()).
  /// \memory none; in a multimap, 8 bytes for 4096 items.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  template <class F>
  void for_each(Space& space, F f) const {
    if constexpr (is_set && !Space::has_lanes)
      static_assert(std::invocable<F&, const key_type&>, "tilehash: for_each calls f(key) in a set");
    else if constexpr (!Space::has_lanes)
      static_assert(std::invocable<F&, const key_type&, const value_element&>,
                    "tilehash: for_each calls f(key, value), in a set f(key)");
    if (empty()) return;
    [[maybe_unused]] const auto call = reading(space, "for_each");
    if constexpr (requires { engine_.for_each(space, f); })
      engine_.for_each(space, f);
    else
      detail::for_each_entry(space, view(), f);
    space.synchronize();
  }

  /// Removes all items and keeps the capacity.
  ///
  /// \param space of the table's device.
  /// \throws out_of_memory in designs that are built in one call (strong).
  /// \complexity O(capacity()).
  /// \memory none; designs that are built in one call allocate the new table before they free the old one.
  /// \synchronizes no; designs that are built in one call synchronize as build() does.
  /// \concurrency exclusive.
  void clear(Space& space) {
    [[maybe_unused]] const auto call = changing(space, "clear");
    with_memory(space).clear(home(space));
  }
  /// Makes the capacity large enough for `items` items at the options' load factor; never shrinks.
  ///
  /// \param space of the table's device.
  /// \param items in all, including those in the table.
  /// \return how often the table was rebuilt.
  /// \throws out_of_memory, and error where items find no slot (strong).
  /// \complexity O(1) where the capacity suffices; else O(old + new capacity).
  /// \memory as rehash(). A `tiled` table that grows in its own memory (docs/explain/tiled.md) takes 1/32 of
  /// the old table and up to 1/16 of the items' bytes. Its capacity grows by at least 1/8.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  u64 reserve(Space& space, u64 items)
    requires(can_resize)
  {
    [[maybe_unused]] const auto call = changing(space, "reserve");
    return awake(space).reserve(home(space), items);
  }
  /// Rebuilds the table for max(items, size()) items with the next hash function, without tombstones.
  ///
  /// \param space of the table's device.
  /// \param items to size the new memory for.
  /// \return how often the table was rebuilt.
  /// \throws out_of_memory, and error where items find no slot (strong).
  /// \complexity O(old + new capacity).
  /// \memory the new table, and 1/8 byte a slot.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  u64 rehash(Space& space, u64 items)
    requires(can_resize)
  {
    [[maybe_unused]] const auto call = changing(space, "rehash");
    return awake(space).rehash(home(space), items);
  }
  /// Frees the memory that the items do not need at the options' load factor.
  ///
  /// `indexed` also frees records whose ids were never assigned; a `dynamic_hash_graph` is rebuilt. The table
  /// is unchanged where it can free nothing or, in its own memory, less than 1/9.
  /// \param space of the table's device.
  /// \return how often the table was rebuilt.
  /// \throws out_of_memory, and error where items find no slot (strong).
  /// \complexity O(old + new capacity).
  /// \memory as reserve(), of the old capacity.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  u64 shrink_to_fit(Space& space)
    requires(can_resize)
  {
    [[maybe_unused]] const auto call = changing(space, "shrink_to_fit");
    return awake(space).shrink_to_fit(home(space));
  }

 protected:
  /// \cond
  explicit contents(typename base::engine_type&& engine) : base(std::move(engine)) {}

  using base::awake, base::changing, base::check, base::engine_, base::home, base::reading, base::with_memory;

 private:
  // `value_capacity`: elements at `values`.
  template <class Pointer>
  u64 retrieve_entries(Space& space, std::span<key_type> keys, Pointer values, u64 value_capacity) const {
    const u64 items = size();
    detail::require(keys.size() >= items, "retrieve_all: the keys' array is smaller than size()");
    detail::require(value_capacity >= items, "retrieve_all: the values' array is smaller than size()");
    check(space, keys, "retrieve_all: the keys");
    if (items == 0) return 0;
    [[maybe_unused]] const auto call = reading(space, "retrieve_all");
    if constexpr (requires { engine_.copy_entries(space, keys.data(), values); }) {
      engine_.copy_entries(space, keys.data(), values);
      space.synchronize();
      return items;
    } else {
      buffer<u64, Space> n(space, 1);
      space.fill(n.data(), 1, u64(0));
      // A view may insert more items after size() was read. So the arrays' sizes bound what is written.
      const u64 most = keys.size() < value_capacity ? keys.size() : value_capacity;
      detail::collect_entries(space, view(), keys.data(), static_cast<value_element*>(values), most,
                              n.data());
      const u64 found = read_one(space, n.data());
      detail::require(found <= most, "retrieve_all: a view put items in during the call; call it alone");
      return found;
    }
  }
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
