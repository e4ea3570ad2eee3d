// SPDX-License-Identifier: Apache-2.0
// A CPU's schedule of lookups (kernel/lookup.hpp): a ring of lookups with prefetched memory.
#pragma once

#include <tilehash/core/item.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/hit.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/prefetch.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// True if a design stores values apart and the values of a bucket share one cache line. A CPU then prefetches
// that line together with the bucket: most lookups succeed, and the slot is not known in advance.
template <class Design>
inline constexpr bool values_share_a_line = false;
template <values_apart Design>
  requires(!Design::slot_type::is_set)
inline constexpr bool values_share_a_line<Design> =
    sizeof(typename Design::value_element) * Design::bucket_slots <= 64;

template <bucketed Design, class Keys, class Sink>
struct look_up_ring {
  using slot_type = typename Design::slot_type;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Keys keys;
  Sink sink;

  struct pending {
    typename Design::location at;
    typename slot_type::key_bits bits;
    u64 number;
  };

  // A ring of lookups in flight: the thread prefetches for a new one when it examines the oldest. A lookup
  // that must go on to its next bucket waits in `more` until that list is full.
  void operator()(u64 from, u64 to) const {
    pending ring[in_flight], more[in_flight];
    u32 asked = 0, examined = 0, waiting = 0;
    // A call for each key costs a third of the speed, and in a large source a compiler may choose not to
    // inline.
    const auto examine = [&](const pending& p) __attribute__((TILEHASH_INLINED)) {
      if (!settle(p, 1, more[waiting]) && ++waiting == in_flight) waiting = (finish_here(more, waiting), 0);
    };
    while (from < to) {
      u64 end = to;
      if constexpr (lookups_alone<Design>() != 0) {
        if (to - from > in_flight) end = from + in_flight;
        if (end - from == in_flight && are_neighbours(from)) {
          waiting = (finish(more, waiting), 0);
          look_up_neighbours(from, end, more);
          from = end;
          continue;
        }
      }
      for (; from < end; ++from) {
        const query<slot_type> q(keys[from]);
        if (!q.regular()) {
          sink(from, hit_without_buckets<Design>(sentinels, q));
          continue;
        }
        if (asked - examined == in_flight) examine(ring[examined++ % in_flight]);
        const auto location = design.locate(q.bits);
        ask_for(location);
        ring[asked++ % in_flight] = {location, q.bits, from};
      }
    }
    finish(more, waiting);
    for (waiting = 0; examined != asked; ++waiting) more[waiting] = ring[examined++ % in_flight];
    finish(more, waiting, 1);
  }

 private:
  // True if the buckets of the first and the last of so many keys are close. The others are then close, too,
  // where it matters. Reading one fetches the memory of the next, so prefetching is wasted work.
  bool are_neighbours(u64 from) const {
    const query<slot_type> first(keys[from]), last(keys[from + in_flight - 1]);
    return design.where(design.locate(last.bits)) - design.where(design.locate(first.bits)) < in_flight;
  }
  void look_up_neighbours(u64 from, u64 to, pending* more) const {
    u32 waiting = 0;
    for (; from < to; ++from) {
      const query<slot_type> q(keys[from]);
      if (!q.regular())
        sink(from, hit_without_buckets<Design>(sentinels, q));
      else if (!settle({design.locate(q.bits), q.bits, from}, 1, more[waiting]))
        ++waiting;
    }
    finish(more, waiting);
  }

  TILEHASH_FN void ask_for(const typename Design::location& location) const {
    prefetch(design.address(location));
    if constexpr (values_share_a_line<Design>) prefetch(design.values_of(location));
  }

  // Examines the bucket and passes the hit to the sink, unless the next bucket must be read. Then it sets
  // `next` to that bucket and prefetches it, at once: the lookup examined next waits for other memory.
  TILEHASH_FN bool settle(const pending& p, u32 steps, pending& next) const {
    const auto b = Design::template bucket_type<solo_tile>::read(solo_tile{}, design.address(p.at));
    auto a = design.examine(solo_tile{}, b, design.stored(p.at, p.bits));
    if (a.what == lookup_state::go_on) {
      if (steps < max_steps_of(design, p.at)) {
        next = p;
        design.advance(next.at, a);
        ask_for(next.at);
        return false;
      }
      a.what = lookup_state::absent;
    }
    if constexpr (values_apart<Design>)
      sink(p.number, hit_of<Design>{a.what, steps, a.found() ? design.values_of(p.at) + a.slot : nullptr});
    else
      sink(p.number, hit_of<Design>{a, steps});
    return true;
  }
  // Finishes the lookups of `todo`: each waits for the bucket number `steps` of its walk.
  void finish(pending* todo, u32 left, u32 steps = 2) const { finish_here(todo, left, steps); }
  // The same, inlined: where few steps are possible, less is left of it.
  TILEHASH_FN void finish_here(pending* todo, u32 left, u32 steps = 2) const {
    for (; left != 0; ++steps) {
      u32 kept = 0;
      for (u32 k = 0; k < left; ++k) {
        if (!settle(todo[k], steps, todo[kept])) ++kept;
      }
      left = kept;
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
