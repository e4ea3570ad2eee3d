// SPDX-License-Identifier: Apache-2.0
// Inserts, and updates of present keys: one kernel with one policy, in which no key moves.
//
//   walk the key's buckets --+-- a bucket holds the key -------> keep its value, or combine the values
//                            +-- absent, and a slot is free ---> claim the first free slot of the walk
//                            +-- absent, and no slot is free --> pending: displace, or grow
//
// It runs in both schedules of walks (kernel/walk.hpp).
//
// Exact under races, without a lock: while only this kernel runs, a taken slot stays taken. So two inserts of
// one key aim at the same first free slot of the same sequence. One claims it; the other walks again and
// finds the key. The slot in which a key was found belongs to the key until the call ends. Its value changes
// by one atomic operation, or by a compare-and-swap that is retried until it succeeds.
//
// In a design with its own insert(), the walk only finds the key (kernel/insert_by_design.hpp).
#pragma once

#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/sentinel_cells.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/insert_by_design.hpp>
#include <tilehash/kernel/late_items.hpp>
#include <tilehash/kernel/walk.hpp>
#include <tilehash/space/bucket.hpp>
#include <tilehash/space/store_once.hpp>
#include <tilehash/space/tuning.hpp>

#include <bit>
#include <type_traits>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The policy for the value of a present key: keep it, or combine it with the given one.
struct keep_stored {};
template <class Op>
struct apply {
  Op op;
};
// An op with state may write to any memory.
template <class Update>
inline constexpr bool is_stateless = true;
template <class Op>
inline constexpr bool is_stateless<apply<Op>> = std::is_empty_v<Op>;

template <class Design, class Source, class Update, u32 Width>
struct upsert_items {
  using design_type = Design;
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using mapped_type = typename slot_type::mapped_type;
  using item_type = item<slot_type>;
  using position = insert_position_of<Design>;
  using location = typename Design::location;
  static constexpr bool updates = !std::same_as<Update, keep_stored>;
  static constexpr bool alone_in_the_table = requires { requires Source::alone; };  // kernel/unshared.hpp
  static constexpr u32 resident_blocks = tuning::gpu_here::change_occupancy(sizeof(word));

  Design design;
  sentinel_cells<slot_type> sentinels{};
  Source source{};
  u64 first = 0, end = 0;  // of the items to look at
  bool retry = false;      // only those that are pending
  bool inserts = false;    // false: it only finds
  Update update;
  outcome_recorder recorder{};
  unplaced_items<slot_type> unplaced{};

  // The state of one item's walk along its buckets.
  struct walk {
    key_bits key;
    value_bits value;
    location home, now;
    word* free = nullptr;         // the first slot of the walk that it may take, or the one to store to
    word old = 0;                 // the word in that slot
    stored_key stored = 0;        // the stored key for that slot
    bool beyond = false;          // the slot is not in the first bucket
    bool is_last_resort = false;  // a slot of a later bucket may be better
    u32 steps = 1;
    outcome became = outcome::refused;
  };
  TILEHASH_FN walk start(const item_type& x) const {
    const location home = design.locate(x.key.bits);
    return {x.key.bits, x.value, home, home};
  }

  // A bucket's result for an item. A collective.
  template <class Tile, class Bucket>
  TILEHASH_FN position examine(Tile t, const Bucket& b, stored_key wanted) const {
    return examine_for_insert(design, t, b, wanted);
  }

  // Continues the walk with the result of the bucket at w.now. False: the item's walk has ended.
  TILEHASH_FN bool go_on(walk& w, const position& result) const {
    word* const memory = design.bucket_at(design.where(w.now));
    if (result.what == lookup_state::found) {
      if (updates && inserts && values_apart<Design>) return false;  // its value may be unwritten: pending
      w.became = outcome::present;
      if constexpr (stores_last)
        w.free = memory + result.slot;
      else if constexpr (updates)
        combine(memory + result.slot, result.old, w.value);
      return false;
    }
    bool takes = result.free && w.free == nullptr;
    if constexpr (requires { result.is_last_resort; })
      takes = result.free && (w.free == nullptr || (w.is_last_resort && !result.is_last_resort));
    if constexpr (requires { design.may_take(w.now); }) takes = takes && design.may_take(w.now);
    if (takes) {
      w.free = memory + result.slot;
      w.old = result.old;
      w.stored = design.stored(w.now, w.key);
      w.beyond = w.steps != 1;
      if constexpr (requires { result.is_last_resort; }) w.is_last_resort = result.is_last_resort;
    }
    if (result.what == lookup_state::go_on && w.steps < max_steps_of(design, w.now)) {
      design.advance(w.now, result);
      ++w.steps;
      return true;
    }
    if (!inserts || w.free == nullptr) return false;
    if constexpr (requires { design.passes(w.home); }) {
      if (w.beyond) pass(w.home);
    }
    if (put_in(w)) {
      if constexpr (values_apart<Design>) put_value(w);
      w.became = outcome::inserted;
      return false;
    }
    w.now = w.home;  // another thread was faster: again from the start, at most once for each slot on the way
    w.free = nullptr;
    w.steps = 1;
    return true;
  }

  // A design may do so in fewer steps while no other thread works on the table.
  TILEHASH_FN void pass(const location& home) const {
    if constexpr (alone_in_the_table && requires { design.template passes<true>(home); })
      design.template passes<true>(home);
    else
      design.passes(home);
  }

  // Claims the free slot. False: another item was faster.
  TILEHASH_FN static bool put_in(const walk& w) {
    const word content = slot_type::written_over(w.old, w.stored, w.value);
    if constexpr (alone_in_the_table) {  // no other thread has changed the slot
      *w.free = content;
      return true;
    } else {
      return compare_and_swap(w.free, w.old, content) == w.old;
    }
  }
  // Writes the value of the key that put_in() has stored.
  TILEHASH_FN void put_value(const walk& w) const {
    if constexpr (!slot_type::is_set) copy_value(design.value_at(w.free), w.value);
  }

  // The value is in the low bytes of the word: a smaller atomic operation can change it alone. (A GPU orders those that
  // overlap whatever their sizes: PTX ISA 9.0, section 8.7.2.)
  static constexpr bool is_part = std::endian::native == std::endian::little;
  static constexpr bool stores =
      std::same_as<Update, apply<op::assign>> && is_part && stored_at_once<slot_type>;
  // At the end of the walk, where all lanes of a warp store together.
  static constexpr bool stores_last = stores && probe_inserting<Design> && !values_apart<Design>;
  TILEHASH_FN void store_last(const walk& w) const {
    if constexpr (stores_last) {
      if (w.became == outcome::present) store(w.free, w.value);
    }
  }
  TILEHASH_FN void store(word* at, value_bits x) const {  // (A view has no end.)
    store_once(reinterpret_cast<value_bits*>(at), x, end != 0 && end - first <= tuning::gpu::stored_alone);
  }
  TILEHASH_FN void combine(word* at, word old, value_bits given) const
    requires updates
  {
    if constexpr (values_apart<Design>)
      return design.combine(at, *given, update.op);
    else
      combine_in_word(at, old, from_bits<mapped_type>(given));
  }
  template <class Value>
  TILEHASH_FN void combine_in_word(word* at, word old, const Value& given) const {
    using op_type = decltype(update.op);
    if constexpr (combines_in_place<op_type, mapped_type> && is_part) {
      op_type::in_place(reinterpret_cast<mapped_type*>(at), given);
    } else if constexpr (stores) {
      store(at, to_bits<value_bits>(given));
    } else {
      for (;;) {  // again when another changed the value or, in `tiled`, set a filter bit
        const mapped_type next = update.op(from_bits<mapped_type>(slot_type::value_of(old)), given);
        const word seen = compare_and_swap(at, old, slot_type::with_value(old, to_bits<value_bits>(next)));
        if (seen == old) return;
        old = seen;
      }
    }
  }

  TILEHASH_FN outcome put_in_sentinel(const item_type& x) const {
    if constexpr (slot_type::reserves_keys) {
      if (inserts || sentinels.find(x.key.bits).found()) {
        if constexpr (updates)
          return sentinels.insert_or_apply(x.key.bits, x.value, update.op);
        else
          return sentinels.insert(x.key.bits, x.value);
      }
    }
    return outcome::refused;
  }

  // ---- a GPU's schedule ----
  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    call_counters to = recorder.counters;
    run(lane, to);
  }
  // The lane of a warp's first item counts the warp's items in `to`.
  template <class Lane, class Counts>
  TILEHASH_FN void run(Lane lane, Counts& to) const {
    const auto t = lane.template tile<Width>();
    const u64 i = first + lane.index();
    bool mine = i < end;
    if (retry) {
      mine = mine && recorder.is_pending(i);
      if (!t.any(mine)) return;
    }
    put(lane, i, mine, mine ? source(i) : item_type{}, to);
  }
  // The same for the i-th item, which the lane has read if it is `mine`.
  template <class Lane, class... Counts>
  TILEHASH_FN void put(Lane lane, u64 i, bool mine, const item_type& x, Counts&... to) const {
    const auto t = lane.template tile<Width>();
    mine = mine && x.valid;
    const outcome became = together(t, x, mine);
    if constexpr (replacing<Design>) {
      if (inserts) unplaced.note_fresh(lane, i, mine && became == outcome::inserted);
    }
    recorder.record(lane, i, mine, x.key.legal, became, to...);
  }

  // Each lane of a tile with `mine` puts one item. A collective: all lanes of the warp call it.
  template <class Tile>
  TILEHASH_FN outcome together(Tile t, const item_type& x, bool mine) const {
    outcome became = outcome::refused;
    const bool regular = mine && x.key.regular();
    if constexpr (probe_inserting<Design>) {
      became = walk_along(t, x, regular);
    } else {
      if (!inserts || (updates && steady<Design>)) became = walk_along(t, x, regular);
      if (inserts)
        became =
            insert_by_design(*this, t, x.key.bits, x.value, regular && became == outcome::refused, became);
    }
    if (mine && x.key.reserved) became = put_in_sentinel(x);
    return became;
  }

  template <class Tile>
  TILEHASH_FN outcome walk_along(Tile t, const item_type& x, bool walking) const {
    walk w = start(x);
    detail::walk_along(*this, t, w, walking);
    store_last(w);
    return w.became;
  }

  // ---- one thread, one item ----
  TILEHASH_FN outcome alone(const item_type& x) const {
    walk w = start(x);
    while (step(w)) {
    }
    store_last(w);
    return w.became;
  }
  // True if the walk is at its next bucket now. The design's own insert appears only once here, since each
  // loop of a CPU's schedule inlines the step.
  TILEHASH_FN bool step(walk& w) const {
    if constexpr (probe_inserting<Design>) {
      return step_alone(*this, w);
    } else {
      const bool seeks = !inserts || (updates && steady<Design>);
      if (seeks && step_alone(*this, w)) return true;
      if (inserts && w.became == outcome::refused)
        w.became = insert_by_design(*this, solo_tile{}, w.key, w.value, true, w.became);
      return false;
    }
  }

  // ---- a CPU's schedule: whole words of `pending` ----
  struct numbered : walk {
    u64 i;
  };
  // Word 0 is the word of the item `first`.
  void operator()(u64 from, u64 to) const {
    from += first / bits_a_word;
    to += first / bits_a_word;
    thread_recorder counts{recorder};
    if (!retry) {
      for (u64 w = from; w < to; ++w) recorder.pending[w] = 0;
    }
    if constexpr (replacing<Design>) {
      for (u64 w = from; inserts && w < to; ++w) unplaced.fresh[w] = 0;
    }
    const auto keep_record = [&](u64 i, bool legal, outcome became) __attribute__((TILEHASH_INLINED)) {
      if constexpr (replacing<Design>) {
        if (inserts && became == outcome::inserted) unplaced.fresh[i / bits_a_word] |= 1U << i % bits_a_word;
      }
      counts.record(i, legal, became);
    };
    const u64 last = to * bits_a_word < end ? to * bits_a_word : end;
    walk_ring<upsert_items, numbered> ring{*this};
    const auto record = [&](const numbered& p) __attribute__((TILEHASH_INLINED)) {
      store_last(p);
      keep_record(p.i, true, p.became);
    };
    for (u64 i = from * bits_a_word; i < last; ++i) {
      if (retry && !recorder.is_pending(i)) continue;
      const item_type x = source(i);
      if (!x.valid) continue;
      if (x.key.regular())
        ring.add({start(x), i}, record);
      else
        keep_record(i, x.key.legal, x.key.reserved ? put_in_sentinel(x) : outcome::refused);
    }
    ring.finish(record);
    counts.add_up(from);
  }
};

// Upserts the items from `first` (a multiple of 256) to `end`. Does not synchronize with the host. Returns
// whether that ends the call (run_lanes_and_end()).
template <class Design, class Space, class Source, class Update>
call_ended upsert(Space& space, const upsert_items<Design, Source, Update, Design::preferred_width>& work,
                  const call_end* end = nullptr, u32* blocks_done = nullptr) {
  using slot_type = typename Design::slot_type;
  using called = called_source<slot_type>;
  if (work.first >= work.end) return call_ended::no;
  if constexpr (Space::has_lanes) {
    if constexpr (ends_late<Source>) {
      if (ends_early(work)) {
        upsert_late_items(space, work);
        return call_ended::no;
      }
    }
    return run_lanes_and_end(space, work.end - work.first, work, work.recorder.counters, end, blocks_done);
  } else if constexpr (!std::same_as<Source, called>) {
    upsert<Design>(space, upsert_items<Design, called, Update, Design::preferred_width>{
                              work.design, work.sentinels, called(work.source), work.first, work.end,
                              work.retry, work.inserts, work.update, work.recorder, work.unplaced});
  } else {
    space.for_each_share((work.end - work.first + bits_a_word - 1) / bits_a_word, work,
                         tuning::cpu::upsert_words);
  }
  return call_ended::no;
}

// One thread puts one item into a free slot, without moving another, or, with apply<Op>, combines it with the
// present one. Concurrent calls are allowed.
struct no_items {};
template <class Design, class Update>
  requires(!replacing<Design>)
TILEHASH_FN outcome upsert_one(const Design& design,
                               const sentinel_cells<typename Design::slot_type>& sentinels,
                               const item<typename Design::slot_type>& x, const Update& update) {
  if (!x.key.legal) return outcome::refused;
  const upsert_items<Design, no_items, Update, 1> work{
      .design = design, .sentinels = sentinels, .inserts = true, .update = update};
  return x.key.reserved ? work.put_in_sentinel(x) : work.alone(x);
}
// The same for a tile: each lane with `mine` puts one item. A collective.
template <class Design, class Tile, class Update>
  requires(!replacing<Design>)
TILEHASH_FN outcome upsert_together(const Design& design,
                                    const sentinel_cells<typename Design::slot_type>& sentinels, Tile t,
                                    const item<typename Design::slot_type>& x, bool mine,
                                    const Update& update) {
  const upsert_items<Design, no_items, Update, Tile::width> work{
      .design = design, .sentinels = sentinels, .inserts = true, .update = update};
  return work.together(t, x, mine && x.key.legal);
}
// Puts one regular key into a free slot.
template <class Design>
TILEHASH_FN outcome insert_one(const Design& design, typename Design::key_bits key,
                               typename Design::slot_type::value_bits value) {
  item<typename Design::slot_type> x;
  x.key.bits = key;
  x.key.legal = x.valid = true;
  x.value = value;
  return upsert_one(design, {}, x, keep_stored{});
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
