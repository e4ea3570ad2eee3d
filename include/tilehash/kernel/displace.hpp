// Makes room for items that an insert refused, by moving others (algorithm/displacement.hpp).
#pragma once

#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/recorder.hpp>
#include <tilehash/space/prefetch.hpp>

namespace tilehash::detail {

// so a tile goes on to its next one as soon as it has settled one, whatever the other tiles of its warp do;
// that next one has been read by then, and the number of the one after it.
template <displacing Design, class Source, u32 Width>
struct displace_lanes {
  static constexpr u32 resident_blocks = sizeof(typename Design::word) <= 8 ? 4 : 2;  // 64 or 128 registers

  using slot_type = typename Design::slot_type;
  using displacement = typename Design::displacement;

  Design design;
  Source source;
  const u64* list;
  const u64* length;
  outcome_recorder recorder;

  TILEHASH_FN displacement displacement_of(const item<slot_type>& x) const {
    return design.displacement_of(x.key.bits, slot_type::pack(x.key.bits, x.value));
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    const u64 n = *length, tiles = lane.count() / Width;
    const auto number = [&](u64 i) { return i < n ? list[i] : 0; };
    u64 i = lane.index() / Width;  // one item for the whole tile
    if (!t.any(i < n)) return;
    item<slot_type> x = source(number(i)), next = source(number(i + tiles));
    u64 after_next = number(i + 2 * tiles);
    typename displacement::progress p;
    while (t.any(i < n)) {
      const auto v = displacement_of(x).attempt(t, p.rounds, i < n);
      const bool ends = i < n && p.ends_with(v);
      recorder.record(lane, i, ends && t.rank() == 0 ? x : item<slot_type>{}, p.became);
      if (!ends) continue;
      i += tiles;
      p = {};
      x = next;
      next = source(after_next);
      after_next = number(i + 2 * tiles);
    }
  }

  void operator()(u64 from, u64 to) const {
    u64 present = 0, illegal = 0;
    const auto fetch = [&](u64 i) {
      const item<slot_type> x = source(list[i]);
      prefetch_to_write(design.address(design.locate(x.key.bits)));
      return x;
    };
    fetch_ahead(from, to, fetch, [&](u64 i, const item<slot_type>& x) {
      recorder.record(i, x, displacement_of(x).run(solo_tile{}, true), present, illegal);
    });
    recorder.add(present, illegal);
  }
};

// The list has *length items, `most` at most: on a GPU only an insert that may still be running knows how
// many, and the host does not wait for it.
template <class Design, class Space, class Source>
void displace(Space& space, const Design& design, Source source, const u64* list, const u64* length, u64 most,
              const outcome_recorder& recorder) {
  using work_type = displace_lanes<Design, Source, Design::preferred_width>;
  const work_type work{design, source, list, length, recorder};
  if constexpr (Space::has_lanes) {
    const u64 lanes = most * Design::preferred_width,
              at_once = space.lanes_at_once(work_type::resident_blocks);
    space.for_each_lane(lanes < at_once ? lanes : at_once, work);
  } else {
    space.for_each_chunk(*length, work);
  }
}

// A list in another order: every step-th of its n items, round and round (for a step that has no divisor in
// common with n).
struct take_every {
  u64 step;
  const u64* list;
  u64* result;
  u64 n;

  TILEHASH_FN void operator()(u64 i) const { result[i] = list[i * step % n]; }
};

}  // namespace tilehash::detail
