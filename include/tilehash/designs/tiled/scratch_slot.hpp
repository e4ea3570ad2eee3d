// SPDX-License-Identifier: Apache-2.0
// The word of an item in a block's scratch while `tiled` builds a region (designs/tiled/build.hpp).
//
// If the first of equal keys is kept (bins in order, algorithm/ordered_bins.hpp), the word has the entry's
// order in place of the value. (Words of 16 bytes name their entries in any case.)
//
// A bit of the word marks a key that was present before a merge. The bit is one that the filter needs in the
// table only; words of 16 bytes have low numbers instead.
#pragma once

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/algorithm/ordered_bins.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/quotient_slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The word of an item in a block's scratch: the slot's word, as the table will have it. `Entries` reads the
// bin's entries.
template <class Design, class Items, class Entries = routed_item<typename Design::slot_type>>
struct tiled_scratch_slot {
  using design_type = Design;
  using slot_type = typename Design::slot_type;
  using entry = routed_item<slot_type>;
  using table_word = typename slot_type::word;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  static constexpr bool is_exact = true;  // equal stored keys in a bucket are equal keys

  static constexpr word was_present =
      static_cast<word>(word(1) << slot_type::filter_shift % (8 * sizeof(word)));  // before a merge

  static constexpr bool keeps_first = requires { &Entries::order_of; };
  static constexpr bool can_keep_first = sizeof(typename slot_type::value_bits) == sizeof(u32);

  Design design;
  Entries entries;
  Items items;   // the bin, if the first of equal keys is kept
  u32 held = 0;  // not used: the number of items that the region had before

  TILEHASH_FN static bool stays(word w) { return (w & was_present) != 0; }
  TILEHASH_FN static word from_table(const auto& /*hashes*/, u32 /*bucket*/, word w, auto /*numbered*/) {
    return static_cast<word>((w & ~slot_type::filter_mask) | was_present);
  }
  TILEHASH_FN static stored_key stored_in(word w) { return slot_type::stored_in(w); }
  TILEHASH_FN static stored_key full_stored(word w) { return stored_in(w); }
  TILEHASH_FN static bool is_free(word w) { return slot_type::is_free(w); }
  TILEHASH_FN static bool is_second(word w) { return slot_type::is_second(stored_in(w)); }
  TILEHASH_FN word make(stored_key n, const word& e, u32 number) const {
    if constexpr (keeps_first)
      return slot_type::make(n, entries.order_of(e, number));
    else
      return slot_type::make(n, entry::value_of(e));
  }
  TILEHASH_FN static word in_other_bucket(word w) {
    return static_cast<word>(slot_type::make(stored_in(w) ^ 2, slot_type::value_of(w)) | (w & was_present));
  }
  TILEHASH_FN u32 mirror(u32 bucket, word w) const { return design.mirror(bucket, stored_in(w)); }
  TILEHASH_FN static u32 filter_index(word w) { return Design::filter_index(stored_in(w)); }
  TILEHASH_FN static bool same_key(word /*a*/, word /*b*/) { return true; }

  // A handle to find an entry again: the word itself, or its number in the bin.
  TILEHASH_FN static word handle(const word& e, u32 number) {
    if constexpr (keeps_first)
      return number;
    else
      return e;
  }
  TILEHASH_FN word entry_at(word handle) const {
    if constexpr (keeps_first)
      return items[handle];
    else
      return handle;
  }
  TILEHASH_FN static u32 number_in(word w) {  // or in a handle
    return static_cast<u32>(w) & ((1U << position_bits) - 1);
  }
  TILEHASH_FN word entry_of(u32 region, u32 bucket, word w) const {
    if constexpr (keeps_first)
      return entries.routed_as(items[number_in(w)]);
    else
      return entry::pack(design.hash_in(region, bucket, stored_in(w)), slot_type::value_of(w));
  }
  // The table's word, without filter bits.
  TILEHASH_FN static word in_table(word w) { return static_cast<word>(w & ~was_present); }
  TILEHASH_FN static void set_value(auto at, const word& e) { store_low_half(at, entry::value_of(e)); }
  // The same, while other threads read the word or replace its value.
  TILEHASH_FN static void replace_value(auto at, const word& e) { replace_low_half(at, entry::value_of(e)); }
  // Combines the word's value with another given one, while other threads do the same.
  template <class Op>
  TILEHASH_FN static void combine_value(auto at, typename slot_type::value_bits given, const Op& op) {
    combine_low_half<typename slot_type::mapped_type>(at, given, op);
  }
  // True if a's item precedes b's, of the same key.
  TILEHASH_FN static bool is_before(word a, word b) {
    return slot_type::value_of(a) < slot_type::value_of(b);
  }
};

// Shared memory has no compare-and-swap of 16 bytes. So 4 bytes represent such a word: a few bits of its key
// and the number of its entry. The scratch has a copy of the entries: in a merge those of the region as it
// was, then those of the bin.
//
//     +-------------------+-----+------+---------------+
//     |  key's bits (16)  | 2nd | used |  number (14)  |
//     +-------------------+-----+------+---------------+
//     |<-------- stored key ------------->|
template <class Design, class Items, class Entries>
  requires(sizeof(typename Design::word) == 16)
struct tiled_scratch_slot<Design, Items, Entries> {
  using design_type = Design;
  using slot_type = typename Design::slot_type;
  using entry = routed_item<slot_type>;
  using table_word = typename slot_type::word;
  using word = u32;
  using stored_key = u32;
  static constexpr bool is_exact = false;
  static constexpr u32 number_bits = 14;  // as tiled_build::most_slots
  static constexpr bool keeps_first = requires { &Entries::order_of; }, can_keep_first = true;

  Design design;
  Entries entries;
  Items items;
  u32 held = 0;  // the number of items that the region had before

  TILEHASH_FN bool stays(word w) const { return number_in(w) < held; }
  // A slot of the table; its entry gets a number.
  TILEHASH_FN word from_table(const auto& hashes, u32 bucket, const table_word& w, auto numbered) const {
    const auto n = slot_type::stored_in(w);
    const u32 number = fetch_add(numbered, u32(1));
    items[number] = entry::pack(hashes(design.first_bucket(bucket, n), slot_type::remainder_of(n)),
                                slot_type::value_of(w));
    return make(n, w, number);
  }
  TILEHASH_FN static stored_key stored_in(word w) { return w >> number_bits; }
  TILEHASH_FN static bool is_free(word w) { return (w >> number_bits & 1) == 0; }
  TILEHASH_FN static bool is_second(word w) { return (w >> number_bits & 2) != 0; }
  TILEHASH_FN static word make(typename slot_type::stored_key n, const table_word& /*entry*/, u32 number) {
    return static_cast<u32>(n & 0x3ffff) << number_bits | number;
  }
  TILEHASH_FN static word in_other_bucket(word w) { return w ^ 2U << number_bits; }
  TILEHASH_FN u32 mirror(u32 bucket, word w) const { return design.mirror(bucket, full_stored(w)); }
  TILEHASH_FN u32 filter_index(word w) const { return Design::filter_index(full_stored(w)); }
  TILEHASH_FN bool same_key(word a, word b) const {
    const table_word x = items[number_in(a)], y = items[number_in(b)];
    return entries.hash_of(x) == entries.hash_of(y);
  }
  TILEHASH_FN typename slot_type::stored_key full_stored(word w) const {
    const table_word e = items[number_in(w)];
    return slot_type::stored_as(entries.hash_of(e) & slot_type::remainder_mask, is_second(w));
  }

  TILEHASH_FN static word handle(const table_word& /*entry*/, u32 number) { return number; }
  TILEHASH_FN table_word entry_at(word handle) const { return items[handle]; }
  TILEHASH_FN static u32 number_in(word w) { return w & ((1U << number_bits) - 1); }
  TILEHASH_FN table_word entry_of(u32 /*region*/, u32 /*bucket*/, word w) const {
    return entries.routed_as(items[number_in(w)]);
  }
  TILEHASH_FN table_word in_table(word w) const {
    if (is_free(w)) return 0;
    return slot_type::make(full_stored(w), entry::value_of(entry_of(0, 0, w)));
  }
  TILEHASH_FN bool is_before(word a, word b) const {
    const table_word x = items[number_in(a)], y = items[number_in(b)];
    return entries.order_of(x, number_in(a)) < entries.order_of(y, number_in(b));
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
