// Lookups, in both schedules. Designs stay free of these: they say where to look (locate, address, advance)
// and judge what arrived (examine).
//
//   lanes     (a GPU, and its emulation) every lane owns one operation. The tile loads the first buckets of
//             all its lanes' operations before it examines the first, so that many requests are in flight.
//             What is not settled by then is finished one by one, while any lane of the warp still has work.
//   alone     (the same, for designs whose keys' neighbours are asked for by a lane's neighbours) every lane
//             reads its own buckets, of some operations at once.
//   prefetch  (a CPU) a thread goes round a ring of operations and asks for the memory of each long before it
//             examines it. Lookups that must go on are asked for again and examined later.
// length: both schedules, and that of keys looked up alone, are three ways round one loop.
#pragma once

#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/prefetch.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Do the values of a bucket stand apart, in one line of memory? Then a CPU asks for it with the bucket's own:
// most keys that are looked for are there, and which slot it will be is not known before.
template <class Design>
inline constexpr bool values_share_a_line = false;
template <values_apart Design>
  requires(!Design::slot_type::is_set)
inline constexpr bool values_share_a_line<Design> =
    sizeof(typename Design::value_element) * Design::bucket_slots <= 64;

// sink(i, hit) is called once for each key, keys[i]. A hit says found(), value(), count() and probes().

template <class Slot>
struct slot_hit {
  lookup_answer<typename Slot::value_bits> got;
  u32 steps;

  TILEHASH_FN bool found() const { return got.what == lookup_state::found; }
  TILEHASH_FN auto value() const { return detail::from_bits<typename Slot::mapped_type>(got.value); }
  TILEHASH_FN u32 count() const { return found(); }
  TILEHASH_FN u32 probes() const { return steps; }  // buckets read
};

// ... where values stand apart: it is read only when somebody asks for it.
template <class Value>
struct apart_hit {
  lookup_state what;
  u32 steps;
  const Value* at;  // null unless found

  TILEHASH_FN bool found() const { return what == lookup_state::found; }
  TILEHASH_FN auto value() const
    requires(!std::is_void_v<Value>)
  {
    return *at;
  }
  TILEHASH_FN u32 count() const { return found(); }
  TILEHASH_FN u32 probes() const { return steps; }  // buckets read
};

template <class Design>
struct hit_type {
  using type = slot_hit<typename Design::slot_type>;
};
template <values_apart Design>
struct hit_type<Design> {
  using type = apart_hit<typename Design::mapped_type>;
};
// What a sink is given by lookups in this design.
template <class Design>
using hit_of = typename hit_type<Design>::type;

// From the answer of the bucket at `bucket`, the last that was read.
template <class Design>
TILEHASH_FN hit_of<Design> hit_at(const Design& design, const typename Design::word* bucket,
                                  const answer_of<Design>& told, u32 steps) {
  if constexpr (values_apart<Design>)
    return {told.what, steps, told.found() ? design.value_beside(bucket + told.slot) : nullptr};
  else
    return {told, steps};
}
// Of a key that no bucket is read for: one that is not legal, or one in a sentinel cell.
template <class Design>
TILEHASH_FN hit_of<Design> hit_without_buckets(const sentinel_cells<typename Design::slot_type>& sentinels,
                                               const query<typename Design::slot_type>& q) {
  if constexpr (values_apart<Design>)
    return {lookup_state::absent, 1, nullptr};
  else
    return {q.legal ? sentinels.find(q.bits) : lookup_answer<typename Design::slot_type::value_bits>{}, 1};
}

// What a lane was told of its key by the tile it looked it up with: the last bucket's answer, how many
// buckets were read, and the last of them.
template <class Design>
struct lane_answer {
  answer_of<Design> told;
  u32 steps;
  decltype(std::declval<const Design&>().where(std::declval<typename Design::place>())) at;
};

// The lanes of a tile look up a key each, those that are `wanted`. A collective: all lanes of the warp come.
// `Changing`: others may have changed the buckets since this kernel began.
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

// It takes what a whole warp found at once.
template <class Sink>
concept recording = requires(const Sink sink) { sink.record(solo_tile{}, u64(0), true, true, true); };

template <bucketed Design, class Keys, class Sink, u32 Width>
struct look_up_lanes {
  // They wait for memory: all the warps that there is room for, unless wide words need more than 32
  // registers.
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

// A lane that looks keys up alone, some at once, for designs that say so (lookups_at_once). They lie a warp's
// width apart, so that the lanes of a warp ask for neighbours. Each lane goes its own way, with no
// collectives.
template <bucketed Design, class Keys, class Sink>
struct look_up_alone {
  static constexpr u32 resident_blocks = sizeof(typename Design::word) <= 8 ? 8 : 6;
  static constexpr u32 each = Design::lookups_at_once, warp = 32;

  using slot_type = typename Design::slot_type;
  using result = answer_of<Design>;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Keys keys;
  u64 n;
  Sink sink;

  // Lanes for n operations.
  static u64 lanes(u64 n) { return divide_up(n, u64(each) * warp) * warp; }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    constexpr solo_tile t;  // lanes go their own ways
    using bucket_type = solo_bucket<Design>;
    const u64 first = lane.index() / warp * each * warp + lane.index() % warp;
    query<slot_type> mine[each];
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      const u64 i = first + u64(k) * warp;
      if (i < n) mine[k] = query<slot_type>(keys[i]);
    }
    typename Design::place place[each];
    bucket_type b[each];
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      place[k] = design.locate(mine[k].bits);
      b[k] = bucket_type::read(t, design.bucket_at(design.where(place[k])));
    }
    result found[each];
    u32 steps[each], more = 0;  // bit k: the k-th goes on
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) steps[k] = 1;
    const auto settle = [&](u32 k) {
      found[k] = design.examine(t, b[k], design.stored(place[k], mine[k].bits));
      const bool goes_on = mine[k].regular() && found[k].what == lookup_state::go_on &&
                           steps[k] < max_steps_of(design, place[k]);
      more = (more & ~(1U << k)) | u32(goes_on) << k;
      if (goes_on) design.advance(place[k], found[k]), ++steps[k];
    };
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) settle(k);
    while (more != 0) {  // NOLINT(bugprone-infinite-loop): settle() changes it
      TILEHASH_UNROLL
      for (u32 k = 0; k < each; ++k) {
        if ((more >> k & 1) != 0) b[k] = bucket_type::read(t, design.bucket_at(design.where(place[k])));
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < each; ++k) {
        if ((more >> k & 1) != 0) settle(k);
      }
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      const u64 i = first + u64(k) * warp;
      if (i >= n) continue;
      if (found[k].what == lookup_state::go_on) found[k].what = lookup_state::absent;
      if (!mine[k].legal) found[k] = {};
      if constexpr (slot_type::reserves_keys) {
        if (mine[k].reserved) {
          sink(i, slot_hit<slot_type>{sentinels.find(mine[k].bits), steps[k]});
          continue;
        }
      }
      sink(i, slot_hit<slot_type>{found[k], steps[k]});
    }
  }
};

template <bucketed Design, class Keys, class Sink>
struct look_up_ring {
  using slot_type = typename Design::slot_type;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Keys keys;
  Sink sink;

  struct pending {
    typename Design::place place;
    typename slot_type::key_bits bits;
    u64 number;
  };

  // A ring of lookups under way: one is asked for when the oldest is examined. What must go on to its next
  // bucket waits in `more` until a batch of such has come together.
  void operator()(u64 from, u64 to) const {
    pending ring[batch], more[batch];
    u32 asked = 0, examined = 0, waiting = 0;
    // A call for each key costs a third of the speed, and a large source's compiler may choose it.
    const auto examine = [&](const pending& p) __attribute__((TILEHASH_INLINED)) {
      if (!settle(p, 1, more[waiting]) && ++waiting == batch) waiting = (finish(more, waiting), 0);
    };
    while (from < to) {
      u64 end = to;
      if constexpr (looked_up_alone<Design>) {
        if (to - from > batch) end = from + batch;
        if (end - from == batch && are_neighbours(from)) {
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
        if (asked - examined == batch) examine(ring[examined++ % batch]);
        const auto place = design.locate(q.bits);
        ask_for(place);
        ring[asked++ % batch] = {place, q.bits, from};
      }
    }
    finish(more, waiting);
    for (waiting = 0; examined != asked; ++waiting) more[waiting] = ring[examined++ % batch];
    finish(more, waiting, 1);
  }

 private:
  // Do a batch's first and last key lie side by side? Then so do the others, where it matters, and what one
  // of them reads brings the memory of the next: asking for it ahead of time is work for nothing.
  bool are_neighbours(u64 from) const {
    const query<slot_type> first(keys[from]), last(keys[from + batch - 1]);
    return design.where(design.locate(last.bits)) - design.where(design.locate(first.bits)) < batch;
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

  TILEHASH_FN void ask_for(const typename Design::place& place) const {
    prefetch(design.address(place));
    if constexpr (values_share_a_line<Design>) prefetch(design.values_of(place));
  }

  // Examines the bucket and gives the answer, unless the next bucket must be read: then `next` is on its way
  // there, its memory asked for (at once: whoever is examined next has other memory to wait for).
  TILEHASH_FN bool settle(const pending& p, u32 steps, pending& next) const {
    const auto b = Design::template bucket_type<solo_tile>::read(solo_tile{}, design.address(p.place));
    auto a = design.examine(solo_tile{}, b, design.stored(p.place, p.bits));
    if (a.what == lookup_state::go_on) {
      if (steps < max_steps_of(design, p.place)) {
        next = p;
        design.advance(next.place, a);
        ask_for(next.place);
        return false;
      }
      a.what = lookup_state::absent;
    }
    if constexpr (values_apart<Design>)
      sink(p.number, hit_of<Design>{a.what, steps, a.found() ? design.values_of(p.place) + a.slot : nullptr});
    else
      sink(p.number, hit_of<Design>{a, steps});
    return true;
  }
  // For all that wait, `steps` is the number of the bucket they wait for.
  void finish(pending* todo, u32 left, u32 steps = 2) const {
    for (; left != 0; ++steps) {
      u32 kept = 0;
      for (u32 k = 0; k < left; ++k) {
        if (!settle(todo[k], steps, todo[kept])) ++kept;
      }
      left = kept;
    }
  }
};

template <bucketed Design, class Space, class Keys, class Sink>
void look_up(Space& space, const Design& design,
             const detail::sentinel_cells<typename Design::slot_type>& sentinels, Keys keys, u64 n,
             Sink sink) {
  if constexpr (Space::has_lanes) {
    if constexpr (looked_up_alone<Design> && !recording<Sink>) {
      const look_up_alone<Design, Keys, Sink> work{design, sentinels, keys, n, sink};
      space.for_each_lane(work.lanes(n), work);
    } else {
      space.for_each_lane(
          n, look_up_lanes<Design, Keys, Sink, Design::preferred_width>{design, sentinels, keys, n, sink});
    }
  } else {
    space.for_each_chunk(n, look_up_ring<Design, Keys, Sink>{design, sentinels, keys, sink});
  }
}

// Lookups in a design whose keys stand in rows: row(place) reads where a row begins and ends, hit() walks it.
template <class Design, class Sink>
struct walk_rows {
  Design design;
  const typename Design::key_type* keys;
  u64 n;
  Sink sink;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    if (i < n) sink(i, design.hit(keys[i], design.row(design.locate(keys[i]))));
  }

  void operator()(u64 from, u64 to) const {
    typename Design::place places[batch];
    typename Design::range rows[batch];
    for (; from < to; from += batch) {
      const u32 size = to - from < batch ? static_cast<u32>(to - from) : batch;
      for (u32 k = 0; k < size; ++k) prefetch(design.address(places[k] = design.locate(keys[from + k])));
      for (u32 k = 0; k < size; ++k) prefetch(design.address(rows[k] = design.row(places[k])));
      for (u32 k = 0; k < size; ++k) sink(from + k, design.hit(keys[from + k], rows[k]));
    }
  }
};

template <rowed Design, class Space, class Sink>
void look_up(Space& space, const Design& design, const typename Design::key_type* keys, u64 n, Sink sink) {
  const walk_rows<Design, Sink> work{design, keys, n, sink};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

// Lookups in a table without memory: none is found.
template <class Hit, class Sink>
struct answer_nothing {
  Sink sink;
  TILEHASH_FN void operator()(u64 i) const { sink(i, Hit{}); }
};
template <class Hit, class Space, class Sink>
void look_up_nothing(Space& space, u64 n, Sink sink) {
  space.for_each(n, answer_nothing<Hit, Sink>{sink});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
