// SPDX-License-Identifier: Apache-2.0
// The verbs that look keys up. None takes memory; all run concurrently with other const verbs.
//
// In place: where a result has as many bytes as a key, the array of the results may be that of the keys. Each
// lookup reads only its own key, before it writes its result there. Values and flags must not overlap.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include <tilehash/kernel/entries.hpp>
#include <tilehash/table/contents.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace verbs {

/// find, find_or, contains, count, probe_counts; find, at and contains of one key.
template <class Design, class Space>
class lookups : public contents<Design, Space> {
  using base = contents<Design, Space>;
  using misuse = detail::misuse<Design, Space>;

 public:
  using base::is_set, base::one_by_one;
  using misuse::at, misuse::contains, misuse::count, misuse::find;
  using typename base::key_type, typename base::keys_in, typename base::mapped_type,
      typename base::value_element;

  /// Finds the values of keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param out n values; out[i] is the value of keys[i], or Value{} where the key is absent. May be the
  /// array of the keys if values and keys have the same size.
  /// \param found n bools or bytes, or none: whether keys[i] is present.
  /// \throws invalid_argument (strong).
  /// \complexity O(1) expected a key.
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  void find(Space& space, keys_in keys, std::span<value_element> out, flags found = {}) const
    requires(!is_set)
  {
    find_async(space, keys, out, found);
    space.synchronize();
  }
  /// As find(), but does not synchronize.
  ///
  /// The results are written when the space's earlier work is done. Until then the caller must not change the
  /// table or the arrays.
  void find_async(Space& space, keys_in keys, std::span<value_element> out, flags found = {}) const
    requires(!is_set)
  {
    detail::require(out.size() == keys.size() && (found.empty() || found.size() == keys.size()),
                    "find: keys, values and flags differ in length");
    check(space, found, "find: the flags");
    check(space, out, "find: the results");
    detail::require_apart_or_in_place(out, keys, "find", "the results", "the keys");
    detail::require_apart_or_in_place(found, keys, "find", "the flags", "the keys");
    detail::require_apart(found, out, "find", "the flags", "the results");
    look_up(space, keys,
            detail::value_sink<mapped_type>{out.data(), found.empty() ? nullptr : found.data(), {}});
  }
  /// Finds the values of keys, with a value of the caller's choice for absent keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param out n values; may be the array of the keys if values and keys have the same size.
  /// \param missing what out[i] is where keys[i] is absent.
  /// \throws invalid_argument (strong).
  /// \complexity O(1) expected a key.
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  void find_or(Space& space, keys_in keys, std::span<value_element> out, value_element missing) const
    requires(!is_set)
  {
    find_or_async(space, keys, out, missing);
    space.synchronize();
  }
  /// As find_or(), but does not synchronize; see find_async().
  void find_or_async(Space& space, keys_in keys, std::span<value_element> out, value_element missing) const
    requires(!is_set)
  {
    detail::require(out.size() == keys.size(), "find_or: keys and values differ in length");
    check(space, out, "find_or: the results");
    detail::require_apart_or_in_place(out, keys, "find_or", "the results", "the keys");
    look_up(space, keys, detail::value_sink<mapped_type>{out.data(), nullptr, missing});
  }
  /// Tests which keys are present.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param out n bools or bytes: whether keys[i] is present. May be the array of keys of one byte.
  /// \throws invalid_argument (strong).
  /// \complexity O(1) expected a key.
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  void contains(Space& space, keys_in keys, flags out) const {
    contains_async(space, keys, out);
    space.synchronize();
  }
  /// As contains(), but does not synchronize; see find_async().
  void contains_async(Space& space, keys_in keys, flags out) const {
    detail::require(out.size() == keys.size(), "contains: keys and flags differ in length");
    check(space, out, "contains: the results");
    detail::require_apart_or_in_place(out, keys, "contains", "the results", "the keys");
    look_up(space, keys, detail::lookup_sink{.found = out.data()});
  }
  /// Counts the items of keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param out n counts: how many items have keys[i]; 0 or 1 unless the design keeps duplicates. May be the
  /// array of keys of 4 bytes.
  /// \throws invalid_argument (strong).
  /// \complexity O(1) expected a key; in a table of rows, the length of the key's row.
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  void count(Space& space, keys_in keys, std::span<u32> out) const {
    count_async(space, keys, out);
    space.synchronize();
  }
  /// As count(), but does not synchronize; see find_async().
  void count_async(Space& space, keys_in keys, std::span<u32> out) const {
    detail::require(out.size() == keys.size(), "count: keys and counts differ in length");
    check(space, out, "count: the results");
    detail::require_apart_or_in_place(out, keys, "count", "the results", "the keys");
    look_up(space, keys, detail::lookup_sink{.counts = out.data()});
  }
  /// Counts the memory reads of the lookups of keys.
  ///
  /// \param space of the table's device.
  /// \param keys n keys.
  /// \param out n counts: buckets; slots in open addressing; bounds and entries in `hash_graph` and `chained`;
  /// offset and slot in `papers::perfect_spatial`; buckets and records in `indexed`. May be the array of keys
  /// of 4 bytes.
  /// \throws invalid_argument (strong).
  /// \complexity the sum of the counts.
  /// \memory none.
  /// \synchronizes yes.
  /// \concurrency with const verbs.
  void probe_counts(Space& space, keys_in keys, std::span<u32> out) const {
    detail::require(out.size() == keys.size(), "probe_counts: keys and counts differ in length");
    check(space, out, "probe_counts: the results");
    detail::require_apart_or_in_place(out, keys, "probe_counts", "the results", "the keys");
    look_up(space, keys, detail::lookup_sink{.probes = out.data()});
    space.synchronize();
  }

  // ---- one key, of a table in the memory of the host, by the caller's own thread ----
  // (Inlined: a call would cost half of what the lookup costs.)

  /// Finds the value of one key, on a CPU. Arrays of keys are several times as fast.
  ///
  /// \param key to look up.
  /// \return its value; nothing where the key is absent.
  /// \complexity O(1) expected.
  /// \memory none.
  /// \synchronizes no.
  /// \concurrency with const verbs.
  __attribute__((TILEHASH_INLINED)) inline std::optional<mapped_type> find(const key_type& key) const
    requires(one_by_one && !is_set)
  {
    const auto hit = engine_.view().find(key);
    return hit.found() ? std::optional<mapped_type>(hit.value()) : std::nullopt;
  }
  /// As find() of one key.
  ///
  /// \param key to look up.
  /// \return its value.
  /// \throws invalid_argument where the key is absent (strong).
  mapped_type at(const key_type& key) const
    requires(one_by_one && !is_set)
  {
    const auto value = find(key);
    detail::require(value.has_value(), "at: the key is not in the table");
    return *value;
  }
  /// As find() of one key.
  ///
  /// \param key to look up.
  /// \return whether the key is present.
  bool contains(const key_type& key) const
    requires one_by_one
  {
    return engine_.view().contains(key);
  }

 protected:
  /// \cond
  explicit lookups(typename base::engine_type&& engine) : base(std::move(engine)) {}

  using base::check, base::engine_, base::look_up;
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
