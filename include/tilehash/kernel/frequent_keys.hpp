// SPDX-License-Identifier: Apache-2.0
// Splits the items of a call by frequent keys and others, for an op that cannot combine given values.
//
//   items     | a b a c a d b a ...    a block finds each key in its copy of the frequent ones, here a and b
//   values    | a a a a ... | b b ...  the values of each frequent key are contiguous
//   others    | c d ...                items as those of a call
//
// Then a warp applies the values of a frequent key to the stored one, in turn, in its registers. Without that,
// all items of a key would retry a compare-and-swap at one word: half of 4 million items took 49 s on an H100.
#pragma once

#include <tilehash/algorithm/block.hpp>
#include <tilehash/algorithm/met_keys.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/find.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The frequent keys are the content of these slots, which are the same in all blocks. So a slot is a key's number.
template <class Slot>
using frequent_met = met_keys<typename Slot::key_bits, tuning::gpu::frequent_slots>;

// One block samples the keys, and lists those that the sample has twice. Keys of sentinel cells and NaNs
// are never listed.
template <class Slot, u32 Threads>
struct find_frequent {
  using met = frequent_met<Slot>;
  using key_bits = typename Slot::key_bits;
  static constexpr u32 block_size = Threads;
  static constexpr u32 sampled = tuning::gpu::repeats_sampled, each = sampled / Threads;
  using sampled_keys = met_keys<key_bits, 2 * sampled>;

  const typename Slot::key_type* keys;
  u64 n;
  typename met::held_key* frequent;  // met::all, free or a key; the last one: 1 if the key 0 is frequent
  u64* any;                          // becomes 1 if they count, and otherwise 0

  template <class Offset = u32>
  struct layout {
    scratch_array<typename sampled_keys::held_key, Offset> all;
    scratch_array<typename met::held_key, Offset> listed;
    scratch_array<u32, Offset> counts, number;
    TILEHASH_FN constexpr layout()
        : all(sampled_keys::all),
          listed(all, met::all),
          counts(listed, sampled_keys::all),
          number(counts, 1) {}
  };
  static constexpr u64 scratch_bytes = layout<u64>().number.end();

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank();
    const typename sampled_keys::template of<Block> all{layout<>().all.in(block), me, 0};
    const typename met::template of<Block> listed{layout<>().listed.in(block), me, 0};
    const auto counts = layout<>().counts.in(block), found = layout<>().number.in(block);
    query<Slot> drawn[each];
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) drawn[k] = query<Slot>(keys[fast_range(mix64(k * Threads + me + 1), n)]);
    all.clear(Threads);
    listed.clear(Threads);
    for (u32 s = me; s < sampled_keys::all; s += Threads) counts[s] = 0U;
    if (me == 0) found[0] = 0U;
    block.barrier();
    TILEHASH_UNROLL
    for (u32 k = 0; k < each; ++k) {
      bool fresh = false;
      const u32 s = drawn[k].regular() ? all.claim(drawn[k].bits, fresh) : sampled_keys::no_slot;
      if (s != sampled_keys::no_slot) fetch_add(counts + s, 1U);
    }
    block.barrier();
    u32 copies = 0, most = 0;
    for (u32 s = me; s < sampled_keys::all; s += Threads) {
      bool fresh = false;
      const u32 count = counts[s];
      if (count < 2) continue;
      copies += count;
      most = count > most ? count : most;
      listed.claim(all.key_in(s), fresh);  // a key without a slot is one of the others
    }
    if (copies != 0) fetch_add(found, copies);
    if (most >= tuning::gpu::frequent_copies) fetch_add(found, sampled);
    block.barrier();
    for (u32 s = me; s < met::all; s += Threads) frequent[s] = listed.keys[s];
    if (me == 0) *any = found[0] >= sampled / tuning::gpu::frequent_one_in;
  }
};

// The work of a block on its copy of the frequent keys: counts their items, or sends all items where they belong.
template <class Slot, u32 Threads>
struct split_frequent {
  using met = frequent_met<Slot>;
  using key_type = typename Slot::key_type;
  using mapped_type = typename Slot::mapped_type;
  static constexpr u32 block_size = Threads;
  static constexpr u32 at_once = tuning::gpu::met_at_once, round = at_once * Threads;
  static constexpr u32 others = met::all, targets = met::all + 1;

  array_source<Slot> items;
  u64 n;
  const typename met::held_key* frequent;
  u64* ends;            // for each target: where its next item goes; the pass that counts: how many it gets
  mapped_type* values;  // of frequent keys, and then of others; null in the pass that counts
  key_type* keys;       // of others, behind a gap for those of frequent keys

  template <class Offset = u32>
  struct layout {
    scratch_array<typename met::held_key, Offset> listed;
    scratch_array<u64, Offset> from;
    scratch_array<u32, Offset> counts;
    TILEHASH_FN constexpr layout() : listed(met::all), from(listed, targets), counts(from, targets) {}
  };
  static constexpr u64 scratch_bytes() { return layout<u64>().counts.end(); }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 me = block.rank();
    const typename met::template of<Block> listed{layout<>().listed.in(block), me, 0};
    const auto from = layout<>().from.in(block);
    const auto counts = layout<>().counts.in(block);
    for (u32 s = me; s < met::all; s += Threads) listed.keys[s] = frequent[s];
    for (u32 s = me; s < targets; s += Threads) counts[s] = 0U;
    block.barrier();
    for (u64 first = block.index() * round; first < n; first += block.count() * round) {
      u32 target[at_once], rank[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        const u64 i = first + static_cast<u64>(k * Threads) + me;
        target[k] = i < n ? target_of(listed, query<Slot>(items.keys[i])) : targets;
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) rank[k] = target[k] < targets ? fetch_add(counts + target[k], 1U) : 0;
      if (values == nullptr) continue;
      block.barrier();
      for (u32 s = me; s < targets; s += Threads) {
        const u32 count = counts[s];
        if (count != 0) from[s] = fetch_add(ends + s, u64(count));
        counts[s] = 0U;
      }
      block.barrier();
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (target[k] >= targets) continue;
        const u64 i = first + static_cast<u64>(k * Threads) + me, at = u64(from[target[k]]) + rank[k];
        values[at] = items.values[i];
        if (target[k] == others) keys[at] = items.keys[i];
      }
    }
    if (values != nullptr) return;
    block.barrier();
    for (u32 s = me; s < targets; s += Threads) {
      const u32 count = counts[s];
      if (count != 0) fetch_add(ends + s, u64(count));
    }
  }

 private:
  template <class Keys>
  TILEHASH_FN static u32 target_of(const Keys& listed, const query<Slot>& q) {
    if (!q.regular()) return others;
    const u32 s = listed.find(q.bits);
    return s == met::no_slot ? others : s;
  }
};

// A frequent key's values: those of `values` from `first` to `end`.
template <class Slot>
struct frequent_run {
  typename Slot::key_type key;
  u64 first, end;
};
// The first value of each frequent key, as an item.
template <class Slot>
struct first_of_runs {
  const frequent_run<Slot>* runs;
  const typename Slot::mapped_type* values;
  typename Slot::key_type* keys;
  typename Slot::mapped_type* firsts;
  TILEHASH_FN void operator()(u64 i) const {
    keys[i] = runs[i].key;
    firsts[i] = values[runs[i].first];
  }
};

// A warp applies all values of a frequent key but the first to the stored value. No other thread changes it.
template <class Design, class Op>
struct apply_runs {
  using slot_type = typename Design::slot_type;
  using mapped_type = typename Design::mapped_type;
  using value_bits = typename slot_type::value_bits;
  static constexpr u32 block_size = bits_a_word, in_flight = tuning::gpu::applied_in_flight;

  Design design;
  Op op;
  const frequent_run<slot_type>* runs;
  const mapped_type* values;
  u64* missing;  // the items of absent keys, but one of each key

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const auto warp = block.template tile<bits_a_word>();
    const auto run = runs[block.index()];
    item<slot_type> x{query<slot_type>(run.key), 0, true};
    const auto stored = look_up_by_one<false>(design, x.key.bits).result;
    if (!stored.found()) {
      if (warp.rank() == 0) fetch_add(missing, run.end - run.first - 1);
      return;
    }
    mapped_type all = from_bits<mapped_type>(stored.value);
    // Words of a value for each lane. The next ones are requested before these are applied, and moved here after
    // that: to move a word waits for its request.
    value_bits now[in_flight], next[in_flight];
    u64 from = run.first + 1;
    read_words(now, from + warp.rank(), run.end);
    while (from < run.end) {
      read_words(next, from + u64(in_flight) * bits_a_word + warp.rank(), run.end);
      TILEHASH_UNROLL_BY(1)
      for (u32 j = 0; j < in_flight; ++j, from += bits_a_word) {
        const value_bits given = now[0];
        TILEHASH_UNROLL
        for (u32 k = 0; k + 1 < in_flight; ++k) now[k] = now[k + 1];
        const u64 left = from < run.end ? run.end - from : 0;
        if (left >= bits_a_word) {
          TILEHASH_UNROLL
          for (u32 k = 0; k < bits_a_word; ++k)
            all = op(all, from_bits<mapped_type>(warp.broadcast(given, k)));
        } else {
          for (u32 k = 0; k < left; ++k) all = op(all, from_bits<mapped_type>(warp.broadcast(given, k)));
        }
      }
      TILEHASH_UNROLL
      for (u32 j = 0; j < in_flight; ++j) now[j] = next[j];
    }
    if (warp.rank() != 0) return;
    x.value = to_bits<value_bits>(all);
    upsert_one(design, {}, x, apply<op::assign>{});  // no sentinel cell has a frequent key
  }

 private:
  TILEHASH_FN void read_words(value_bits (&to)[in_flight], u64 first, u64 end) const {
    TILEHASH_UNROLL
    for (u32 j = 0; j < in_flight; ++j) {
      const u64 i = first + u64(j) * bits_a_word;
      to[j] = i < end ? to_bits<value_bits>(values[i]) : value_bits(0);
    }
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
