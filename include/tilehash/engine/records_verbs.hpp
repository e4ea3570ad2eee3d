// SPDX-License-Identifier: Apache-2.0
// The verbs of tables with ids for keys (designs/indexed.hpp).
#pragma once

#include <span>
#include <utility>

#include <tilehash/core/arrays.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace verbs {

/// id_limit, insert_and_find, find_ids, keys_of.
template <class Base>
class of_ids : public Base {
 public:
  using Space = typename Base::space_type;
  using typename Base::key_type, typename Base::keys_in, typename Base::value_element,
      typename Base::values_in;

  static constexpr u32 no_id = ~0U;  ///< the id of an absent key

  /// Returns a number that all ids are below; without erases it is size(). O(1).
  u64 id_limit() const { return engine_.id_limit(); }
  /// Inserts items as insert() does, and gives the ids of all keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param values n values; a set takes none.
  /// \param ids n ids, of keys[i], or no_id where the item was refused. May overlap keys and values: to
  /// relabel a list of keys, pass it as both.
  /// \return how many items were inserted, present and refused.
  /// \throws as insert() (strong).
  /// \complexity O(n) expected.
  /// \memory 12 bytes an item, and 30 more for each absent key; 4 more an item where arrays overlap. On a CPU,
  /// many items of repeated keys take up to 3 times their bytes, if those are free.
  /// \synchronizes yes.
  /// \concurrency exclusive.
  insert_report insert_and_find(Space& space, keys_in keys, values_in values, std::span<u32> ids)
    requires(!Base::is_set)
  {
    check_items(space, keys, values, "insert_and_find: keys and values differ in length");
    return insert_with_ids(space, keys, values.data(), ids);
  }
  /// \overload
  insert_report insert_and_find(Space& space, keys_in keys, std::span<u32> ids)
    requires(Base::is_set)
  {
    return insert_with_ids(space, keys, nullptr, ids);
  }
  /// Finds the ids of keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param ids n ids, of keys[i], or no_id where the key is absent. May be the array of keys of 4 bytes.
  /// \throws invalid_argument (strong).
  /// \complexity O(1) expected a key.
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  void find_ids(Space& space, keys_in keys, std::span<u32> ids) const {
    detail::require(ids.size() == keys.size(), "find_ids: keys and ids differ in length");
    check(space, ids, "find_ids: the ids");
    detail::require_apart_or_in_place(ids, keys, "find_ids", "the ids", "the keys");
    look_up(space, keys, detail::lookup_sink{.ids = ids.data()});
    space.synchronize();
  }
  /// Finds the keys of ids.
  ///
  /// \param space of the table's device.
  /// \param ids n ids.
  /// \param keys n keys; keys[i] is written where a key has ids[i]. May be the array of the ids for keys of 4
  /// bytes.
  /// \param found n bools or bytes, or none: whether a key has ids[i].
  /// \throws invalid_argument (strong).
  /// \complexity O(1) an id.
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  void keys_of(Space& space, std::span<const u32> ids, std::span<key_type> keys, flags found = {}) const {
    detail::require(ids.size() == keys.size() && (found.empty() || found.size() == ids.size()),
                    "keys_of: ids, keys and flags differ in length");
    check(space, ids, "keys_of: the ids");
    check(space, keys, "keys_of: the keys");
    check(space, found, "keys_of: the flags");
    detail::require_apart_or_in_place(keys, ids, "keys_of", "the keys", "the ids");
    detail::require_apart(found, ids, "keys_of", "the flags", "the ids");
    detail::require_apart(found, keys, "keys_of", "the flags", "the keys");
    [[maybe_unused]] const auto call = reading(space, "keys_of");
    engine_.keys_of(space, ids, keys.data(), found.empty() ? nullptr : found.data());
    space.synchronize();
  }

 protected:
  /// \cond
  explicit of_ids(typename Base::engine_type&& engine) : Base(std::move(engine)) {}
  using Base::awake, Base::changing, Base::check, Base::check_items, Base::engine_, Base::home, Base::look_up,
      Base::reading, Base::values_at;

 private:
  template <class Pointer>
  insert_report insert_with_ids(Space& space, keys_in keys, Pointer values, std::span<u32> ids) {
    detail::require(ids.size() == keys.size(), "insert_and_find: keys and ids differ in length");
    check(space, keys, "insert_and_find: the keys");
    check(space, ids, "insert_and_find: the ids");
    [[maybe_unused]] const auto call = changing(space, "insert_and_find");
    const auto insert_to = [&](u32* to) {
      return awake(space).insert_arrays(home(space), keys.data(), static_cast<const value_element*>(values),
                                        keys.size(), to, nullptr, detail::keep_stored{});
    };
    const detail::bytes_of_array written(ids);
    if (!written.overlaps(keys) && !written.overlaps(values_at(keys, values))) return insert_to(ids.data());
    // The items are read again after the first ids are known.
    const buffer<u32, Space> own(home(space), ids.size());
    const insert_report report = insert_to(own.data());
    home(space).copy(ids.data(), own.data(), own.bytes());
    home(space).synchronize();
    return report;
  }
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(verbs);
}  // namespace tilehash
