// SPDX-License-Identifier: Apache-2.0
// Windows: memory of a rank to which the other ranks' kernels write.
//
//   window of rank d   | items of rank 0 .. | of rank 1 .. | ... | answers to its own keys, of rank 0 .. | ...
//
// A rank writes its items to their owners' windows while it routes them, and an owner writes answers to the
// window of the rank that asked. Nothing is copied in between, and no count is exchanged before.
//
// Each part has capacity for the mean and 8 standard deviations. Items that do not fit are counted, and all ranks
// learn of it. They send the call's items again, by exact counts.
//
// An exchange has windows if it has these functions in addition to those of the concept `exchange`:
//
//   has_windows()   whether each rank can use addresses of the other ranks' memory; the same on all ranks
//   fence()         later work of the ranks' spaces starts after the earlier work of all of them; collective
//   memory(space)   optional; the space whose memory windows take. It stays usable until all ranks have ended the
//                   call, also if a rank throws and frees it
#pragma once

#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

#include <tilehash/core/capacity.hpp>
#include <tilehash/several/agreement.hpp>
#include <tilehash/several/route_tiles.hpp>
#include <tilehash/several/traffic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class E>
concept windowed = requires(E& e) {
  { e.has_windows() } -> std::convertible_to<bool>;
  e.fence();
};

// The capacity of each part of all windows, in items. All ranks calculate the same.
class window_parts {
 public:
  static constexpr u64 unit = 64, slack = 64;  // items

  window_parts() = default;
  // \param items that each rank brings.
  explicit window_parts(std::vector<u64> items) : items_(std::move(items)) {}
  u32 ranks() const { return static_cast<u32>(items_.size()); }
  // For items of one rank and their answers, at the owner and back.
  u64 capacity(u32 from, u32 owner) const {
    const u32 shards = several::first_shard_of(owner + 1, ranks()) - several::first_shard_of(owner, ranks());
    const double mean = static_cast<double>(items_[from]) * shards / several::shards;
    const u64 most = static_cast<u64>(mean + 8 * std::sqrt(mean)) + slack;
    return divide_up(most < items_[from] + slack ? most : items_[from] + slack, unit) * unit;
  }
  // Where the items of a rank begin at their owner, and answers of an owner at the rank that asked.
  u64 first_item(u32 from, u32 owner) const {
    u64 all = 0;
    for (u32 r = 0; r < from; ++r) all += capacity(r, owner);
    return all;
  }
  u64 first_answer(u32 owner, u32 asking) const {
    u64 all = 0;
    for (u32 r = 0; r < owner; ++r) all += capacity(asking, r);
    return all;
  }
  u64 all_items(u32 owner) const { return first_item(ranks(), owner); }
  u64 all_answers(u32 asking) const { return first_answer(ranks(), asking); }

 private:
  std::vector<u64> items_;
};

// Closes the gaps between the parts of a window: the last items move to the holes.
struct item_holes {
  static constexpr u32 most = 32;
  struct range {
    u64 first = 0, before = 0;  // items of the ranges before
  };
  range holes[most], moved[most];
  u32 hole_ranges = 0, moved_ranges = 0;
  u64 items = 0;

  // Parts that begin at firsts[r], with counts[r] items, of `all` items together.
  item_holes(const std::vector<u64>& firsts, const std::vector<u64>& counts, u64 all) {
    u64 to_move = 0;
    for (u32 r = 0; r < counts.size(); ++r) {
      const u64 end = firsts[r] + counts[r], next = r + 1 < counts.size() ? firsts[r + 1] : all;
      if (end < all && next > end) {
        holes[hole_ranges++] = {end, items};
        items += (next < all ? next : all) - end;
      }
      if (end > all) {
        const u64 first = firsts[r] > all ? firsts[r] : all;
        moved[moved_ranges++] = {first, to_move};
        to_move += end - first;
      }
    }
    require(items == to_move, "several: the parts of a window have other sizes");
  }
  TILEHASH_FN static u64 find(const range (&ranges)[most], u32 n, u64 i) {
    u64 at = 0;
    for (u32 r = 0; r < n; ++r)
      if (i >= ranges[r].before) at = ranges[r].first + (i - ranges[r].before);
    return at;
  }
};
template <class Key, class Value>
struct close_holes {
  item_holes holes;
  Key* keys;
  Value* values;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 to = item_holes::find(holes.holes, holes.hole_ranges, i),
              from = item_holes::find(holes.moved, holes.moved_ranges, i);
    keys[to] = keys[from];
    if (values != nullptr) values[to] = values[from];
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
