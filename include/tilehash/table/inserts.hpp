// SPDX-License-Identifier: Apache-2.0
// The verbs that add items: build and insert.
#pragma once

#include <span>
#include <utility>

#include <tilehash/kernel/upsert.hpp>
#include <tilehash/table/lookups.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace verbs {

/// build, insert, insert_async; insert of one key.
template <class Design, class Space>
class inserts : public lookups<Design, Space> {
  using base = lookups<Design, Space>;
  using misuse = detail::misuse<Design, Space>;

 public:
  using base::is_set, base::one_by_one;
  using misuse::build, misuse::insert, misuse::insert_async;
  using typename base::engine_type, typename base::key_type, typename base::keys_in,
      typename base::mapped_type, typename base::value_element, typename base::values_in;

  /// Whether insert() adds items to those in the table, also for present keys.
  static constexpr bool adds_items =
      !insertable<Design> && requires(engine_type e, Space s, const key_type* k, const value_element* v) {
        e.insert_arrays(s, k, v, u64(0));
      };

  /// Replaces the contents by these items, in memory sized for them.
  ///
  /// Any one of equal keys wins and the others count as present, unless the design keeps duplicates. A NaN is
  /// refused.
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param values n values; a set takes none.
  /// \return how many items were inserted, present and refused.
  /// \throws invalid_argument, out_of_memory, and error where a design that is built in one call finds no
  /// hash function for the keys (strong).
  /// \complexity O(n).
  /// \memory the new table before the old one is freed, and what the design's build takes.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  insert_report build(Space& space, keys_in keys, values_in values)
    requires(!is_set)
  {
    check_items(space, keys, values, "build: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "build");
    return build_from(home(space), keys, values.data());
  }
  /// \overload
  insert_report build(Space& space, keys_in keys)
    requires is_set
  {
    check(space, keys, "build: the keys");
    [[maybe_unused]] const auto call = changing(space, "build");
    return build_from(home(space), keys, nullptr);
  }
  /// As build(); with keep::first, the first of equal keys in the arrays wins. For keys and values of up to 8
  /// bytes; not in sets, where equal keys do not differ.
  ///
  /// \param which keep::any or keep::first.
  /// \memory in addition to that of build(), 5 times the bytes of the items, of at most 32 million. An empty
  /// `tiled` table whose keys occur a few times each takes no more than build() (docs/adr/0016).
  insert_report build(Space& space, keys_in keys, values_in values, keep which)
    requires(!is_set && requires { &engine_type::insert_first; })
  {
    if (which == keep::any) return build(space, keys, values);
    check_items(space, keys, values, "build: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "build");
    return awake(space).build_first(home(space), items(keys, values.data()), keys.size());
  }

  /// Inserts the items whose keys are absent. A present key keeps its value; any one of equal keys in one
  /// call wins.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param values n values; a set takes none.
  /// \param outcomes n results, one for each item, or none. With outcomes a large call inserts region by region
  /// only into an empty table on a GPU. Others insert item by item, at about 0.4 times the rate.
  /// \return how many items were inserted, present and refused.
  /// \throws invalid_argument, error, and out_of_memory while the table has not changed (strong). Later,
  /// items that need more memory are refused; an item whose key is present never is.
  /// \complexity O(n) expected.
  /// \memory 1/8 byte an item, and up to the items' bytes if the call inserts region by region; then with
  /// outcomes also 1/8 byte a slot. A table that
  /// grows allocates the new memory before it frees the old. A large call estimates the number of new keys in
  /// 33 KiB first. It makes capacity for at most twice as many, and never for more than its items.
  /// On a GPU, 8 items a slot or more of a table that may not grow take 2.6 times their bytes, if those are
  /// free. So do 8 items a key or more in a table that grows.
  /// On a CPU, many items of repeated keys take up to 3 times their bytes, if those are free.
  /// \synchronizes once if the table does not grow, and once more if it refuses items. For 8 items a slot or
  /// more on a GPU, up to four times.
  /// \concurrency exclusive.
  insert_report insert(Space& space, keys_in keys, values_in values, std::span<outcome> outcomes = {})
    requires(insertable<Design> && !is_set)
  {
    check_items(space, keys, values, "insert: keys and values differ in length");
    return insert_checked(space, keys, values.data(), outcomes, detail::keep_stored{});
  }
  /// \overload
  insert_report insert(Space& space, keys_in keys, std::span<outcome> outcomes = {})
    requires(insertable<Design> && is_set)
  {
    check(space, keys, "insert: the keys");
    return insert_checked(space, keys, nullptr, outcomes, detail::keep_stored{});
  }
  /// As insert(); with keep::first, the first of equal keys in the arrays wins. Present keys keep their
  /// values.
  ///
  /// \param which keep::any or keep::first.
  /// \memory as for build() with keep::first.
  insert_report insert(Space& space, keys_in keys, values_in values, keep which)
    requires(!is_set && requires { &engine_type::insert_first; })
  {
    if (which == keep::any) return insert(space, keys, values);
    check_items(space, keys, values, "insert: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_first(home(space), items(keys, values.data()), keys.size());
  }
  /// Adds the items to those in the table, in designs that keep duplicates (`multimap`,
  /// `dynamic_hash_graph`); refuses NaNs.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param values n values; a set takes none.
  /// \return how many items were inserted and refused.
  /// \throws invalid_argument, out_of_memory (strong).
  /// \complexity `dynamic_hash_graph`: O(n) expected while there are free entries. Otherwise a rebuild, as
  /// every insert of a `multimap` is: O(size() + n).
  /// \memory `dynamic_hash_graph`: that of a `hash_graph` of the n items. A rebuild: all items' bytes, in
  /// addition to that of build().
  /// \synchronizes yes.
  /// \concurrency exclusive.
  insert_report insert(Space& space, keys_in keys, values_in values)
    requires(adds_items && !is_set)
  {
    check_items(space, keys, values, "insert: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_arrays(home(space), keys.data(), values.data(), keys.size());
  }
  /// \overload
  insert_report insert(Space& space, keys_in keys)
    requires(adds_items && is_set)
  {
    check(space, keys, "insert: the keys");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_arrays(home(space), keys.data(), nullptr, keys.size());
  }
  /// As insert(), but does not synchronize; for a table made with grow = false, of a design whose inserts
  /// never rebuild it.
  ///
  /// Calls on one space run in order. The table, the arrays and the space must stay until the work is done. A
  /// CUDA graph may capture the call on the stream of the table's space, and run it again on other data in
  /// the same arrays. A captured call does not build an empty table by regions, since it may find items
  /// later.
  /// \param report one element in the memory of the space, which is written when the work is done.
  /// \throws invalid_argument, also for a table that may grow, and out_of_memory (strong).
  /// \memory none for up to 2^14 items; else 1/8 byte an item. Into a table that is known to be empty: 1/32 of
  /// the items' bytes. On a GPU, for 8 items a slot or more: the items' bytes, if those are free, to combine
  /// equal keys first.
  void insert_async(Space& space, keys_in keys, values_in values, insert_report* report)
    requires(misuse::never_rebuilds && !is_set)
  {
    check_items(space, keys, values, "insert_async: keys and values differ in length");
    insert_checked_async(space, keys, values.data(), report, detail::keep_stored{});
  }
  /// \overload
  void insert_async(Space& space, keys_in keys, insert_report* report)
    requires(misuse::never_rebuilds && is_set)
  {
    check(space, keys, "insert: the keys");
    insert_checked_async(space, keys, nullptr, report, detail::keep_stored{});
  }
  /// Inserts one item, on a CPU. Arrays of keys are several times as fast.
  ///
  /// \param space of the table's device.
  /// \param key to insert.
  /// \param value of the key; a set takes none.
  /// \return inserted; present, and then the key keeps its value; or refused.
  /// \throws out_of_memory (strong).
  /// \complexity O(1) expected, over many calls: other keys may move and the table may grow.
  /// \memory as insert().
  /// \synchronizes yes.
  /// \concurrency exclusive.
  outcome insert(Space& space, const key_type& key, const value_element& value)
    requires(one_by_one && insertable<Design> && !is_set)
  {
    return insert_one(space, key, &value);
  }
  /// \overload
  outcome insert(Space& space, const key_type& key)
    requires(one_by_one && insertable<Design> && is_set)
  {
    return insert_one(space, key, nullptr);
  }

 protected:
  /// \cond
  explicit inserts(engine_type&& engine) : base(std::move(engine)) {}
  using base::awake, base::changing, base::check, base::check_items, base::engine_, base::home, base::items,
      base::values_at, base::with_memory;

  // The caller has checked the keys and values: each check takes 0.14 us on a GPU.
  template <class Pointer, class Update>
  insert_report insert_checked(Space& space, keys_in keys, Pointer values, std::span<outcome> outcomes,
                               const Update& update) {
    detail::require(outcomes.empty() || outcomes.size() == keys.size(),
                    "insert: keys and outcomes differ in length");
    check(space, outcomes, "insert: the outcomes");
    detail::require_apart(outcomes, keys, "insert", "the outcomes", "the keys");
    detail::require_apart(outcomes, values_at(keys, values), "insert", "the outcomes", "the values");
    outcome* const named = outcomes.empty() ? nullptr : outcomes.data();
    [[maybe_unused]] const auto call = changing(space, "insert");
    if constexpr (takes_arrays) {
      return awake(space).insert_arrays(home(space), keys.data(), static_cast<const value_element*>(values),
                                        keys.size(), nullptr, named, update);
    } else {
      if constexpr (std::same_as<Update, detail::keep_stored> && combines_repeated) {
        if (named == nullptr) {
          const auto report = awake(space).insert_repeated(home(space), items(keys, values), keys.size());
          if (report) return *report;
        }
      }
      return awake(space).insert(home(space), items(keys, values), keys.size(), named, update);
    }
  }
  template <class Pointer, class Update>
  void insert_checked_async(Space& space, keys_in keys, Pointer values, insert_report* report,
                            const Update& update) {
    check(space, std::span(report, 1), "insert: the report");
    detail::require_apart(std::span(report, 1), keys, "insert_async", "the report", "the keys");
    detail::require_apart(std::span(report, 1), values_at(keys, values), "insert_async", "the report",
                          "the values");
    [[maybe_unused]] const auto call = changing(space, "insert_async");
    detail::unmark_user_exceptions([&] {
      with_memory(space).insert_async(home(space), items(keys, values), keys.size(), report, update);
    });
  }

 private:
  static constexpr bool takes_arrays =  // and not a source of items
      requires(engine_type e, Space s, const key_type* k, const value_element* v) {
        e.build_arrays(s, k, v, u64(0));
      };

  static constexpr bool combines_repeated = requires { &engine_type::insert_repeated; };
  static constexpr bool inserts_one = requires { &engine_type::insert_one; };

  template <class Pointer>
  insert_report build_from(Space& space, keys_in keys, Pointer values) {
    if constexpr (takes_arrays)
      return awake(space).build_arrays(space, keys.data(), static_cast<const value_element*>(values),
                                       keys.size());
    else
      return awake(space).build(space, items(keys, values), keys.size());
  }
  // Inserts one item into a table that must change for it. The arguments are copies: they need not be in the
  // caller's memory before.
  __attribute__((noinline)) outcome insert_last_one(Space& space, key_type key, value_element value)
    requires inserts_one
  {
    return awake(space).insert_one(home(space), key,
                                   static_cast<const mapped_type*>(static_cast<const void*>(&value)));
  }
  outcome insert_one(Space& space, const key_type& key, const value_element* value)
    requires(one_by_one && insertable<Design>)
  {
    const auto* const given = static_cast<const mapped_type*>(static_cast<const void*>(value));
    if constexpr (inserts_one) {
      [[maybe_unused]] const auto call = changing(space, "insert");
      if constexpr (requires(engine_type e) { e.takes_one(); }) {
        if (engine_.takes_one()) {
          const outcome became = engine_.take_one(key, given);
          if (became != outcome::refused) return became;
        }
      }
      if constexpr (is_set)
        return insert_last_one(space, key, {});
      else
        return insert_last_one(space, key, *value);
    } else {
      outcome became = outcome::refused;
      [[maybe_unused]] const insert_report report =
          insert_checked(space, {&key, 1}, value, {&became, 1}, detail::keep_stored{});
      return became;
    }
  }
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
