// What doubling and halving a subtable do, bucket by bucket, from its memory to a new one.
//
//   doubling   loc  | a . b c |   -->   loc       | a . . c |     each pair into the slot that it has,
//                                       loc + n   | . . b . |     so no two meet and no lock is needed
//
//   halving    loc      | a . b c |  -->  loc     | a d b c |     those of loc stay where they are, those
//              loc + n  | . d e . |                               of loc + n fill the gaps: e is left over
//
// The old memory is read and not written. What is left over stays in it, named by a bit each, until it stands
// in other subtables.
//
// Source: Li et al., Dynamic Hash Tables on GPUs, section 5.3.
#pragma once

#include <tilehash/core/apart_slot.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

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

// Item i is bucket i of the new subtable.
template <class Design>
struct halve_subtable {
  using slot_type = typename Design::slot_type;
  using word = typename Design::word;
  static constexpr u32 slots = Design::bucket_slots;

  typename Design::part from, to;
  u32* left_over;  // by new buckets: a bit for each slot of the old bucket loc + n

  TILEHASH_FN void operator()(u64 i) const {
    const u64 low = i * slots, high = (i + to.buckets) * slots;
    u32 left = 0, gap = 0;
    for (u32 s = 0; s < slots; ++s) {
      const word w = from.keys[low + s];
      to.keys[low + s] = w;
      if (!slot_type::is_free(w)) copy(low + s, low + s);
    }
    for (u32 s = 0; s < slots; ++s) {
      const word w = from.keys[high + s];
      if (slot_type::is_free(w)) continue;
      while (gap < slots && !slot_type::is_free(to.keys[low + gap])) ++gap;
      if (gap == slots) {
        left |= 1U << s;
      } else {
        to.keys[low + gap] = w;
        copy(low + gap, high + s);
      }
    }
    left_over[i] = left;
  }

 private:
  TILEHASH_FN void copy(u64 to_slot, u64 from_slot) const {
    if constexpr (!slot_type::is_set) copy_value(to.values + to_slot, from.values + from_slot);
  }
};

// What was left over, as a source (core/item.hpp): item i is slot i of the upper half of the old subtable.
template <class Design>
struct left_over_source {
  using slot_type = typename Design::slot_type;
  typename Design::part from;
  const u32* left_over;

  TILEHASH_FN item<slot_type> operator()(u64 i) const {
    const u64 at = i + from.slots() / 2;
    item<slot_type> x;
    x.valid = (left_over[i / Design::bucket_slots] >> i % Design::bucket_slots & 1) != 0;
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
    if constexpr (!slot_type::is_set) x.value = design.value_beside(at);
    return x;
  }
};

// How many slots of a subtable are taken, by a sample of its buckets: item i is the i-th that is looked at.
template <class Design>
struct sample_subtable {
  typename Design::part part;
  u64 step;  // from one to the next
  u64* count;

  TILEHASH_FN void operator()(u64 i) const {
    u64 taken = 0;
    for (u32 s = 0; s < Design::bucket_slots; ++s)
      taken += !Design::slot_type::is_free(part.keys[i * step * Design::bucket_slots + s]);
    fetch_add(count, taken);
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
