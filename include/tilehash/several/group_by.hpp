// SPDX-License-Identifier: Apache-2.0
// Groups of rows that are distributed over several ranks. Each rank reduces its own rows first, and sends a value for
// each of its keys. So a key is sent once by a rank, however frequent it is.
#pragma once

#include <ranges>
#include <span>
#include <utility>

#include <tilehash/analysis/group_by.hpp>
#include <tilehash/several/item_traffic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// Keys with a value each. A rank has those of the keys that it owns.
template <class Key, class Value, class Space>
struct reduced_groups {
  buffer<Key, Space> keys;                  ///< each once
  buffer<Value, Space> values;              ///< the value of keys[i]
  u64 size() const { return keys.size(); }  ///< groups of this rank
};

}  // namespace several

namespace detail {

struct widen_count {
  const u32* from;
  u64* to;
  TILEHASH_FN void operator()(u64 i) const { to[i] = from[i]; }
};

// Groups of this rank's rows; values_of(groups) makes a value for each.
template <class Value, class Space, class Key, class Values>
several::reduced_groups<Key, Value, Space> group_own_rows(Space& space, std::span<const Key> keys,
                                                          const Values& values_of) {
  const auto grouped = analysis::group_by(space, keys);
  several::reduced_groups<Key, Value, Space> own;
  own.values = values_of(grouped);
  own.keys = buffer<Key, Space>(space, grouped.size());
  space.for_each(grouped.size(),
                 analysis::detail::gather<Key>{keys.data(), grouped.first_rows().data(), own.keys.data()});
  space.synchronize();
  return own;
}

// first(groups) makes the values that are sent; op combines them at the owners.
template <class Value, class Space, class Exchange, class Key, class First, class Op>
several::reduced_groups<Key, Value, Space> group_at_owners(Space& space, Exchange& exchange, shared_verb verb,
                                                           std::span<const Key> keys, const First& first,
                                                           const Op& op, const Value& start) {
  item_traffic<Space, Exchange> traffic(exchange);
  auto& words = traffic.words();
  words.begin(verb, sizeof(Key) | u64(sizeof(Value)) << 16);
  several::reduced_groups<Key, Value, Space> own, all;
  words.attempt([&] {
    space.check_pointer(keys, "group_by: the keys");
    own = group_own_rows<Value>(space, keys, first);
  });
  traffic.takes_values(true);
  const std::span<const Key> sent = own.keys.span();
  const auto in = traffic.template send<Key, Value>(space, sent, own.values.data());
  words.attempt([&] {
    all = group_own_rows<Value>(
        space, in.keys, [&](const auto& grouped) { return grouped.reduce(space, in.values, op, start); });
  });
  traffic.agree();
  return all;
}

}  // namespace detail

namespace several {

/// Groups distributed rows by their keys, and combines the values of each group. Collective. Rows with a NaN
/// belong to no group.
///
/// \param space of this rank.
/// \param exchange of this rank.
/// \param keys,values this rank's rows, arrays of equal length in memory of the space.
/// \param op associative; on a GPU also commutative.
/// \param start neutral: op(start, value) is value.
/// \return the groups whose keys this rank owns.
/// \throws as distributed (strong).
/// \complexity O(rows).
/// \memory that of analysis::groups, a copy of the rank's groups in the order of the owners, and those received.
/// \synchronizes yes.
/// \concurrency no other call may write the arrays.
template <class Space, exchange Exchange, std::ranges::contiguous_range Keys,
          std::ranges::contiguous_range Values, class Op>
[[nodiscard]] auto group_by(Space& space, Exchange& exchange, const Keys& keys, const Values& values, Op op,
                            std::ranges::range_value_t<Values> start) {
  using key = std::remove_cv_t<std::ranges::range_value_t<Keys>>;
  using value = std::remove_cv_t<std::ranges::range_value_t<Values>>;
  return detail::group_at_owners<value>(
      space, exchange, detail::shared_verb::group_by, std::span<const key>(keys),
      [&](const auto& grouped) { return grouped.reduce(space, values, op, start); }, op, start);
}

/// Counts the rows of each key. Collective. See several::group_by().
///
/// \return the keys that this rank owns, with the number of their rows on all ranks.
template <class Space, exchange Exchange, std::ranges::contiguous_range Keys>
[[nodiscard]] auto value_counts(Space& space, Exchange& exchange, const Keys& keys) {
  using key = std::remove_cv_t<std::ranges::range_value_t<Keys>>;
  return detail::group_at_owners<u64>(
      space, exchange, detail::shared_verb::value_counts, std::span<const key>(keys),
      [&](const auto& grouped) {
        const auto counts = grouped.counts(space);
        buffer<u64, Space> wide(space, counts.size());
        space.for_each(counts.size(), detail::widen_count{counts.data(), wide.data()});
        space.synchronize();
        return wide;
      },
      op::sum{}, u64(0));
}

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
