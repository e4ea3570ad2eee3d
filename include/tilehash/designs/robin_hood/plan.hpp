// SPDX-License-Identifier: Apache-2.0
// The data that the steps of a Robin Hood table's bulk build (build.hpp) share: ages and numbers packed by
// groups of eight slots, and the bins.
#pragma once

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Ages of eight slots, and the numbers of their buckets' homes, are words of 32 bits: a group.
//
//   one slot a bucket     | 3 . 1 2 1 1 4 1 |  ages      | 2 . 1 3 1 1 1 1 |  numbers, of eight homes
//   eight                 | 3 . 1 2 1 1 4 1 |            |              11 |  of one
template <u32 Slots>
struct age_group {
  static constexpr u32 slots = 8, homes = slots / Slots, age_bits = 4;
  static constexpr u32 bits = age_bits * Slots;  // of a bucket
  static constexpr u32 each_slot = 0x11111111, each_home = Slots == 1   ? 0x11111111
                                                           : Slots == 2 ? 0x01010101
                                                           : Slots == 4 ? 0x00010001
                                                                        : 1;
  static constexpr u32 oldest = 14;  // 15 means that a home has asked at every age
  // The ages at which homes ask first. In a bucket of one slot, its own key already has that slot.
  static constexpr u32 first_asked = (Slots == 1 ? 2 : 1) * each_home;
  // The largest count of a home's keys; one more may wait for a moment.
  static constexpr u32 most = Slots == 1 ? 14 : 14 * Slots;

  // A bit at the lower end of each field of `Width` bits that is not 0.
  template <u32 Width>
  TILEHASH_FN static constexpr u32 some(u32 x) {
    for (u32 by = 1; by < Width; by *= 2) x |= x >> by;
    return x & (Width == age_bits ? each_slot : each_home);
  }
  // The slots of this age; the slots that are younger, or free.
  TILEHASH_FN static constexpr u32 of_age(u32 ages, u32 age) {
    return some<age_bits>(ages ^ age * each_slot) ^ each_slot;
  }
  TILEHASH_FN static constexpr u32 younger(u32 ages, u32 age) {
    constexpr u32 bytes = 0x01010101, low = 15 * bytes;
    const u32 least = 16 * bytes + (age - 1) * bytes;  // bit 4 stays set if age - 1 is not less
    return ((least - (ages & low)) >> 4 & bytes) | (((least - (ages >> 4 & low)) >> 4 & bytes) << 4);
  }
  // The number of these slots in each bucket.
  TILEHASH_FN static constexpr u32 numbers(u32 of_slots) {
    for (u32 by = age_bits; by < bits; by *= 2) of_slots += of_slots >> by;
    return of_slots & each_home * 15;  // 8 at most
  }
  TILEHASH_FN static constexpr u32 field(u32 word, u32 home) {
    return bits == 32 ? word : word >> (home * bits) & ((1U << (bits % 32)) - 1);
  }
  // The sum of the fields before this home's.
  TILEHASH_FN static constexpr u32 before(u32 word, u32 home) {
    if constexpr (homes == 1) {
      return 0;
    } else {
      const u32 x = home == 0 ? 0 : word << (32 - home * bits);  // the fields before it, at the upper end
      if constexpr (bits == age_bits) return ((x & 0x0f0f0f0f) + (x >> 4 & 0x0f0f0f0f)) * 0x01010101 >> 24;
      u32 sum = 0;
      for (u32 h = 0; h < homes; ++h) sum += field(x, h);
      return sum;
    }
  }
  TILEHASH_FN static constexpr u32 age_in(u32 ages, u32 slot) { return ages >> (slot * age_bits) & 15; }
};

// Words of groups, addressed as if each home had a field of a circular array.
template <u32 Slots>
struct age_words {
  using group = age_group<Slots>;
  u32* words;
  u32 groups;

  TILEHASH_FN u32 after(u32 g) const { return g + 1 == groups ? 0 : g + 1; }
  TILEHASH_FN u32 of_bucket(u32 bucket) const {
    return group::field(words[bucket / group::homes], bucket % group::homes);
  }
  // Adds to the fields of a group's worth of homes, from `home` on. first(g): the word of g was 0.
  template <class First>
  TILEHASH_FN void add(u32 home, u32 numbers, const First& first) const {
    const u32 g = home / group::homes, by = home % group::homes * group::bits;
    const u64 both = static_cast<u64>(numbers) << by;
    if (static_cast<u32>(both) != 0 && fetch_add(words + g, static_cast<u32>(both)) == 0) first(g);
    if (both >> 32 != 0 && fetch_add(words + after(g), static_cast<u32>(both >> 32)) == 0) first(after(g));
  }
};

// The data of all steps.
template <class Design>
struct robin_hood_plan {
  using slot_type = typename Design::slot_type;
  using key_bits = typename Design::key_bits;
  using word = typename Design::word;
  using group = age_group<Design::bucket_slots>;
  using words_type = age_words<Design::bucket_slots>;
  using entry = routed_item<slot_type>;
  static constexpr u32 run_groups = 4, run_homes = run_groups * group::homes;

  Design design;
  u32 bin_bits;                    // 2^bin_bits bins
  u32 groups;                      // in all
  u32* memory;                     // five words for each group, the oldest ages, and a list
  u32 offsets[group::oldest + 2];  // of ages: a lookup is cheaper than the computation

  robin_hood_plan(const Design& d, u32 bits, u32 number, u32* counters)
      : design(d), bin_bits(bits), groups(number), memory(counters), offsets{} {
    for (u32 age = 1; age < group::oldest + 2; ++age) offsets[age] = d.homes().at(0, age);
  }
  TILEHASH_FN u32 at(u32 home, u32 age) const {
    const u32 n = design.homes().buckets(), by = offsets[age];
    return home >= n - by ? home - (n - by) : home + by;
  }
  TILEHASH_FN u32 home_of(u32 bucket, u32 age) const {
    const u32 n = design.homes().buckets(), by = offsets[age];
    return bucket >= by ? bucket - by : bucket + (n - by);
  }
  TILEHASH_FN words_type array(u32 nth) const { return {memory + static_cast<u64>(nth) * groups, groups}; }
  // For each group: how many keys its homes have, and where their items begin. They are read together.
  struct alignas(8) keys_of_group {
    u32 counts, first;
  };
  TILEHASH_FN keys_of_group* keys() const { return reinterpret_cast<keys_of_group*>(memory); }
  TILEHASH_FN words_type ages() const { return array(2); }
  TILEHASH_FN words_type waiting() const { return array(3); }
  TILEHASH_FN words_type next() const { return array(4); }  // the age at which a home asks next
  // The oldest age given so far, in many words, as all threads update it and neighbours have equal ages.
  static constexpr u32 oldest_words = tuning::table::age_words, apart = 8;
  TILEHASH_FN u32* oldest(u64 nth) const { return array(5).words + nth / 32 % oldest_words * apart; }
  // The waiting groups when few wait, and their number, which may exceed the list's capacity.
  TILEHASH_FN u32* listed() const { return oldest(0) + u64(oldest_words) * apart; }
  TILEHASH_FN u32* list() const { return listed() + 1; }
  TILEHASH_FN u32 list_capacity() const { return capacity_of_list(groups); }
  static constexpr u64 zeros = u64(oldest_words) * apart + 1;
  TILEHASH_FN static constexpr u32 capacity_of_list(u64 groups) { return static_cast<u32>(groups / 32) + 64; }
  static u64 words(u64 groups) { return 5 * groups + zeros + capacity_of_list(groups); }

  // The maximum age of a home without waiting keys: the age at which it asked last.
  TILEHASH_FN u32 farthest(u32 home) const { return next().of_bucket(home) - u32(Design::bucket_slots == 1); }

  // ---- the route of a partition (algorithm/partition.hpp) ----
  static constexpr bool neighbours_go_together = Design::sequence::keeps_neighbours;
  TILEHASH_FN u32 regions() const { return 1U << bin_bits; }
  TILEHASH_FN key_bits hash(key_bits key) const { return design.hash(key); }
  TILEHASH_FN u32 region_of(key_bits h) const {
    return design.homes().position_of_hash(h).home / run_homes & (regions() - 1);
  }
  // The number of an item's home in its bin, and the reverse.
  TILEHASH_FN u32 in_bin(key_bits h) const {
    const u32 home = design.homes().position_of_hash(h).home;
    return (home / run_homes >> bin_bits) * run_homes + home % run_homes;
  }
  TILEHASH_FN u32 bin_groups() const {  // at most
    return ((groups - 1) / run_groups / regions() + 1) * run_groups;
  }
  TILEHASH_FN u64 group_of(u32 bin, u32 nth) const {
    return (static_cast<u64>(nth / run_groups) << bin_bits | bin) * run_groups + nth % run_groups;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
