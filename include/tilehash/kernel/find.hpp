// SPDX-License-Identifier: Apache-2.0
// The two loops that look up one regular key: by one thread, and by each lane of a tile together.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The result of a lookup: the answer of the last bucket read, the number of buckets read, and the number of
// the last bucket.
template <class Design>
struct bucket_answer {
  answer_of<Design> result;
  u32 steps;
  decltype(std::declval<const Design&>().where(std::declval<typename Design::location>())) at;
};

// One thread looks up a key. `Changing`: other threads may have changed the buckets since this kernel began.
// `Apart`: not since this thread's last fence, so it may read through L1.
template <bool Changing, bool Apart = false, bucketed Design>
TILEHASH_FN bucket_answer<Design> look_up_by_one(const Design& design,
                                                 typename Design::slot_type::key_bits bits) {
  using bucket_type = solo_bucket<Design>;
  constexpr solo_tile t;
  auto location = design.locate(bits);
  for (u32 steps = 1;; ++steps) {
    const auto at = design.where(location);
    const auto b = !Changing ? bucket_type::read(t, design.bucket_at(at))
                   : Apart   ? bucket_type::read_stale(t, design.bucket_at(at))
                             : bucket_type::read_shared(t, design.bucket_at(at));
    auto result = design.examine(t, b, design.stored(location, bits));
    const bool end = steps >= max_steps_of(design, location);
    if (result.what == lookup_state::go_on && end) result.what = lookup_state::absent;
    if (result.what != lookup_state::go_on) return {result, steps, at};
    design.advance(location, result);
  }
}

// Each lane of a tile with `wanted` looks up one key. A collective: all lanes of the warp call it.
// `Changing`: the buckets may change while this kernel runs.
template <bool Changing, bucketed Design, class Tile>
TILEHASH_FN bucket_answer<Design> look_up_together(const Design& design, Tile t,
                                                   typename Design::slot_type::key_bits bits, bool wanted) {
  using bucket_type = typename Design::template bucket_type<Tile>;
  const auto read = [&](auto at, bool active) {
    return Changing ? bucket_type::read_shared(t, design.bucket_at(at), active)
                    : bucket_type::read(t, design.bucket_at(at), active);
  };
  auto location = design.locate(bits);
  auto stored = design.stored(location, bits);
  bucket_answer<Design> mine{{}, 1, design.where(location)};

  bucket_type first[Tile::width];
  TILEHASH_UNROLL
  for (u32 j = 0; j < Tile::width; ++j) first[j] = read(t.broadcast(mine.at, j), true);
  TILEHASH_UNROLL
  for (u32 j = 0; j < Tile::width; ++j) {
    const auto a = design.examine(t, first[j], t.broadcast(stored, j));
    if (t.rank() == j) mine.result = a;
  }

  bool more = false;
  const auto go_on = [&] {  // to this lane's own next bucket, if it has one
    more = wanted && mine.result.what == lookup_state::go_on && mine.steps < max_steps_of(design, location);
    if (more) {
      design.advance(location, mine.result);
      stored = design.stored(location, bits);
      mine.at = design.where(location);
      ++mine.steps;
    }
  };
  go_on();
  for (u32 todo = t.ballot(more); t.any(todo != 0); todo = t.ballot(more)) {
    const u32 j = todo != 0 ? detail::lowest(todo) : 0;
    const auto b = read(t.broadcast(mine.at, j), todo != 0);
    const auto a = design.examine(t, b, t.broadcast(stored, j));
    if (todo != 0 && t.rank() == j) {
      mine.result = a;
      go_on();
    }
  }
  if (mine.result.what == lookup_state::go_on) mine.result.what = lookup_state::absent;
  return mine;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
