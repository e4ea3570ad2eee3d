// SPDX-License-Identifier: Apache-2.0
// Routes: brings a call's items into the order of their owners, in two passes over the keys.
//
//   count   each part of the items counts those of each rank       | rank 0: part 0, part 1 ... | rank 1: ...
//   scan    the counts become positions                            (one sum over all)
//   send    each part writes its items from its positions on
//
// A part is taken by one warp of a GPU, whose lane r has the position of rank r, or by one thread of a CPU. So
// nothing is atomic, items of a rank keep their order, and counts are exact: no rank's memory can overflow,
// however unevenly the keys are distributed.
//
// A call's frequent keys (several/frequent.hpp) follow its items, once each. The items with such a key are not
// sent; their position is that of the frequent key.
#pragma once

#include <span>
#include <vector>

#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/several/frequent.hpp>
#include <tilehash/several/route_of.hpp>
#include <tilehash/several/route_tiles.hpp>
#include <tilehash/space/algorithms.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A part is a warp's. For as many ranks as it has lanes.
template <class Key, class Value, bool Sends>
struct route_by_lanes {
  static constexpr u32 width = 32, at_once = tuning::here::routed_at_once;
  route_of<Key, Value> all;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<width>();
    const u64 part = lane.index() / width;
    if (part >= all.parts) return;
    const u32 me = t.rank();
    const u64 end = all.end(part), whole = all.frequents == 0 ? end : 0;
    u32 next = Sends && me < all.ranks ? *all.start(me, part) : 0;
    for (u64 first = all.begin(part); first < end; first += at_once * width) {
      if (first + at_once * width <= whole)
        take<true>(t, first, end, next);
      else
        take<false>(t, first, end, next);
    }
    if (!Sends && me < all.ranks) *all.start(me, part) = next;
  }

 private:
  template <bool Whole, class Tile>
  TILEHASH_FN void take(Tile t, u64 first, u64 end, u32& next) const {
    const u32 me = t.rank(), bits = bit_width(Whole ? all.ranks - 1 : all.ranks);
    Key keys[at_once];
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u64 i = first + k * width + me;
      keys[k] = Whole ? all.keys[i] : all.key(i < end ? i : end - 1);
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u64 i = first + k * width + me;
      u32 owner = all.ranks;
      if constexpr (Whole)
        owner = all.rank_of(keys[k]);
      else if (i < end)
        owner = all.owner(i, keys[k]);
      const lanes_by_owner lanes(t, owner, bits);
      if constexpr (Sends) {
        const u32 base = t.from_left(next, (me + width - owner % width) % width);
        if (owner != all.ranks)
          all.write(i, keys[k], base + count_ones(lanes.same & ((1U << me) - 1)));
        else if (i < end)
          all.refer(i, keys[k]);
      }
      next += count_ones(lanes.own);
    }
  }
};

// A part is a thread's.
template <class Key, class Value, bool Sends>
struct route_by_threads {
  static constexpr u32 most_kept = 32;  // ranks whose positions are in the thread's own memory
  route_of<Key, Value> all;

  TILEHASH_FN void operator()(u64 part) const {
    if (all.ranks <= most_kept) {
      u32 kept[most_kept];
      for (u32 r = 0; r < all.ranks; ++r) kept[r] = Sends ? *all.start(r, part) : 0;
      take(part, [&](u32 r) -> u32& { return kept[r]; });
      for (u32 r = 0; r < all.ranks && !Sends; ++r) *all.start(r, part) = kept[r];
    } else {
      for (u32 r = 0; r < all.ranks && !Sends; ++r) *all.start(r, part) = 0;
      take(part, [&](u32 r) -> u32& { return *all.start(r, part); });
    }
  }

 private:
  template <class Next>
  TILEHASH_FN void take(u64 part, const Next& next) const {
    const u64 end = all.end(part);
    for (u64 i = all.begin(part); i < end; ++i) {
      const Key key = all.key(i);
      const u32 owner = all.owner(i, key);
      if (owner != all.ranks) {
        const u32 position = next(owner)++;
        if constexpr (Sends) all.write(i, key, position);
      } else if constexpr (Sends) {
        all.refer(i, key);
      }
    }
  }
};

struct pick_starts {
  const u32* starts;
  u64 parts;
  u32* picked;
  TILEHASH_FN void operator()(u64 r) const { picked[r] = starts[r * parts]; }
};

// The two passes. Make it, which counts; then send().
template <class Key, class Value, class Space>
class routing {
 public:
  routing() = default;
  using frequent = frequent_items<Key, Value, Space>;
  static constexpr u64 most_items = ~u32(0) - 2 * most_frequent_keys;
  // Counts the items of each rank, at most most_items. Synchronizes. Throws out_of_memory.
  routing(Space& space, const Key* keys, const Value* values, u64 items, u32 ranks, const frequent& often)
      : counts_(ranks, 0) {
    all_ = {keys, values,  items, often.keys.data(), often.values.data(), often.size(), ranks, 0,
            0,    nullptr, {}};
    const u64 n = all_.size();
    if (n == 0) return;
    const u64 unit = Space::has_lanes ? route_by_lanes<Key, Value, false>::width : 1;
    const u64 most = divide_up(n, unit), wanted = parts_for(space);
    all_.each = by_tiles(space) ? tile_items() : divide_up(most, wanted < most ? wanted : most) * unit;
    all_.parts = divide_up(n, all_.each);
    const u64 words = ranks * all_.parts;
    starts_ = buffer<u32, Space>(space, words + 1);
    all_.starts = starts_.data();
    space.fill(starts_.data() + words, 1, u32(0));
    run<false>(space);
    space.exclusive_scan(starts_.data(), starts_.data(), words + 1);
    const buffer<u32, Space> picked(space, ranks + 1);
    space.for_each(ranks + 1, pick_starts{starts_.data(), all_.parts, picked.data()});
    const auto begins = picked.to_host();
    for (u32 r = 0; r < ranks; ++r) counts_[r] = begins[r + 1] - begins[r];
  }
  const std::vector<u64>& counts() const { return counts_; }  // items of each rank
  u64 size() const { return all_.size(); }                    // items and frequent keys

  // Writes the items to arrays of size() elements. Does not synchronize.
  void send(Space& space, const routed_arrays<Key, Value>& to) {
    if (size() == 0) return;
    all_.to = to;
    if constexpr (has_tiles) {
      if (by_tiles(space)) {
        if (all_.frequents == 0)
          has_values() ? send_tiles<true, false>(space) : send_tiles<false, false>(space);
        else
          has_values() ? send_tiles<true, true>(space) : send_tiles<false, true>(space);
        return;
      }
    }
    run<true>(space);
  }

 private:
  using places = counted_places<Key, Value>;
  template <bool WithValues, bool Frequent = false>
  using tiles = route_by_blocks<Key, Value, WithValues, Frequent, places>;
  static constexpr bool has_tiles = Space::has_lanes && tiles<true>::item_bytes <= tiles<true>::most_bytes;
  bool has_values() const { return all_.values != nullptr; }
  u64 tile_items() const { return has_values() ? tiles<true>::tile_items : tiles<false>::tile_items; }
  // Tiles for all multiprocessors.
  bool by_tiles(Space& space) const {
    if constexpr (has_tiles)
      return all_.ranks <= tiles<true>::width && size() >= tile_items() * space.large_blocks_at_once();
    else
      return false;
  }
  template <bool WithValues, bool Frequent>
  void send_tiles(Space& space) {
    using body = tiles<WithValues, Frequent>;
    space.for_each_block(all_.parts, body::block_size, body::scratch_bytes,
                         body{all_, places{starts_.data(), all_.parts, all_.to}});
  }
  static u64 parts_for(Space& space) {
    if constexpr (Space::has_lanes)
      return space.large_blocks_at_once() * (tuning::gpu::route_warps);
    else
      return static_cast<u64>(space.threads());
  }
  template <bool Sends>
  void run(Space& space) {
    if constexpr (Space::has_lanes) {
      using body = route_by_lanes<Key, Value, Sends>;
      if (all_.ranks <= body::width) {
        space.for_each_lane(all_.parts * body::width, body{all_});
        return;
      }
    }
    run_threads<Sends>(space);
  }
  template <bool Sends>
  void run_threads(Space& space) {
    const route_by_threads<Key, Value, Sends> body{all_};
    if constexpr (Space::has_lanes) {
      space.for_each(all_.parts, body);
    } else {
      if (all_.parts == 1)
        body(0);
      else
        space.for_each_block(all_.parts, 1, 1, [body](const auto& block) { body(block.index()); });
    }
  }

  route_of<Key, Value> all_{};
  buffer<u32, Space> starts_;
  std::vector<u64> counts_;
};

// Answers return to the order of the keys, of which there are n.
template <class T>
struct return_answers {
  const T* answers;
  const u32* positions;
  u64 n;
  T* out;
  TILEHASH_FN void operator()(u64 i) const {
    const u32 at = positions[i];
    out[i] = answers[~at < most_frequent_keys ? positions[n + ~at] : at];
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
