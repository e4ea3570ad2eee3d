// SPDX-License-Identifier: Apache-2.0
// The items of a call, their owners, and where they go.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/several/shards.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Where the items go: keys and values by owner, and the position of each item there. Null: not written.
template <class Key, class Value>
struct routed_arrays {
  Key* keys = nullptr;
  Value* values = nullptr;
  u32* positions = nullptr;
};

template <class Key, class Value>
struct route_of {
  const Key* keys;
  const Value* values;
  u64 n;  // items
  const Key* frequent_keys;
  const Value* frequent_values;
  u32 frequents;
  u32 ranks;
  u64 parts, each;  // items of a part
  u32* starts;      // [rank][part]
  routed_arrays<Key, Value> to;

  // Items and frequent keys.
  TILEHASH_FN u64 size() const { return n + frequents; }
  TILEHASH_FN Key key(u64 i) const { return i < n ? keys[i] : frequent_keys[i - n]; }
  TILEHASH_FN Value value(u64 i) const { return i < n ? values[i] : frequent_values[i - n]; }
  TILEHASH_FN u32 rank_of(const Key& key) const { return several::rank_of(several::shard_of(key), ranks); }
  // The owner of item i, or `ranks` where the item is not sent.
  TILEHASH_FN u32 owner(u64 i, const Key& key) const {
    if (frequents != 0 && i < n && frequent(key) != frequents) return ranks;
    return rank_of(key);
  }
  TILEHASH_FN u32 frequent(const Key& key) const {
    u32 number = frequents;
    for (u32 f = 0; f < frequents; ++f)
      if (same_key(frequent_keys[f], key)) number = f;
    return number;
  }
  TILEHASH_FN u64 begin(u64 part) const { return part * each < size() ? part * each : size(); }
  TILEHASH_FN u64 end(u64 part) const { return begin(part + 1); }
  TILEHASH_FN u32* start(u32 rank, u64 part) const { return starts + rank * parts + part; }
  TILEHASH_FN void write(u64 i, const Key& key, u32 position) const {
    to.keys[position] = key;
    if (to.values != nullptr) to.values[position] = value(i);
    if (to.positions != nullptr) to.positions[i] = position;
  }
  // For an item that is not sent: the bits of its frequent key's number.
  TILEHASH_FN void refer(u64 i, const Key& key) const {
    if (to.positions != nullptr) to.positions[i] = ~frequent(key);
  }
};

// The lanes of a warp by their owners, whose numbers have so many bits.
struct lanes_by_owner {
  u32 same = ~0U;  // with this lane's owner
  u32 own = ~0U;   // whose owner is this lane's number
  template <class Tile>
  TILEHASH_FN lanes_by_owner(Tile t, u32 owner, u32 bits) {
    for (u32 b = 0; b < bits; ++b) {
      const bool mine = (owner >> b & 1) != 0;
      const u32 lanes = t.ballot(mine);
      same &= mine ? lanes : ~lanes;
      own &= (t.rank() >> b & 1) != 0 ? lanes : ~lanes;
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
