// SPDX-License-Identifier: Apache-2.0
// Erases: swaps the word in the key's slot for the word that the design leaves in an erased slot.
//
//   walk the key's buckets --+-- a bucket holds the key --> swap its word: the key is gone
//                            |                              ... unless another erase was faster
//                            +-- no bucket holds it ------> there was nothing to erase
//
// Exact under races, without a lock: while only erases run, no key moves, so no key is missed. If several
// erases have one key, exactly one of them swaps the word.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/walk.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <erases_in_place Design, u32 Width>
struct erase_keys {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using stored_key = typename slot_type::stored_key;
  using position = erase_position_of<Design>;
  using location = typename Design::location;
  static constexpr u32 resident_blocks = tuning::gpu_here::change_occupancy(sizeof(word));
  static constexpr u32 most_misses = 8 * sizeof(word);

  Design design;
  sentinel_cells<slot_type> sentinels{};
  const typename Design::key_type* keys = nullptr;
  u64 n = 0;
  call_counters counters{};

  // The state of one key's walk along its buckets.
  struct walk {
    key_bits key;
    location now;
    u32 steps = 1;
    bool gone = false;    // this call erased it
    bool missed = false;  // it was present, but its slot changed before the swap
  };
  TILEHASH_FN walk start(key_bits key) const { return {key, design.locate(key)}; }

  // A bucket's result for a key. A collective.
  template <class Tile, class Bucket>
  TILEHASH_FN position examine(Tile t, const Bucket& b, stored_key wanted) const {
    return examine_for_erase(design, t, b, wanted);
  }
  // Continues the walk with the result of the bucket at w.now. False: that bucket was the last.
  TILEHASH_FN bool go_on(walk& w, const position& result) const {
    if (result.what == lookup_state::found) {
      w.gone = swap(w, result);
      w.missed = !w.gone;
    }
    if (result.what != lookup_state::go_on || w.steps >= max_steps_of(design, w.now)) return false;
    design.advance(w.now, result);
    ++w.steps;
    return true;
  }
  // Returns whether this call erased the key; retries a missed swap. It runs after the walk, since missed
  // swaps are rare and a retry would lengthen each step.
  TILEHASH_FN bool is_gone(walk w) const {
    // Either another erase changed the key's bits, or a bit of the bucket changed: at most once for each bit.
    TILEHASH_UNROLL_ONCE
    for (u32 again = 0; w.missed && again < most_misses; ++again) {
      w.missed = false;
      step_alone(*this, w);
    }
    return w.gone;
  }

  TILEHASH_FN bool erase_sentinel(key_bits key) const {
    if constexpr (slot_type::reserves_keys)
      return sentinels.erase(key);
    else
      return false;
  }

  // ---- a GPU's schedule ----
  // The lane of a warp's first key adds what the warp has erased to `to`.
  template <class Lane, class Counts>
  TILEHASH_FN void run(Lane lane, Counts& to) const {
    const u64 i = lane.index();
    const auto mine = i < n ? query<slot_type>(keys[i]) : query<slot_type>();
    const bool gone = together(lane.template tile<Width>(), mine, i < n);
    const auto warp = lane.template tile<32>();
    const u32 all_gone = warp.ballot(gone);
    if (warp.rank() == 0 && all_gone != 0) to.add(counter::gone, i / 32, count_ones(all_gone));
  }

  // A kernel of many keys, which does not end its call. (With that code it takes 1 % longer.)
  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    run(lane, counters);
  }

  // Each lane of a tile with `mine` erases one key. A collective: all lanes of the warp call it.
  template <class Tile>
  TILEHASH_FN bool together(Tile t, const query<slot_type>& q, bool mine) const {
    walk w = start(q.bits);
    walk_along(*this, t, w, mine && q.regular());
    if (mine && q.reserved) w.gone = erase_sentinel(q.bits);
    return is_gone(w);
  }

  // ---- one thread, one key ----
  TILEHASH_FN bool alone(const query<slot_type>& q) const {
    if (!q.regular()) return q.reserved && erase_sentinel(q.bits);
    walk w = start(q.bits);
    while (step_alone(*this, w)) {
    }
    return is_gone(w);
  }

  // ---- a CPU's schedule ----
  TILEHASH_FN bool step(walk& w) const { return step_alone(*this, w); }
  void operator()(u64 from, u64 to) const {
    u64 gone = 0;
    walk_ring<erase_keys, walk> ring{*this};
    const auto end = [&](const walk& w) __attribute__((TILEHASH_INLINED)) { gone += is_gone(w); };
    for (u64 i = from; i < to; ++i) {
      const query<slot_type> q(keys[i]);
      if (q.regular())
        ring.add(start(q.bits), end);
      else
        gone += q.reserved && erase_sentinel(q.bits);
    }
    ring.finish(end);
    if (gone != 0) counters.add(counter::gone, from, gone);
  }

 private:
  TILEHASH_FN bool swap(const walk& w, const position& result) const {
    word* const at = design.bucket_at(design.where(w.now)) + result.slot;
    if (compare_and_swap(at, result.old, design.vacated(result)) != result.old) return false;
    if constexpr (requires { design.erased(w.now, w.now, result); })
      design.erased(design.locate(w.key), w.now, result);
    return true;
  }
};

// Erases the n keys. Returns whether that ends the call (run_lanes_and_end()).
template <class Design, class Space>
call_ended erase(Space& space, const Design& design,
                 const detail::sentinel_cells<typename Design::slot_type>& sentinels,
                 const typename Design::key_type* keys, u64 n, const call_counters& counters,
                 const call_end* end = nullptr, u32* blocks_done = nullptr) {
  const erase_keys<Design, Design::preferred_width> work{design, sentinels, keys, n, counters};
  if constexpr (Space::has_lanes) {
    if (n <= tuning::gpu::ended_items) return run_lanes_and_end(space, n, work, counters, end, blocks_done);
    space.for_each_lane(n, work);
    return call_ended::no;
  } else {
    space.for_each_share(n, work);
    return call_ended::no;
  }
}
// ... and ends the call.
template <class Design, class Space>
call_ended erase(Space& space, const Design& design,
                 const detail::sentinel_cells<typename Design::slot_type>& sentinels,
                 const typename Design::key_type* keys, u64 n, const call_end& end, u32* blocks_done) {
  const call_ended ended = erase(space, design, sentinels, keys, n, end.counters, &end, blocks_done);
  if (ended != call_ended::no) return ended;
  finish_call(space, end);
  return call_ended::in_sums;
}

// One thread erases one key. True if the key was present and this call erased it.
template <class Design>
TILEHASH_FN bool erase_one(const Design& design, const sentinel_cells<typename Design::slot_type>& sentinels,
                           const query<typename Design::slot_type>& key) {
  return erase_keys<Design, 1>{design, sentinels}.alone(key);
}

// The same for a tile: each lane with `mine` erases one key. A collective.
template <class Design, class Tile>
TILEHASH_FN bool erase_together(const Design& design,
                                const sentinel_cells<typename Design::slot_type>& sentinels, Tile t,
                                const query<typename Design::slot_type>& key, bool mine) {
  return erase_keys<Design, Tile::width>{design, sentinels}.together(t, key, mine);
}

// Erases the keys of a source's items.
template <class Design, class Source>
struct erase_source {
  Design design;
  Source source;
  TILEHASH_FN void operator()(u64 i) const {
    const auto x = source(i);
    if (x.valid) erase_one(design, {}, x.key);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
