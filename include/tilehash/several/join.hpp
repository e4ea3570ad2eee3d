// SPDX-License-Identifier: Apache-2.0
// The inner join of two arrays of keys that are distributed over several ranks.
//
// Rows are numbered over all ranks: first the rows of rank 0, then those of rank 1, and so on. A pair of rows is
// found by the rank that owns its key, and stays there.
#pragma once

#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include <tilehash/join.hpp>
#include <tilehash/several/item_traffic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// Pairs of rows with equal keys. Rows are numbered over all ranks, in the order of the ranks.
template <class Space>
struct joined_rows {
  buffer<u64, Space> left;                  ///< row i of the result pairs this row of the left side
  buffer<u64, Space> right;                 ///< with this row of the right side
  u64 size() const { return left.size(); }  ///< the rows that this rank found
};

}  // namespace several

namespace detail {

// Rows of the result as rows over all ranks: item `from[i]` of those received, which came from the rank whose
// items begin last before it.
struct number_global_rows {
  const u32* from;
  const u32* own_rows;
  const u64* first_items;
  const u64* first_rows;
  u32 ranks;
  u64* to;
  TILEHASH_FN void operator()(u64 i) const {
    const u32 item = from[i];
    u32 r = ranks - 1;
    while (r != 0 && first_items[r] > item) --r;
    to[i] = first_rows[r] + own_rows[item];
  }
};

// One side of the join at the owners.
template <class Key, class Space, class Exchange>
struct joined_side {
  item_traffic<Space, Exchange> traffic;
  arrived_items<Key, u32, Space> in;
  std::vector<u64> first_items, first_rows;

  explicit joined_side(Exchange& exchange) : traffic(exchange) {}
  void send(Space& space, std::span<const Key> keys) {
    auto& words = traffic.words();
    words.begin(shared_verb::join, sizeof(Key));
    buffer<u32, Space> rows;
    words.attempt([&] {
      space.check_pointer(keys, "join: the keys");
      rows = buffer<u32, Space>(space, keys.size());
      space.for_each(keys.size(), number_own_rows{rows.data()});
    });
    words.mine(traffic.extra(1)) = keys.size();
    traffic.takes_values(true);
    in = traffic.template send<Key, u32>(space, keys, rows.data());
    u64 items = 0, all = 0;
    for (u32 r = 0; r < traffic.ranks(); ++r) {
      first_items.push_back(items);
      first_rows.push_back(all);
      items += in.counts.received[r];
      all += words.of(r, traffic.extra(1));
    }
  }
  buffer<u64, Space> global(Space& space, const buffer<u32, Space>& rows) const {
    const buffer<u64, Space> items(space, std::span<const u64>(first_items)),
        before(space, std::span<const u64>(first_rows));
    buffer<u64, Space> to(space, rows.size());
    space.for_each(rows.size(), number_global_rows{rows.data(), in.values.data(), items.data(), before.data(),
                                                   traffic.ranks(), to.data()});
    space.synchronize();
    return to;
  }
};

}  // namespace detail

namespace several {

/// Joins two distributed arrays: all pairs of rows with equal keys. Collective.
///
/// \param space of this rank.
/// \param exchange of this rank.
/// \param left,right this rank's rows, arrays of one key type in memory of the space.
/// \return the pairs whose keys this rank owns, in no given order.
/// \throws as distributed (strong).
/// \complexity O(left + right + rows). A frequent key's rows are all found by its owner.
/// \memory a copy of the rows in the order of the owners, those received, and that of tilehash::join().
/// \synchronizes yes.
/// \concurrency no other call may write the keys.
template <class Space, exchange Exchange, class Left, class Right>
  requires detail::joinable<Left, Right>
[[nodiscard]] joined_rows<Space> join(Space& space, Exchange& exchange, const Left& left,
                                      const Right& right) {
  using key = detail::key_of<Left>;
  detail::joined_side<key, Space, Exchange> left_side(exchange), right_side(exchange);
  left_side.send(space, std::span<const key>(left));
  right_side.send(space, std::span<const key>(right));
  joined_rows<Space> result;
  right_side.traffic.words().attempt([&] {
    const auto rows = tilehash::TILEHASH_ABI::join(space, left_side.in.keys, right_side.in.keys);
    result.left = left_side.global(space, rows.left);
    result.right = right_side.global(space, rows.right);
  });
  right_side.traffic.agree();
  return result;
}

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
