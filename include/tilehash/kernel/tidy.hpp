// After erases: the buckets that are due, each by a tile (designs/concepts.hpp, tidying).
//
//   due   | 0 0 1 0 ... 1 | 0 0 0 0 ... 0 | ...    a bit for each bucket; a lane, or a turn of a CPU's
//   thread,
//             |         '---- then this one        takes a word of them, and leaves zeros
//             '-- tidy(2)
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/designs/concepts.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

template <tidying Design, u32 Width>
struct tidy_buckets {
  Design design;
  u64 words;

  template <class Tile>
  TILEHASH_FN void tidy_word(Tile t, u64 w, bool mine) const {
    u32 bits = mine ? design.due()[w] : 0;
    if (bits != 0) design.due()[w] = 0;
    for (u32 todo = t.ballot(bits != 0); t.any(todo != 0); todo = t.ballot(bits != 0)) {
      const u32 j = todo != 0 ? lowest(todo) : 0;
      const u32 first = bits != 0 ? static_cast<u32>(w) * 32 + lowest(bits) : 0;
      design.tidy(t, t.broadcast(first, j), todo != 0);
      if (todo != 0 && t.rank() == j) bits &= bits - 1;
    }
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    tidy_word(lane.template tile<Width>(), lane.index(), lane.index() < words);
  }
  void operator()(u64 from, u64 to) const {
    for (u64 w = from; w < to; ++w) tidy_word(solo_tile{}, w, true);
  }
};

// How often: what moves makes room for others, which may have had their turn.
template <tidying Design>
constexpr u32 tidy_passes() {
  if constexpr (requires { Design::tidy_passes; })
    return Design::tidy_passes;
  else
    return 1;
}

// Reads, in each pass, an eighth of a byte a bucket, and what is due. Does not wait.
template <tidying Design, class Space>
void tidy(Space& space, const Design& design) {
  const tidy_buckets<Design, Design::preferred_width> work{design, design.due_words()};
  for (u32 pass = 0; pass < tidy_passes<Design>(); ++pass) {
    if constexpr (Space::has_lanes)
      space.for_each_lane(design.due_words(), work);
    else
      space.for_each_chunk(design.due_words(), work);
  }
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
