// The bulk verbs that change the values of keys that are there: insert_or_assign and insert_or_apply.
//
//   look at the first bucket --+-- the key stands there ------------------> combine
//                              +-- else insert --+-- inserted               done
//                                                +-- present: find its slot, combine
//                                                +-- refused              to the list; displace, or grow
//
// While inserts run, no key moves or goes, so the slot that was found is the key's until the call ends; its
// value changes by one atomic operation, or by compare-and-swap until nobody was faster. Keys only move in a
// displacement, which therefore changes no values: what it finds present it puts on the list, and another
// pass like this one comes after it.
#pragma once

#include <tilehash/core/op.hpp>
#include <tilehash/kernel/insert.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash::detail {

// What to do with a key that is there: nothing, or combine the values.
struct keep {};
template <class Op>
struct apply {
  Op op;
};

// What an op is given, made values of the table (core/op.hpp), in memory of their own.
template <class Given, class Value, class Op>
struct lift_body {
  const Given* given;
  Value* values;
  TILEHASH_FN void operator()(u64 i) const { values[i] = Op::template lift<Value>(given[i]); }
};
template <class Value, class Op, class Space, class Given>
buffer<Value, Space> lift(Space& space, const Given* given, u64 n) {
  buffer<Value, Space> values(space, n);
  if constexpr (std::same_as<Given, nothing>)
    space.fill(values.data(), n, Op::template lift<Value>(nothing{}));
  else
    space.for_each(n, lift_body<Given, Value, Op>{given, values.data()});
  return values;
}

template <class Design, class Source, class Op, u32 Width>
struct upsert_lanes {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using mapped_type = typename slot_type::mapped_type;
  using value_bits = typename slot_type::value_bits;

  Design design;
  detail::sentinel_cells<slot_type> sentinels;
  Source source;
  u64 n;
  outcome_recorder recorder;
  Op op;

  // The value stands in the word's low bytes, where a smaller atomic operation can change it alone.
  static constexpr bool in_place = detail::combines_in_place<Op, mapped_type> && sizeof(word) <= 8 &&
                                   std::endian::native == std::endian::little;

  TILEHASH_FN void combine(word* at, word old, value_bits given_bits) const {
    const auto given = detail::from_bits<mapped_type>(given_bits);
    if constexpr (in_place) {
      Op::in_place(reinterpret_cast<mapped_type*>(at), given);
    } else {
      for (;;) {  // again when another changed the value or, in `tiled`, set a filter bit
        const mapped_type next = op(detail::from_bits<mapped_type>(slot_type::value_of(old)), given);
        const word seen =
            detail::compare_and_swap(at, old, slot_type::with_value(old, detail::to_bits<value_bits>(next)));
        if (seen == old) return;
        old = seen;
      }
    }
  }

  // The slot in which a key stands, or null. A full bucket sends it on whatever the design says: when another
  // has just put the key into its next bucket, what tells so in the first (`tiled`'s filter) may come later.
  template <class Tile>
  TILEHASH_FN word* slot_of(Tile t, key_bits wanted, bool active) const {
    using bucket_type = typename Design::template bucket_type<Tile>;
    auto place = design.locate(wanted);
    word* at = nullptr;
    for (u32 steps = 1; t.any(active); ++steps) {
      word* const memory = design.bucket_at(design.where(place));
      const auto stored = design.stored(place, wanted);
      const auto b = bucket_type::read_shared(t, memory, active);
      const u32 here = b.match(t, stored);
      const auto a = design.examine(t, b, stored);
      const bool full = b.match_empty(t) == 0;
      if (!active) continue;
      if (here != 0) at = memory + detail::lowest(here);
      active = here == 0 && (full || a.what == lookup_state::go_on) && steps < design.max_steps();
      if (active) design.advance(place);
    }
    return at;
  }

  // One look at the first buckets of all the tile's items, then all lanes change theirs at once. True in a
  // lane whose item needs no more; what it met is then in `became`.
  template <class Tile>
  TILEHASH_FN bool change_first_bucket(Tile t, const item<slot_type>& mine, bool active,
                                       outcome& became) const {
    using bucket_type = typename Design::template bucket_type<Tile>;
    const auto place = design.locate(mine.key.bits);
    const auto stored = design.stored(place, mine.key.bits);
    const auto at = design.where(place);
    insert_position<word> first;
    bucket_type b[Tile::width];
    TILEHASH_UNROLL
    for (u32 j = 0; j < Tile::width; ++j)
      b[j] = bucket_type::read_shared(t, design.bucket_at(t.broadcast(at, j)));
    TILEHASH_UNROLL
    for (u32 j = 0; j < Tile::width; ++j) {
      const auto wanted = t.broadcast(stored, j);
      insert_position<word> o;
      if constexpr (offers_position<Design>) o = design.examine_for_insert(t, b[j], wanted);
      const u32 here = b[j].match(t, wanted), slot = here != 0 ? detail::lowest(here) : 0;
      const word content = b[j].at(t, slot);
      if (here != 0) o = {lookup_state::found, slot, content};
      if (t.rank() == j) first = o;
    }
    if (!active) return true;
    word* const memory = design.bucket_at(at) + first.slot;
    if (first.what == lookup_state::found) {
      combine(memory, first.old, mine.value);
      became = outcome::present;
      return true;
    }
    if (first.what != lookup_state::absent) return false;
    became = outcome::inserted;
    return detail::compare_and_swap(memory, first.old,
                                    slot_type::written_over(first.old, stored, mine.value)) == first.old;
  }

  TILEHASH_FN outcome update_sentinel(const item<slot_type>& x) const {
    if constexpr (slot_type::reserves_keys)
      return sentinels.insert_or_apply(x.key.bits, x.value, op);
    else
      return outcome::refused;
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const auto t = lane.template tile<Width>();
    const u64 i = lane.index();
    const item<slot_type> mine = i < n ? source(i) : item<slot_type>{};
    outcome became = outcome::refused;
    const bool open = !change_first_bucket(t, mine, mine.valid && mine.key.regular(), became);
    word* at = nullptr;
    for (u32 todo = t.ballot(open); t.any(todo != 0); todo &= todo - 1) {
      const u32 j = todo != 0 ? detail::lowest(todo) : 0;
      const auto wanted = t.broadcast(mine.key.bits, j);
      const auto value = t.broadcast(mine.value, j);
      const outcome o = design.insert(t, wanted, slot_type::pack(wanted, value), todo != 0);
      word* const there = slot_of(t, wanted, todo != 0 && o == outcome::present);
      if (todo != 0 && t.rank() == j) became = o, at = there;
    }
    if (at != nullptr) combine(at, detail::load_relaxed(at), mine.value);
    if (mine.valid && mine.key.reserved) became = update_sentinel(mine);
    recorder.record(lane, i, mine, became);
  }

  void operator()(u64 from, u64 to) const {
    u64 present = 0, illegal = 0;
    const auto fetch = [&](u64 i) {
      const item<slot_type> x = source(i);
      if (x.valid && x.key.regular()) prefetch_to_write(design.address(design.locate(x.key.bits)));
      return x;
    };
    fetch_ahead(from, to, fetch, [&](u64 i, const item<slot_type>& x) {
      if (!x.valid) return;
      const outcome became = x.key.regular()  ? change(x)
                             : x.key.reserved ? update_sentinel(x)
                                              : outcome::refused;
      recorder.record(i, x, became, present, illegal);
    });
    recorder.add(present, illegal);
  }
  outcome change(const item<slot_type>& x) const {
    const solo_tile t;
    outcome became = outcome::present;
    word* at = slot_of(t, x.key.bits, true);
    if (at == nullptr) {
      became = design.insert(t, x.key.bits, slot_type::pack(x.key.bits, x.value), true);
      if (became == outcome::present) at = slot_of(t, x.key.bits, true);  // another was faster
    }
    if (at != nullptr) combine(at, detail::load_relaxed(at), x.value);
    return became;
  }
};

// insert() without displacement, for either update.
template <class Design, class Space, class Source>
void upsert(Space& space, const Design& design,
            const detail::sentinel_cells<typename Design::slot_type>& sentinels, Source source, u64 n,
            const outcome_recorder& recorder, keep /*update*/) {
  insert(space, design, sentinels, source, n, recorder);
}
template <class Design, class Space, class Source, class Op>
void upsert(Space& space, const Design& design,
            const detail::sentinel_cells<typename Design::slot_type>& sentinels, Source source, u64 n,
            const outcome_recorder& recorder, const apply<Op>& update) {
  const upsert_lanes<Design, Source, Op, Design::preferred_width> work{design, sentinels, source,
                                                                       n,      recorder,  update.op};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

}  // namespace tilehash::detail
