// SPDX-License-Identifier: Apache-2.0
// Doubles and halves a subtable, bucket by bucket, from its memory to new memory.
//
//   doubling   loc  | a . b c |   -->   loc       | a . . c |     each pair keeps its slot number,
//                                       loc + n   | . . b . |     so no two collide: no lock is needed
//
//   halving    loc      | a . b c |  -->  loc     | a d b c |     pairs of loc stay in place, pairs of
//              loc + n  | . d e . |                               loc + n fill the gaps: e is left over
//
// The old memory is read and not written. Pairs that are left over stay in it, each marked by a bit, until
// they are stored in other subtables.
//
// Source: Li et al., Dynamic Hash Tables on GPUs, section 5.3.
#pragma once

#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/item.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

inline constexpr u32 left_over_bits = 32;  // of a word, numbered like pending bits

// Unlocks all buckets, and empties the sentinel bucket: the i-th word of each.
template <class Design>
struct wipe_locks_of_all {
  Design design;

  TILEHASH_FN void operator()(u64 i) const {
    using part = typename Design::part;
    for (u32 t = 0; t <= Design::subtables; ++t) {
      const part p = design.part_of(t);
      if (i < part::lock_bytes(p.buckets) / sizeof(u32)) p.locks[i] = 0;
    }
    const part sentinels = design.part_of(Design::subtables);
    if (i < sentinels.slots()) sentinels.keys[i] = Design::slot_type::empty_word;
  }
};

// Item i is slot i of the old subtable.
template <class Design>
struct double_subtable {
  using slot_type = typename Design::slot_type;
  static constexpr u64 slots = Design::bucket_slots;

  Design design;
  u32 table;
  typename Design::part from, to;

  TILEHASH_FN void operator()(u64 i) const {
    const auto w = from.keys[i];
    const u64 half = from.slots();
    bool up = false;
    if (!slot_type::is_free(w)) {
      auto p = design.locate(slot_type::key_of(w));
      p.table = table;
      up = design.bucket_number(p, to) >= from.buckets;
      if constexpr (!slot_type::is_set) copy_value(to.values + i + (up ? half : 0), from.values + i);
    }
    to.keys[i] = up ? slot_type::empty_word : w;
    to.keys[i + half] = up ? w : slot_type::empty_word;
  }
};

// Item i is `Each` neighbouring slots of the new subtable: one on a GPU, for coalesced reads and writes; a
// bucket's on a CPU, which then reads the bucket once. The k-th taken slot of loc + n goes to the k-th gap of
// loc. So the two buckets alone determine the new content of each slot.
template <class Design, u32 Each>
struct halve_subtable {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  static constexpr u32 slots = Design::bucket_slots;

  typename Design::part from, to;
  u32* left_over;  // a bit for each slot of the upper half, zeros at first

  TILEHASH_FN void operator()(u64 i) const {
    const u64 first = i * Each, low = first / slots * slots, high = low + to.slots();
    u32 gaps = 0, coming = 0;
    TILEHASH_UNROLL
    for (u32 s = 0; s < slots; ++s) {
      gaps |= u32(slot_type::is_free(from.keys[low + s])) << s;
      coming |= u32(!slot_type::is_free(from.keys[high + s])) << s;
    }
    const u32 free = count_ones(gaps);
    for (u32 s = static_cast<u32>(first - low), end = s + Each; s < end; ++s) {
      const u32 before = (1U << s) - 1;
      u64 source = low + s;
      if ((gaps >> s & 1) != 0) {
        u32 mine = coming;
        for (u32 k = count_ones(gaps & before); k != 0; --k) mine &= mine - 1;
        source = high + (mine != 0 ? lowest(mine) : s);
        if (mine == 0) source = low + s;
      }
      const word w = from.keys[source];
      to.keys[low + s] = w;
      if constexpr (!slot_type::is_set) {
        if (!slot_type::is_free(w)) copy_value(to.values + low + s, from.values + source);
      }
      if ((coming >> s & 1) != 0 && count_ones(coming & before) >= free)
        set_bits(left_over + (low + s) / left_over_bits, 1U << (low + s) % left_over_bits);
    }
  }
};

// The pairs left over, as a source (core/item.hpp): item i is slot i of the upper half of the old subtable.
template <class Design>
struct left_over_source {
  using slot_type = typename Design::slot_type;
  typename Design::part from;
  const u32* left_over;

  TILEHASH_FN item<slot_type> operator()(u64 i) const {
    const u64 at = i + from.slots() / 2;
    item<slot_type> x;
    x.valid = (left_over[i / left_over_bits] >> i % left_over_bits & 1) != 0;
    x.key.bits = slot_type::key_of(from.keys[at]);
    x.key.legal = true;
    if constexpr (!slot_type::is_set) x.value = from.values + at;
    return x;
  }
};
// All pairs of a table, as a source: item i is entry i.
template <class Design>
struct entries_source {
  using slot_type = typename Design::slot_type;
  Design design;

  TILEHASH_FN item<slot_type> operator()(u64 i) const {
    const auto at = design.slot_at(i);
    item<slot_type> x;
    x.valid = !slot_type::is_free(*at);
    x.key.bits = design.key_at(i, *at);
    x.key.legal = true;
    if constexpr (!slot_type::is_set) x.value = design.value_at(at);
    return x;
  }
};

// Counts the taken slots in a sample of the buckets of each subtable. Item i is the sampled bucket
// i % samples of subtable i / samples.
template <class Design>
struct sample_subtables {
  Design design;
  u32 samples;  // of each
  u64* counts;

  TILEHASH_FN void operator()(u64 i) const {
    const u32 table = static_cast<u32>(i / samples);
    const auto part = design.part_of(table);
    const u64 bucket = i % samples * part.buckets / samples;
    u64 taken = 0;
    for (u32 s = 0; s < Design::bucket_slots; ++s)
      taken += !Design::slot_type::is_free(part.keys[bucket * Design::bucket_slots + s]);
    fetch_add(counts + table, taken);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
