// Inserts in both schedules (kernel/lookup.hpp), where no key moves.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/recorder.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/prefetch.hpp>

namespace tilehash::detail {

template <class Design, class Source, u32 Width>
struct insert_lanes {
  static constexpr u32 resident_blocks = sizeof(typename Design::word) <= 8 ? 6 : 4;  // 40 or 64 registers

  using slot_type = typename Design::slot_type;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Source source;
  u64 n;
  outcome_recorder recorder;

  // One look at the first buckets of all the tile's items, then all lanes write at once. True in a lane whose
  // item needs no more; what it met is then in `became`.
  template <class Tile>
  TILEHASH_FN bool take_first_bucket(Tile t, const item<slot_type>& mine, bool active,
                                     outcome& became) const {
    using bucket_type = typename Design::template bucket_type<Tile>;
    const auto place = design.locate(mine.key.bits);
    const auto stored = design.stored(place, mine.key.bits);
    const auto at = design.where(place);
    insert_position<typename slot_type::word> first;
    bucket_type b[Tile::width];
    TILEHASH_UNROLL
    for (u32 j = 0; j < Tile::width; ++j)
      b[j] = bucket_type::read_shared(t, design.bucket_at(t.broadcast(at, j)));
    TILEHASH_UNROLL
    for (u32 j = 0; j < Tile::width; ++j) {
      const auto o = design.examine_for_insert(t, b[j], t.broadcast(stored, j));
      if (t.rank() == j) first = o;
    }
    if (!active) return true;
    if (first.what == lookup_state::go_on) return false;
    if (first.what == lookup_state::absent) {
      const auto content = slot_type::written_over(first.old, stored, mine.value);
      if (detail::compare_and_swap(design.bucket_at(at) + first.slot, first.old, content) != first.old)
        return false;
    }
    became = first.what == lookup_state::found ? outcome::present : outcome::inserted;
    return true;
  }
  TILEHASH_FN outcome insert_sentinel(const item<slot_type>& x) const {
    if constexpr (slot_type::reserves_keys)
      return sentinels.insert(x.key.bits, x.value);
    else
      return outcome::refused;
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    const u64 i = lane.index();
    const item<slot_type> mine = i < n ? source(i) : item<slot_type>{};
    bool open = mine.valid && mine.key.regular();
    outcome became = outcome::refused;
    if constexpr (offers_position<Design>) open = !take_first_bucket(t, mine, open, became);
    for (u32 todo = t.ballot(open); t.any(todo != 0); todo &= todo - 1) {
      const u32 j = todo != 0 ? detail::lowest(todo) : 0;
      const auto bits = t.broadcast(mine.key.bits, j);
      const auto value = t.broadcast(mine.value, j);
      const outcome o = design.insert(t, bits, slot_type::pack(bits, value), todo != 0);
      if (todo != 0 && t.rank() == j) became = o;
    }
    if (mine.valid && mine.key.reserved) became = insert_sentinel(mine);
    recorder.record(lane, i, mine, became);
  }

  void operator()(u64 from, u64 to) const {
    u64 present = 0, illegal = 0;
    struct waiting {
      u64 number;
      item<slot_type> x;
    };
    waiting more[batch];  // items that the first bucket did not settle; their next ones are asked for
    u32 left = 0;
    const auto settle = [&](u64 i, const item<slot_type>& x) {
      const outcome became =
          design.insert(solo_tile{}, x.key.bits, slot_type::pack(x.key.bits, x.value), true);
      recorder.record(i, x, became, present, illegal);
    };
    const auto settle_all = [&] {
      for (u32 k = 0; k < left; ++k) settle(more[k].number, more[k].x);
      left = 0;
    };
    const auto fetch = [&](u64 i) {
      const item<slot_type> x = source(i);
      if (x.valid && x.key.regular()) prefetch_to_write(design.address(design.locate(x.key.bits)));
      return x;
    };
    fetch_ahead(from, to, fetch, [&](u64 i, const item<slot_type>& x) {
      if (!x.valid) return;
      outcome became = outcome::refused;
      if (!x.key.regular()) {
        if (x.key.reserved) became = insert_sentinel(x);
        recorder.record(i, x, became, present, illegal);
      } else if constexpr (offers_position<Design>) {
        if (take_first_bucket(solo_tile{}, x, true, became)) {
          recorder.record(i, x, became, present, illegal);
          return;
        }
        auto place = design.locate(x.key.bits);
        design.advance(place);
        prefetch_to_write(design.address(place));
        more[left++] = {i, x};
        if (left == batch) settle_all();
      } else {
        settle(i, x);
      }
    });
    settle_all();
    recorder.add(present, illegal);
  }
};

template <class Design, class Space, class Source>
void insert(Space& space, const Design& design,
            const detail::sentinel_cells<typename Design::slot_type>& sentinels, Source source, u64 n,
            const outcome_recorder& recorder) {
  const insert_lanes<Design, Source, Design::preferred_width> work{design, sentinels, source, n, recorder};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

}  // namespace tilehash::detail
