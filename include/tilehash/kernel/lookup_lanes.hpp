// The lanes schedule of lookups (kernel/lookup.hpp): the lanes of a tile together read the buckets of all
// their keys.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/hit.hpp>
#include <tilehash/space/bucket.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A lane's result of a lookup by its tile: the answer of the last bucket read, the number of buckets read,
// and the number of the last bucket.
template <class Design>
struct lane_answer {
  answer_of<Design> told;
  u32 steps;
  decltype(std::declval<const Design&>().where(std::declval<typename Design::place>())) at;
};

// Each lane of a tile with `wanted` looks up one key. A collective: all lanes of the warp call it.
// `Changing`: the buckets may change while this kernel runs.
template <bool Changing, bucketed Design, class Tile>
TILEHASH_FN lane_answer<Design> look_up_together(const Design& design, Tile t,
                                                 typename Design::slot_type::key_bits bits, bool wanted) {
  using bucket_type = typename Design::template bucket_type<Tile>;
  const auto read = [&](auto at, bool active) {
    return Changing ? bucket_type::read_shared(t, design.bucket_at(at), active)
                    : bucket_type::read(t, design.bucket_at(at), active);
  };
  auto place = design.locate(bits);
  auto stored = design.stored(place, bits);
  lane_answer<Design> mine{{}, 1, design.where(place)};

  bucket_type first[Tile::width];
  TILEHASH_UNROLL
  for (u32 j = 0; j < Tile::width; ++j) first[j] = read(t.broadcast(mine.at, j), true);
  TILEHASH_UNROLL
  for (u32 j = 0; j < Tile::width; ++j) {
    const auto a = design.examine(t, first[j], t.broadcast(stored, j));
    if (t.rank() == j) mine.told = a;
  }

  bool more = false;
  const auto go_on = [&] {  // to this lane's own next bucket, if it has one
    more = wanted && mine.told.what == lookup_state::go_on && mine.steps < max_steps_of(design, place);
    if (more) {
      design.advance(place, mine.told);
      stored = design.stored(place, bits);
      mine.at = design.where(place);
      ++mine.steps;
    }
  };
  go_on();
  for (u32 todo = t.ballot(more); t.any(todo != 0); todo = t.ballot(more)) {
    const u32 j = todo != 0 ? detail::lowest(todo) : 0;
    const auto b = read(t.broadcast(mine.at, j), todo != 0);
    const auto a = design.examine(t, b, t.broadcast(stored, j));
    if (todo != 0 && t.rank() == j) {
      mine.told = a;
      go_on();
    }
  }
  if (mine.told.what == lookup_state::go_on) mine.told.what = lookup_state::absent;
  return mine;
}

// A sink that takes the results of a whole warp at once.
template <class Sink>
concept recording = requires(const Sink sink) { sink.record(solo_tile{}, u64(0), true, true, true); };

template <bucketed Design, class Keys, class Sink, u32 Width>
struct look_up_lanes {
  // Latency-bound: as many warps as a multiprocessor holds, unless wide words need more than 32 registers.
  static constexpr u32 resident_blocks = sizeof(typename Design::word) <= 8 ? 8 : 6;

  using slot_type = typename Design::slot_type;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Keys keys;
  u64 n;
  Sink sink;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    const auto mine = i < n ? query<slot_type>(keys[i]) : query<slot_type>();
    auto [found, steps, at] =
        look_up_together<false>(design, lane.template tile<Width>(), mine.bits, i < n && mine.regular());
    if (!mine.legal) found = {};
    if constexpr (recording<Sink>) {  // a collective
      bool is = found.found();
      if constexpr (slot_type::reserves_keys) is = mine.reserved ? sentinels.find(mine.bits).found() : is;
      return sink.record(lane, i, i < n, mine.legal, is);
    }
    if (i >= n) return;
    if constexpr (slot_type::reserves_keys) {
      if (mine.reserved) return sink(i, slot_hit<slot_type>{sentinels.find(mine.bits), steps});
    }
    sink(i, hit_at(design, design.bucket_at(at), found, steps));
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
