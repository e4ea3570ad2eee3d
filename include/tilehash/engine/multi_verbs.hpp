// SPDX-License-Identifier: Apache-2.0
// The verbs of multimaps (designs/multi.hpp): all values of keys.
#pragma once

#include <span>
#include <utility>

#include <tilehash/core/arrays.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/multi.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace verbs {

/// key_count, retrieve, retrieve_keys; build and insert with a `grouping`.
template <class Base>
class of_multi : public Base {
 public:
  using Space = typename Base::space_type;
  using Base::build, Base::insert;
  using typename Base::key_type, typename Base::keys_in, typename Base::value_element,
      typename Base::values_in;

  /// As build(), by a way of the caller's choice.
  ///
  /// \param how a way to bring the items of a key together (designs/multi.hpp).
  insert_report build(Space& space, keys_in keys, values_in values, grouping how) {
    check_items(space, keys, values, "build: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "build");
    return awake(space).build_arrays(home(space), keys.data(), values.data(), keys.size(), how);
  }
  /// As insert(), by a way of the caller's choice.
  ///
  /// \param how a way to bring the items of a key together (designs/multi.hpp).
  insert_report insert(Space& space, keys_in keys, values_in values, grouping how) {
    check_items(space, keys, values, "insert: keys and values differ in length");
    [[maybe_unused]] const auto call = changing(space, "insert");
    return awake(space).insert_arrays(home(space), keys.data(), values.data(), keys.size(), how);
  }

  /// Returns the number of different keys. O(1).
  u64 key_count() const { return engine_.key_count(); }
  /// The values of keys[i] are values[offsets[i]] ... values[offsets[i + 1] - 1].
  struct retrieved {
    buffer<u64, Space> offsets;           ///< one for each key, and the number of values at the end
    buffer<value_element, Space> values;  ///< those of the first key, of the second, and so on
  };
  /// Finds all values of keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \return the values, in new arrays.
  /// \throws invalid_argument, out_of_memory (strong).
  /// \complexity O(n + values), for any distribution of the values over the keys.
  /// \memory 8 bytes a key, in addition to the result.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  [[nodiscard]] retrieved retrieve(Space& space, keys_in keys) const {
    check(space, keys, "retrieve: the keys");
    [[maybe_unused]] const auto call = reading(space, "retrieve");
    retrieved all{buffer<u64, Space>(space, keys.size() + 1), {}};
    // If each key has one value, there are at most as many as keys.
    if (Space::has_lanes && engine_.size() == engine_.key_count())
      all.values = buffer<value_element, Space>(space, keys.size());
    const auto found = engine_.find_ranges(space, keys.data(), keys.size(), all.offsets.data(),
                                           all.values.data(), all.values.size());
    if (found.copied && found.total == all.values.size()) return all;
    buffer<value_element, Space> values(space, found.total);
    if (!found.copied) {
      engine_.copy_values(space, all.offsets.span(), found.begins, values.data(), found.total);
    } else if (found.total != 0) {
      space.copy(values.data(), all.values.data(), values.bytes());
      space.synchronize();
    }
    all.values = std::move(values);
    return all;
  }
  /// As retrieve(), into arrays of the caller's.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param offsets n + 1 offsets.
  /// \param values at least as many elements as the keys have values.
  /// \return how many values the keys have.
  /// \throws invalid_argument; where `values` is too small, the last offset is then the size that it needs.
  /// Else it is strong. out_of_memory (basic): the arrays have no results.
  u64 retrieve(Space& space, keys_in keys, std::span<u64> offsets, std::span<value_element> values) const {
    detail::require(offsets.size() == keys.size() + 1, "retrieve: there must be one offset more than keys");
    check(space, keys, "retrieve: the keys");
    check(space, offsets, "retrieve: the offsets");
    check(space, values, "retrieve: the values");
    detail::require_apart(offsets, keys, "retrieve", "the offsets", "the keys");
    detail::require_apart(values, keys, "retrieve", "the values", "the keys");
    detail::require_apart(values, offsets, "retrieve", "the values", "the offsets");
    [[maybe_unused]] const auto call = reading(space, "retrieve");
    const auto found =
        engine_.find_ranges(space, keys.data(), keys.size(), offsets.data(), values.data(), values.size());
    detail::require(found.total <= values.size(),
                    "retrieve: the values' array is too small; the last offset says how "
                    "many there are");
    if (!found.copied) engine_.copy_values(space, offsets, found.begins, values.data(), found.total);
    return found.total;
  }
  /// Copies each key once: keys[id] is the key of the values view().values(id).
  ///
  /// \param space of the table's device.
  /// \param keys at least key_count() elements.
  /// \return key_count(), the number of elements written.
  /// \throws invalid_argument where the array is too small (strong).
  /// \complexity O(key_count()).
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  u64 retrieve_keys(Space& space, std::span<key_type> keys) const {
    detail::require(keys.size() >= key_count(), "retrieve_keys: the array is smaller than key_count()");
    check(space, keys, "retrieve_keys: the keys");
    [[maybe_unused]] const auto call = reading(space, "retrieve_keys");
    engine_.copy_keys(space, keys.data());
    space.synchronize();
    return key_count();
  }

 protected:
  /// \cond
  explicit of_multi(typename Base::engine_type&& engine) : Base(std::move(engine)) {}
  using Base::awake, Base::changing, Base::check, Base::check_items, Base::engine_, Base::home, Base::reading;
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(verbs);
}  // namespace tilehash
