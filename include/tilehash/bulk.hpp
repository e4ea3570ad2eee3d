// The bulk verbs' schedules, written once for all designs.
//
//   lanes     (a GPU, and its emulation) every lane owns one operation. The tile loads the first buckets of
//             all its lanes' operations before it examines the first, so that many requests are in flight.
//             What is not settled by then is finished one by one, while any lane of the warp still has work.
//   prefetch  (a CPU) a thread goes round a ring of operations and asks for the memory of each long before it
//             examines it. Lookups that must go on are asked for again and examined later.
//
// Designs stay free of both: they say where to look (locate, address, advance) and judge what arrived
// (examine).
// length: lookups, inserts and erases, each in both schedules, which are read side by side.
#pragma once

#include <tilehash/core/aside.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/bucket.hpp>
#include <tilehash/core/concepts.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>

namespace tilehash::bulk {

inline constexpr u32 batch = 32;  // operations a CPU thread keeps in flight

TILEHASH_FN void prefetch(const void* p) {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(p);
#endif
}
TILEHASH_FN void prefetch_to_write(const void* p) {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(p, 1);
#endif
}

// A CPU's schedule for changes: use(i, x) for every i, where x is what fetch(i) gave `batch` operations
// before.
template <class Fetch, class Use>
void fetch_ahead(u64 from, u64 to, Fetch fetch, Use use) {
  decltype(fetch(from)) ring[batch];
  for (u64 i = from; i < to && i < from + batch; ++i) ring[i % batch] = fetch(i);
  for (u64 i = from; i < to; ++i) {
    const auto x = ring[i % batch];
    if (i + batch < to) ring[i % batch] = fetch(i + batch);
    use(i, x);
  }
}

// ---- lookups --------------------------------------------------------------------------------------------
// sink(i, hit) is called once for each key, keys[i]. A hit says found(), value(), count() and probes().

template <class Slot>
struct slot_hit {
  answer<typename Slot::value_bits> got;
  u32 steps;

  TILEHASH_FN bool found() const { return got.what == state::found; }
  TILEHASH_FN auto value() const { return detail::from_bits<typename Slot::mapped_type>(got.value); }
  TILEHASH_FN u32 count() const { return found(); }
  TILEHASH_FN u32 probes() const { return steps; }  // buckets read
};

template <bucketed Design, class Keys, class Sink, u32 Width>
struct look_up_lanes {
  // They wait for memory: all the warps that there is room for, unless wide words need more than 32
  // registers.
  static constexpr u32 resident_blocks = sizeof(typename Design::word) <= 8 ? 8 : 6;

  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using result = answer<typename slot_type::value_bits>;

  Design design;
  detail::aside<slot_type> aside;
  Keys keys;
  u64 n;
  Sink sink;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    using tile = decltype(lane.template tile<Width>());
    using bucket_type = typename Design::template bucket_type<tile>;
    const u64 i = lane.index();
    const auto mine = i < n ? query<slot_type>(keys[i]) : query<slot_type>();
    const bool regular = i < n && mine.regular();
    auto place = design.locate(mine.tag);
    auto needle = design.needle(place, mine.tag);
    auto at = design.where(place);
    result found;

    bucket_type first[Width];
    TILEHASH_UNROLL
    for (u32 j = 0; j < Width; ++j) first[j] = bucket_type::read(t, design.bucket_at(t.broadcast(at, j)));
    TILEHASH_UNROLL
    for (u32 j = 0; j < Width; ++j) {
      const result a = design.examine(t, first[j], t.broadcast(needle, j));
      if (t.rank() == j) found = a;
    }

    u32 steps = 1;
    bool more = false;
    const auto go_on = [&] {  // to this lane's own next bucket, if it has one
      more = regular && found.what == state::go_on && steps < design.max_steps();
      if (more) {
        design.advance(place);
        needle = design.needle(place, mine.tag);
        at = design.where(place);
        ++steps;
      }
    };
    go_on();
    for (u32 todo = t.ballot(more); t.any(todo != 0); todo = t.ballot(more)) {
      const u32 j = todo != 0 ? detail::lowest(todo) : 0;
      const auto b = bucket_type::read(t, design.bucket_at(t.broadcast(at, j)), todo != 0);
      const result a = design.examine(t, b, t.broadcast(needle, j));
      if (todo != 0 && t.rank() == j) {
        found = a;
        go_on();
      }
    }
    if (i >= n) return;
    if (found.what == state::go_on) found.what = state::absent;
    if (!mine.legal) found = {};
    if constexpr (slot_type::reserves_keys) {
      if (mine.reserved) found = aside.find(mine.tag);
    }
    sink(i, slot_hit<slot_type>{found, steps});
  }
};

template <bucketed Design, class Keys, class Sink>
struct look_up_ring {
  using slot_type = typename Design::slot_type;
  using result = answer<typename slot_type::value_bits>;

  Design design;
  detail::aside<slot_type> aside;
  Keys keys;
  Sink sink;

  struct pending {
    typename Design::place place;
    typename slot_type::tag tag;
    u64 number;
  };

  // A ring of lookups under way: one is asked for when the oldest is examined. What must go on to its next
  // bucket waits in `more` until a batch of such has come together.
  void operator()(u64 from, u64 to) const {
    pending ring[batch], more[batch];
    u32 asked = 0, examined = 0, waiting = 0;
    // A call for each key costs a third of the speed, and a large source's compiler may choose it.
    const auto examine = [&](const pending& p) __attribute__((always_inline)) {
      if (!settle(p, 1)) {
        more[waiting++] = p;
        if (waiting == batch) waiting = (finish(more, waiting), 0);
      }
    };
    for (; from < to; ++from) {
      const query<slot_type> q(keys[from]);
      if (!q.regular()) {
        sink(from, slot_hit<slot_type>{q.legal ? aside.find(q.tag) : result{}, 1});
        continue;
      }
      if (asked - examined == batch) examine(ring[examined++ % batch]);
      const auto place = design.locate(q.tag);
      prefetch(design.address(place));
      ring[asked++ % batch] = {place, q.tag, from};
    }
    while (examined != asked) examine(ring[examined++ % batch]);
    finish(more, waiting);
  }

 private:
  // Examines the bucket and gives the answer, unless the next bucket must be read.
  TILEHASH_FN bool settle(const pending& p, u32 steps) const {
    const auto b = Design::template bucket_type<solo_tile>::read(solo_tile{}, design.address(p.place));
    auto a = design.examine(solo_tile{}, b, design.needle(p.place, p.tag));
    if (a.what == state::go_on) {
      if (steps < design.max_steps()) return false;
      a.what = state::absent;
    }
    sink(p.number, slot_hit<slot_type>{a, steps});
    return true;
  }
  // All that wait have examined one bucket.
  void finish(pending* todo, u32 left) const {
    for (u32 steps = 2; left != 0; ++steps) {
      for (u32 k = 0; k < left; ++k) {
        design.advance(todo[k].place);
        prefetch(design.address(todo[k].place));
      }
      u32 kept = 0;
      for (u32 k = 0; k < left; ++k) {
        if (!settle(todo[k], steps)) todo[kept++] = todo[k];
      }
      left = kept;
    }
  }
};

template <bucketed Design, class Space, class Keys, class Sink>
void look_up(Space& space, const Design& design, const detail::aside<typename Design::slot_type>& aside,
             Keys keys, u64 n, Sink sink) {
  if constexpr (Space::has_lanes) {
    space.for_each_lane(
        n, look_up_lanes<Design, Keys, Sink, Design::preferred_width>{design, aside, keys, n, sink});
  } else {
    space.for_each_chunk(n, look_up_ring<Design, Keys, Sink>{design, aside, keys, sink});
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

// ---- inserts and erases ---------------------------------------------------------------------------------
// A source says what the i-th item is: source(i) gives {query, word, valid}. Work is any callable
// (tile, tag, word, active) -> outcome of the design; keys that live aside are served here.

// The items that stand in a table's slots.
template <class Design>
struct slots_source {
  using Slot = typename Design::slot_type;
  Design design;

  TILEHASH_FN item<Slot> operator()(u64 i) const {
    const auto w = design.slots()[i];
    item<Slot> x;
    x.valid = !Slot::is_free(w);
    x.key.tag = design.tag_in(i, w);
    x.key.legal = true;
    x.value = Slot::value_of(w);
    return x;
  }
};

// Where a bulk insert reports: the list of those for which there was no room, and counts of what is rarer
// than an insertion.
struct ledger {
  u64* present;                  // one counter: keys that were there already
  u64* left;                     // one counter: the length of `list`
  u64* illegal;                  // one counter: keys that are NaN
  u64* list;                     // room for all items
  outcome* outcomes = nullptr;   // one each, by the item's number; may be null
  const u64* numbers = nullptr;  // the items' numbers when the source is a list, else null
  bool lists_present = false;    // a displacement lists, and does not count, the keys that it finds

  TILEHASH_FN u64 number(u64 i) const { return numbers != nullptr ? numbers[i] : i; }
  TILEHASH_FN bool lists(outcome o) const {
    return o == outcome::refused || (lists_present && o == outcome::present);
  }

  // What became of a lane's item, the i-th. A collective of the warp.
  template <class Lane, class Slot>
  TILEHASH_FN void note(Lane lane, u64 i, const item<Slot>& mine, outcome became) const {
    if (mine.valid && outcomes != nullptr) outcomes[number(i)] = became;
    const bool listed = mine.valid && mine.key.legal && lists(became);
    const u64 position = lane.enlist(left, listed);
    if (listed) list[position] = number(i);
    lane.tally(present, mine.valid && became == outcome::present && !listed);
    if constexpr (std::floating_point<typename Slot::key_type>)
      lane.tally(illegal, mine.valid && !mine.key.legal);
  }
  // What became of a thread's item, in a chunk whose counts come at its end.
  template <class Slot>
  TILEHASH_FN void note(u64 i, const item<Slot>& x, outcome became, u64& present_here,
                        u64& illegal_here) const {
    if (outcomes != nullptr) outcomes[number(i)] = became;
    illegal_here += !x.key.legal;
    if (x.key.legal && lists(became))
      list[detail::fetch_add(left, u64(1))] = number(i);
    else
      present_here += became == outcome::present;
  }
  TILEHASH_FN void add(u64 present_here, u64 illegal_here) const {
    if (present_here != 0) detail::fetch_add(present, present_here);
    if (illegal_here != 0) detail::fetch_add(illegal, illegal_here);
  }
};

template <class Design, class Source, u32 Width>
struct insert_lanes {
  static constexpr u32 resident_blocks = sizeof(typename Design::word) <= 8 ? 6 : 4;  // 40 or 64 registers

  using slot_type = typename Design::slot_type;

  Design design;
  detail::aside<slot_type> aside;
  Source source;
  u64 n;
  ledger book;

  // One look at the first buckets of all the tile's items, then all lanes write at once. True in a lane whose
  // item needs no more; what it met is then in `became`.
  template <class Tile>
  TILEHASH_FN bool take_first_bucket(Tile t, const item<slot_type>& mine, bool active,
                                     outcome& became) const {
    using bucket_type = typename Design::template bucket_type<Tile>;
    const auto place = design.locate(mine.key.tag);
    const auto needle = design.needle(place, mine.key.tag);
    const auto at = design.where(place);
    offer<typename slot_type::word> first;
    bucket_type b[Tile::width];
    TILEHASH_UNROLL
    for (u32 j = 0; j < Tile::width; ++j)
      b[j] = bucket_type::read_shared(t, design.bucket_at(t.broadcast(at, j)));
    TILEHASH_UNROLL
    for (u32 j = 0; j < Tile::width; ++j) {
      const auto o = design.examine_for_insert(t, b[j], t.broadcast(needle, j));
      if (t.rank() == j) first = o;
    }
    if (!active) return true;
    if (first.what == state::go_on) return false;
    if (first.what == state::absent) {
      const auto content = slot_type::written_over(first.old, needle, mine.value);
      if (detail::compare_and_swap(design.bucket_at(at) + first.slot, first.old, content) != first.old)
        return false;
    }
    became = first.what == state::found ? outcome::present : outcome::inserted;
    return true;
  }
  TILEHASH_FN outcome put_aside(const item<slot_type>& x) const {
    if constexpr (slot_type::reserves_keys)
      return aside.insert(x.key.tag, x.value);
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
    if constexpr (offering<Design>) open = !take_first_bucket(t, mine, open, became);
    for (u32 todo = t.ballot(open); t.any(todo != 0); todo &= todo - 1) {
      const u32 j = todo != 0 ? detail::lowest(todo) : 0;
      const auto tag = t.broadcast(mine.key.tag, j);
      const auto value = t.broadcast(mine.value, j);
      const outcome o = design.insert(t, tag, slot_type::pack(tag, value), todo != 0);
      if (todo != 0 && t.rank() == j) became = o;
    }
    if (mine.valid && mine.key.reserved) became = put_aside(mine);
    book.note(lane, i, mine, became);
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
      const outcome became = design.insert(solo_tile{}, x.key.tag, slot_type::pack(x.key.tag, x.value), true);
      book.note(i, x, became, present, illegal);
    };
    const auto settle_all = [&] {
      for (u32 k = 0; k < left; ++k) settle(more[k].number, more[k].x);
      left = 0;
    };
    const auto fetch = [&](u64 i) {
      const item<slot_type> x = source(i);
      if (x.valid && x.key.regular()) prefetch_to_write(design.address(design.locate(x.key.tag)));
      return x;
    };
    fetch_ahead(from, to, fetch, [&](u64 i, const item<slot_type>& x) {
      if (!x.valid) return;
      outcome became = outcome::refused;
      if (!x.key.regular()) {
        if (x.key.reserved) became = put_aside(x);
        book.note(i, x, became, present, illegal);
      } else if constexpr (offering<Design>) {
        if (take_first_bucket(solo_tile{}, x, true, became)) {
          book.note(i, x, became, present, illegal);
          return;
        }
        auto place = design.locate(x.key.tag);
        design.advance(place);
        prefetch_to_write(design.address(place));
        more[left++] = {i, x};
        if (left == batch) settle_all();
      } else {
        settle(i, x);
      }
    });
    settle_all();
    book.add(present, illegal);
  }
};

template <class Design, class Space, class Source>
void insert(Space& space, const Design& design, const detail::aside<typename Design::slot_type>& aside,
            Source source, u64 n, const ledger& book) {
  const insert_lanes<Design, Source, Design::preferred_width> work{design, aside, source, n, book};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

// Makes room for the items on a list, those that insert() refused. How many tries an item takes varies much,
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
  ledger book;

  TILEHASH_FN displacement displacement_of(const item<slot_type>& x) const {
    return design.displacement_of(x.key.tag, slot_type::pack(x.key.tag, x.value));
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
      book.note(lane, i, ends && t.rank() == 0 ? x : item<slot_type>{}, p.became);
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
      prefetch_to_write(design.address(design.locate(x.key.tag)));
      return x;
    };
    fetch_ahead(from, to, fetch, [&](u64 i, const item<slot_type>& x) {
      book.note(i, x, displacement_of(x).run(solo_tile{}, true), present, illegal);
    });
    book.add(present, illegal);
  }
};

// The list has *length items, `most` at most: on a GPU only an insert that may still be running knows how
// many, and the host does not wait for it.
template <class Design, class Space, class Source>
void displace(Space& space, const Design& design, Source source, const u64* list, const u64* length, u64 most,
              const ledger& book) {
  using work_type = displace_lanes<Design, Source, Design::preferred_width>;
  const work_type work{design, source, list, length, book};
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

template <erasable Design, u32 Width>
struct erase_lanes {
  using slot_type = typename Design::slot_type;

  Design design;
  detail::aside<slot_type> aside;
  const typename Design::key_type* keys;
  u64 n;
  u64* missing;  // one counter: keys that were not there

  TILEHASH_FN bool erase_aside(typename slot_type::tag tag) const {
    if constexpr (slot_type::reserves_keys)
      return aside.erase(tag);
    else
      return false;
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    const u64 i = lane.index();
    const auto mine = i < n ? query<slot_type>(keys[i]) : query<slot_type>();
    const u32 regular = i < n && mine.regular();
    bool gone = false;
    TILEHASH_UNROLL_ONCE
    for (u32 j = 0; j < Width; ++j) {
      const bool e = design.erase(t, t.broadcast(mine.tag, j), t.broadcast(regular, j) != 0);
      if (t.rank() == j) gone = e;
    }
    if (i < n && mine.reserved) gone = erase_aside(mine.tag);
    lane.tally(missing, i < n && !gone);
  }

  void operator()(u64 from, u64 to) const {
    u64 gone = 0;
    const auto fetch = [&](u64 i) {
      const query<slot_type> q(keys[i]);
      if (q.regular()) prefetch_to_write(design.address(design.locate(q.tag)));
      return q;
    };
    fetch_ahead(from, to, fetch, [&](u64, const query<slot_type>& q) {
      gone += q.regular() ? design.erase(solo_tile{}, q.tag, true) : q.reserved && erase_aside(q.tag);
    });
    if (to - from != gone) detail::fetch_add(missing, to - from - gone);
  }
};

template <class Design, class Space>
void erase(Space& space, const Design& design, const detail::aside<typename Design::slot_type>& aside,
           const typename Design::key_type* keys, u64 n, u64* missing) {
  const erase_lanes<Design, Design::preferred_width> work{design, aside, keys, n, missing};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

}  // namespace tilehash::bulk
