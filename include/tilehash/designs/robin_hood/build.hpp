// The bulk build of a Robin Hood table: who stands where is settled by counting, before any key is moved.
//
//   items --partition--> bins --sort--> | items, home by home |  and of each home, how many
//                                                |
//   homes:  . 2 1 . 3 1 ...    how many    match: each home asks for slots at age 1, 2, ... for those that
//   slots:  1 1 2 1 . 3 ...    the ages    wait; a slot takes the oldest, and who is put out waits again
//                                                |
//   table:  | a b c d . e ... |  <--write-- each slot fetches the item that its age says
//
// All keys of a home go the same way, so to each other they are alike, and Robin Hood's rule asks only how
// old they are. So it can be played out with counts and ages of four bits, which are a sixteenth of the
// table, and eight homes at a time. A home that has been refused at an age is refused there for ever, as ages
// only grow: in whatever order homes ask, each ends with the same slots (it is Gale's and Shapley's stable
// matching of homes with slots), those that inserting one by one gives.
//
// The first pass lets the homes of all groups ask. Who is put out of a place waits, and his group goes on a
// list, whose homes ask in the next pass: half as many at load 0.85, four fifths at 0.95. After as many
// passes as the load makes worth it few wait still. They, keys that would be older than 14, and those of
// homes that have more than there is room to count, go to the spill, and are inserted one by one.
//
// A bin has the homes of chunks of 32 slots, every so many of the table, as a picture's rows fill stretches
// of it unevenly. Equal keys have one home, so they meet in a bin, where one stays.
#pragma once

#include <tilehash/algorithm/block_scan.hpp>
#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

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
  static constexpr u32 oldest = 14;  // 15 says that a home has been everywhere
  // A home's keys that are counted; one more may wait for a moment.
  static constexpr u32 most = Slots == 1 ? 14 : 14 * Slots;

  // A bit at the lower end of each field of `Width` bits that is not 0.
  template <u32 Width>
  TILEHASH_FN static constexpr u32 some(u32 x) {
    for (u32 by = 1; by < Width; by *= 2) x |= x >> by;
    return x & (Width == age_bits ? each_slot : each_home);
  }
  // The slots of this age; those that are younger, or free.
  TILEHASH_FN static constexpr u32 of_age(u32 ages, u32 age) {
    return some<age_bits>(ages ^ age * each_slot) ^ each_slot;
  }
  TILEHASH_FN static constexpr u32 younger(u32 ages, u32 age) {
    constexpr u32 bytes = 0x01010101, low = 15 * bytes;
    const u32 least = 16 * bytes + (age - 1) * bytes;  // bit 4 stays where age - 1 is not less
    return ((least - (ages & low)) >> 4 & bytes) | (((least - (ages >> 4 & low)) >> 4 & bytes) << 4);
  }
  // How many of these slots each bucket has.
  TILEHASH_FN static constexpr u32 numbers(u32 of_slots) {
    for (u32 by = age_bits; by < bits; by *= 2) of_slots += of_slots >> by;
    return of_slots & each_home * 15;  // 8 at most
  }
  TILEHASH_FN static constexpr u32 field(u32 word, u32 home) {
    return bits == 32 ? word : word >> (home * bits) & ((1U << (bits % 32)) - 1);
  }
  TILEHASH_FN static constexpr u32 age_in(u32 ages, u32 slot) { return ages >> (slot * age_bits) & 15; }
};

// Words of groups, as if homes had fields of an array that goes round.
template <u32 Slots>
struct age_words {
  using group = age_group<Slots>;
  u32* words;
  u32 groups;

  TILEHASH_FN u32 after(u32 g) const { return g + 1 == groups ? 0 : g + 1; }
  TILEHASH_FN u32 of_bucket(u32 bucket) const {
    return group::field(words[bucket / group::homes], bucket % group::homes);
  }
};

// What all steps know.
template <class Design>
struct robin_hood_plan {
  using slot_type = typename Design::slot_type;
  using key_bits = typename Design::key_bits;
  using word = typename Design::word;
  using group = age_group<Design::bucket_slots>;
  using words_type = age_words<Design::bucket_slots>;
  using entry = routed_item<slot_type>;
  static constexpr u32 chunk_groups = 4, chunk_homes = chunk_groups * group::homes;
  static constexpr u64 most_groups = 1024;  // of a bin: half a GPU's block can hold

  Design design;
  u32 bin_bits;  // 2^bin_bits bins
  u32 groups;    // in all
  u32 lists;
  u32 in_a_list;  // groups, at most
  u32* memory;    // five words for each group, and the lists
  TILEHASH_FN words_type array(u32 nth) const { return {memory + static_cast<u64>(nth) * groups, groups}; }
  TILEHASH_FN words_type ages() const { return array(0); }
  TILEHASH_FN words_type counts() const { return array(1); }  // of keys, by homes
  TILEHASH_FN words_type waiting() const { return array(2); }
  TILEHASH_FN words_type next() const { return array(3); }    // the age at which a home asks next
  TILEHASH_FN words_type firsts() const { return array(4); }  // where the items of a group's homes begin
  // Groups that wait for the next pass stand in lists, as many as make the threads that add to them meet
  // seldom; a list that is full takes no more. Two sets of them serve the passes in turn.
  static constexpr u32 apart = 8;  // words from one list's counter to the next
  static constexpr u32 most_passes = 48;
  static u32 lists_for(u32 groups) { return groups < 1U << 17 ? 16 : 256; }
  static u32 list_room(u32 groups) { return groups / (2 * lists_for(groups)) + 64; }
  TILEHASH_FN u32* behind() const { return array(5).words; }
  TILEHASH_FN u32* listed(u32 pass, u32 list) const {
    return behind() + (static_cast<u64>(pass % 2) * lists + list) * in_a_list;
  }
  TILEHASH_FN u32* numbers() const { return behind() + static_cast<u64>(2 * lists) * in_a_list; }
  TILEHASH_FN u32* length(u32 pass, u32 list) const {
    return numbers() + (static_cast<u64>(pass) * lists + list) * apart;
  }
  // A group stands in one list, once: two who ask for a home at once would get its slots twice.
  TILEHASH_FN u32* listed_bits() const { return length(most_passes + 1, 0); }
  TILEHASH_FN void list(u32 pass, u32 g) const {
    if (!try_lock(listed_bits(), g)) return;
    const u32 which = g % lists, at = fetch_add(length(pass, which), u32(1));
    if (at < in_a_list) listed(pass, which)[at] = g;
  }
  // The oldest age that was given: of each list's groups.
  TILEHASH_FN u32* oldest(u32 g) const { return length(most_passes, g % lists); }
  static u64 zeros(u32 groups) { return u64(most_passes + 1) * lists_for(groups) * apart + groups / 32 + 1; }
  static u64 words(u32 groups) {
    return 5 * u64(groups) + 2 * u64(lists_for(groups)) * list_room(groups) + zeros(groups);
  }

  // How far a home's keys have gone, unless some wait: it asked last where it got all it wanted.
  TILEHASH_FN u32 farthest(u32 home) const { return next().of_bucket(home) - u32(Design::bucket_slots == 1); }

  // ---- the route of a partition (algorithm/partition.hpp) ----
  TILEHASH_FN u32 regions() const { return 1U << bin_bits; }
  TILEHASH_FN key_bits hash(key_bits key) const { return design.hash(key); }
  TILEHASH_FN u32 region_of(key_bits h) const {
    return design.homes().position_of_hash(h).home / chunk_homes & (regions() - 1);
  }
  // The number of an item's home in its bin; and back.
  TILEHASH_FN u32 in_bin(key_bits h) const {
    const u32 home = design.homes().position_of_hash(h).home;
    return (home / chunk_homes >> bin_bits) * chunk_homes + home % chunk_homes;
  }
  TILEHASH_FN u32 bin_groups() const {  // at most
    return ((groups - 1) / chunk_groups / regions() + 1) * chunk_groups;
  }
  TILEHASH_FN u64 group_of(u32 bin, u32 nth) const {
    return (static_cast<u64>(nth / chunk_groups) << bin_bits | bin) * chunk_groups + nth % chunk_groups;
  }
};

// Sorts a bin's items by their homes, and counts these.
template <class Design, u32 Threads>
struct robin_hood_sort {
  using plan_type = robin_hood_plan<Design>;
  using word = typename Design::word;
  using entry = typename plan_type::entry;
  using group = typename plan_type::group;
  using sums = block_sums<Threads>;
  static constexpr u32 block_size = Threads, resident_blocks = 3, homes_each = group::homes;

  plan_type plan;
  even_bins<word> bins;
  spill_list<word> spill;
  u64* inserted;

  // Scratch: the items; of each home, where its items end, with a gap after 32 of them, which keeps threads
  // that have some homes each in different banks; and some numbers.
  TILEHASH_FN static constexpr u64 padded(u64 h) { return h + h / 32; }
  static constexpr u64 ends_at(u64 room) { return (room * sizeof(word) + 15) / 16 * 16; }
  static constexpr u64 scratch_bytes(u64 room, u64 groups) {
    return ends_at(room) + (padded(groups * homes_each) + sums::words + 1) * sizeof(u32);
  }

  template <class Block>
  TILEHASH_FN void operator()(Block block) const {
    const u32 bin = static_cast<u32>(block.index()), n = bins.size(bin), me = block.rank(),
              all = block.size();
    const u32 groups = plan.bin_groups(), homes = static_cast<u32>(padded(groups * homes_each));
    const auto items = block.template scratch<word>();
    const auto ends = block.template scratch<u32>(ends_at(bins.room));
    const auto uneven = ends + homes, scratch = uneven + 1;
    word* const in_bin = bins.at(bin);
    const auto home_of = [&](const word& e) { return plan.in_bin(entry::hash_of(e)); };
    const auto begin_of = [&](u32 h) { return h == 0 ? 0 : u32(ends[padded(h - 1)]); };
    const u32 each = (groups - 1) / all + 1, from = me * each < groups ? me * each : groups;
    const u32 to = groups - from < each ? groups : from + each;
    const u32 first_home = from * homes_each, last_home = to * homes_each;

    for (u32 h = me; h < homes; h += all) ends[h] = 0;
    if (me == 0) uneven[0] = 0;
    block.barrier();
    visit(in_bin, n, me, all, [&](const word& e) { fetch_add(ends + padded(home_of(e)), u32(1)); });
    block.barrier();
    u32 mine = 0, sum = 0;
    for (u32 h = first_home; h < last_home; ++h) mine += u32(ends[padded(h)]);
    u32 start = sums::before(block, scratch, mine, sum);
    for (u32 h = first_home; h < last_home; ++h) {
      const u32 its = ends[padded(h)];
      ends[padded(h)] = start;
      start += its;
    }
    block.barrier();
    visit(in_bin, n, me, all,
          [&](const word& e) { items[fetch_add(ends + padded(home_of(e)), u32(1))] = e; });
    block.barrier();

    // Are there equal keys, or more of a home than can be counted?
    for (u32 j = me; j < n; j += all) {
      const word e = items[j];
      const u32 begin = begin_of(home_of(e));
      bool odd = j - begin >= group::most;
      for (u32 k = begin; !odd && k < j; ++k) odd = entry::hash_of(items[k]) == entry::hash_of(e);
      if (odd) set_bits(uneven, u32(1));
      in_bin[j] = e;
    }
    block.barrier();
    const u32 begin = begin_of(first_home);
    if (uneven[0] == 0) {
      start_groups(bin, from, to, bin * bins.room + begin,
                   [&](u32 h) { return u32(ends[padded(h)]) - begin_of(h); });
      if (me == 0) fetch_add(inserted, static_cast<u64>(n));
      return;
    }
    u32 kept = 0;
    for (u32 h = first_home, first = begin; h < last_home; ++h) {
      const u32 end = ends[padded(h)];
      kept += keep_one_of_each(items, first, end);
      first = end;
    }
    u32 goes_to = sums::before(block, scratch, kept, sum), first = begin;
    start_groups(bin, from, to, bin * bins.room + goes_to, [&](u32 h) {
      const u32 end = ends[padded(h)], its = count_kept(items, first, end);
      for (u32 k = 0; k < its; ++k) in_bin[goes_to + k] = items[first + k];
      goes_to += its, first = end;
      return its;
    });
    if (me == 0) fetch_add(inserted, static_cast<u64>(sum));
  }

 private:
  template <class Use>
  TILEHASH_FN static void visit(const word* items, u32 n, u32 me, u32 all, const Use& use) {
    constexpr u32 at_once = 4;
    for (u32 first = me; first < n; first += at_once * all) {
      word e[at_once];
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) e[k] = items[first + k * all];
      }
      TILEHASH_UNROLL
      for (u32 k = 0; k < at_once; ++k) {
        if (first + k * all < n) use(e[k]);
      }
    }
  }
  // Of equal keys among a home's items the first stays; those that stay close up, and behind them stands the
  // first once more. Gives how many stay.
  template <class Items>
  TILEHASH_FN u32 keep_one_of_each(Items items, u32 first, u32 end) const {
    u32 kept = 0;
    for (u32 j = first; j < end; ++j) {
      const word e = items[j];
      bool known = false;
      for (u32 k = 0; k < kept; ++k) known |= entry::hash_of(items[first + k]) == entry::hash_of(e);
      if (known) continue;
      if (kept < group::most)
        items[first + kept++] = e;
      else
        spill.add(e);
    }
    if (first + kept < end) items[first + kept] = items[first];
    return kept;
  }
  template <class Items>
  TILEHASH_FN static u32 count_kept(Items items, u32 first, u32 end) {
    u32 kept = first < end;
    while (first + kept < end && entry::hash_of(items[first + kept]) != entry::hash_of(items[first])) ++kept;
    return kept;
  }
  // Some groups of a bin, whose items stand from `at` on. All homes have their first slots: nobody else asks
  // for these at age 1.
  template <class Number>
  TILEHASH_FN void start_groups(u32 bin, u32 from, u32 to, u32 at, const Number& number_of) const {
    for (u32 nth = from; nth < to; ++nth) {
      const u64 g = plan.group_of(bin, nth);
      if (g >= plan.groups) return;
      u32 number = 0, ages = 0, waiting = 0, sum = 0;
      TILEHASH_UNROLL
      for (u32 h = 0; h < homes_each; ++h) {
        const u32 its = number_of(nth * homes_each + h);
        const u32 there = its < Design::bucket_slots ? its : Design::bucket_slots;
        const u32 by = h * group::bits % 32,
                  slots = static_cast<u32>((u64(1) << there * group::age_bits) - 1);
        number |= its << by, waiting |= (its - there) << by, ages |= (group::each_slot & slots) << by;
        sum += its;
      }
      plan.counts().words[g] = number;
      plan.ages().words[g] = ages;
      plan.waiting().words[g] = waiting;
      plan.next().words[g] = (Design::bucket_slots == 1 ? 2 : 1) * group::each_home;
      plan.firsts().words[g] = at;
      at += sum;
    }
  }
};

// The homes of groups ask for slots, until none of their keys waits that could go on: in the first pass those
// of all groups, a group a turn, then those of the groups that are listed, some a turn.
template <class Design>
struct robin_hood_match {
  using plan_type = robin_hood_plan<Design>;
  using group = typename plan_type::group;

  plan_type plan;
  u32 pass;
  u32 turns;  // of a pass but the first: so many for each list

  TILEHASH_FN void operator()(u64 i) const {
    if (pass == 0) return ask(static_cast<u32>(i));
    const u32 which = static_cast<u32>(i) % plan.lists, came = *plan.length(pass, which);
    const u32 length = came < plan.in_a_list ? came : plan.in_a_list;
    for (u32 k = static_cast<u32>(i) / plan.lists; k < length; k += turns) {
      const u32 g = plan.listed(pass, which)[k];
      unlock(plan.listed_bits(), g);  // who is put out from now on makes it stand in the next list
      ask(g);
    }
  }

 private:
  static constexpr u32 field_mask = group::bits == 32 ? ~0U : (1U << (group::bits % 32)) - 1;

  TILEHASH_FN void ask(u32 g) const {
    u32* const waiting = plan.waiting().words + g;
    u32 wait = load_relaxed(waiting);
    if (wait == 0) return;
    u32 next = plan.next().words[g], oldest = 0;
    for (;;) {  // a turn takes a home an age further, or places all its keys
      const u32 can = ~equal_homes(next, group::oldest + 1);
      u32 who = group::template some<group::bits>(wait) & can;
      if (who == 0) {  // none, unless somebody was put out meanwhile
        wait = load_relaxed(waiting);
        who = group::template some<group::bits>(wait) & can;
        if (who == 0) break;
      }
      const u32 age = group::field(next, lowest(who) / group::bits);
      const u32 asking = who & equal_homes(next, age), wanted = wait & asking * field_mask;
      const u32 took = take(plan.design.homes().at(g * group::homes, age), age, wanted);
      // Where a slot is all there is to ask for, it is no use to ask again; else where some were refused.
      next += Design::bucket_slots == 1 ? asking : group::template some<group::bits>(wanted - took);
      if (took == 0) continue;
      fetch_add(waiting, 0 - took);
      wait -= took;
      if (age > oldest) oldest = age;
    }
    plan.next().words[g] = next;
    if (oldest > load_relaxed(plan.oldest(g))) fetch_max(plan.oldest(g), oldest);
  }

  TILEHASH_FN static u32 equal_homes(u32 next, u32 age) {
    return group::template some<group::bits>(next ^ age * group::each_home) ^ group::each_home;
  }
  // The slots of a group that this many keys of each bucket's asking home take, by the youngest first.
  TILEHASH_FN static u32 choose(u32 ages, u32 age, u32 wanted) {
    u32 younger = group::younger(ages, age);
    if constexpr (Design::bucket_slots == 1) {
      return younger & group::template some<group::bits>(wanted);
    } else {
      u32 chosen = 0;
      for (u32 a = 0; a < age && younger != 0; ++a) {
        u32 these = group::of_age(ages, a) & younger;
        younger &= ~these;
        for (; these != 0; these &= these - 1) {
          const u32 slot = these & (0 - these), home = lowest(these) / group::bits;
          if (group::field(wanted, home) == 0) continue;
          wanted -= 1U << (home * group::bits % 32);
          chosen |= slot;
        }
      }
      return chosen;
    }
  }
  TILEHASH_FN static u32 changed(u32 ages, u32 age, u32 chosen) {
    return (ages & ~(chosen * 15)) | chosen * age;
  }

  // Takes what can be had in the buckets from this one on for so many keys of each home, which are this old
  // there. Gives how many each home got. They lie in two groups: both are asked for before the first answers.
  TILEHASH_FN u32 take(u32 bucket, u32 age, u32 wanted) const {
    const u32 by = bucket % group::homes * group::bits, low = bucket / group::homes;
    const u32 high = plan.ages().after(low);
    const u64 both = static_cast<u64>(wanted) << by;
    const u32 low_wanted = static_cast<u32>(both), high_wanted = static_cast<u32>(both >> 32);
    u32 *const low_at = plan.ages().words + low, *const high_at = plan.ages().words + high;
    const u32 low_ages = low_wanted != 0 ? load_relaxed(low_at) : 0;
    const u32 high_ages = high_wanted != 0 ? load_relaxed(high_at) : 0;
    const u32 low_chosen = choose(low_ages, age, low_wanted);
    const u32 high_chosen = choose(high_ages, age, high_wanted);
    u32 low_seen = low_ages, high_seen = high_ages;
    if (low_chosen != 0) low_seen = compare_and_swap(low_at, low_ages, changed(low_ages, age, low_chosen));
    if (high_chosen != 0)
      high_seen = compare_and_swap(high_at, high_ages, changed(high_ages, age, high_chosen));
    const u64 low_got = settle(low, age, low_wanted, low_chosen, low_ages, low_seen);
    const u64 high_got = settle(high, age, high_wanted, high_chosen, high_ages, high_seen);
    return static_cast<u32>((high_got << 32 | low_got) >> by);
  }
  TILEHASH_FN u32 settle(u32 g, u32 age, u32 wanted, u32 chosen, u32 ages, u32 seen) const {
    while (seen != ages) {  // again when others were faster: ages only grow
      ages = seen;
      chosen = choose(ages, age, wanted);
      if (chosen != 0) seen = compare_and_swap(plan.ages().words + g, ages, changed(ages, age, chosen));
    }
    if (chosen == 0) return 0;
    for (u32 out = chosen & group::template some<group::age_bits>(ages); out != 0;) {
      const u32 its_age = group::age_in(ages, lowest(out) / group::age_bits);
      const u32 same = out & group::of_age(ages, its_age);
      wait_again(plan.design.homes().home_of(g * group::homes, its_age), group::numbers(same));
      out ^= same;
    }
    return group::numbers(chosen);
  }
  // Keys of a group's worth of homes, from this one on, have lost their places.
  TILEHASH_FN void wait_again(u32 home, u32 numbers) const {
    const u32 g = home / group::homes;
    const u64 both = static_cast<u64>(numbers) << (home % group::homes * group::bits);
    add(g, static_cast<u32>(both));
    add(plan.waiting().after(g), static_cast<u32>(both >> 32));
  }
  TILEHASH_FN void add(u32 g, u32 numbers) const {
    if (numbers != 0 && fetch_add(plan.waiting().words + g, numbers) == 0) plan.list(pass + 1, g);
  }
};

// Writes slots: each with the item that its age says, and in a bucket's first, how far its home's keys have
// gone. Some slots far apart at once, as each is a chain of reads.
template <class Design>
struct robin_hood_write {
  using plan_type = robin_hood_plan<Design>;
  using slot_type = typename Design::slot_type;
  using entry = typename plan_type::entry;
  using word = typename Design::word;
  using group = typename plan_type::group;
  static constexpr u32 at_once = 2;  // the capacity is a multiple of it

  plan_type plan;
  const word* items;

  TILEHASH_FN void operator()(u64 i) const {
    const Design& design = plan.design;
    const u64 apart = design.capacity() / at_once;
    u32 bucket[at_once], nth[at_once], ages[at_once], age[at_once], home[at_once];
    u64 at[at_once];
    word content[at_once];
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      const u64 slot = i + k * apart;
      bucket[k] = static_cast<u32>(slot / Design::bucket_slots);
      nth[k] = static_cast<u32>(slot % Design::bucket_slots);
      ages[k] = plan.ages().of_bucket(bucket[k]);
      const u32 code = nth[k] == 0 ? Design::max_code(plan.farthest(bucket[k])) : 0;
      content[k] = slot_type::with_max_code(slot_type::empty_word, code);
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      age[k] = group::age_in(ages[k], nth[k]);
      home[k] = age[k] != 0 ? design.homes().home_of(bucket[k], age[k]) : bucket[k];
      const u32 g = home[k] / group::homes, number = plan.counts().words[g];
      at[k] = plan.firsts().words[g];
      for (u32 h = 0; h < home[k] % group::homes; ++h) at[k] += group::field(number, h);
      at[k] += count_ones(standing_in(ages[k], age[k]) & ((1U << nth[k] * group::age_bits) - 1));
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {  // the nearer ones have the items before it
      for (u32 a = 1; a < age[k]; ++a) at[k] += standing(home[k], a);
    }
    word item[at_once];
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      if (age[k] != 0) item[k] = items[at[k]];
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {
      if (age[k] != 0) {
        const auto p = design.homes().position_of_hash(entry::hash_of(item[k]));
        content[k] = slot_type::written_over(content[k], design.homes().stored_as(age[k], p.remainder),
                                             entry::value_of(item[k]));
      }
      design.slots()[i + k * apart] = content[k];
    }
  }

 private:
  TILEHASH_FN static u32 standing_in(u32 ages, u32 age) {
    return group::of_age(ages, age) & (group::bits == 32 ? ~0U : (1U << (group::bits % 32)) - 1);
  }
  // How many of a home's keys have this age.
  TILEHASH_FN u32 standing(u32 home, u32 age) const {
    return count_ones(standing_in(plan.ages().of_bucket(plan.design.homes().at(home, age)), age));
  }
};

// Keys that wait still go to the spill: a home's last items.
template <class Design>
struct robin_hood_leave {
  using plan_type = robin_hood_plan<Design>;
  using group = typename plan_type::group;

  plan_type plan;
  const typename Design::word* items;
  spill_list<typename Design::word> spill;
  u64* inserted;

  TILEHASH_FN void operator()(u64 g) const {
    const u32 waiting = plan.waiting().words[g];
    if (waiting == 0) return;
    const u32 number = plan.counts().words[g];
    u32 end = plan.firsts().words[g], gone = 0;
    for (u32 h = 0; h < group::homes; ++h) {
      end += group::field(number, h);
      const u32 its = group::field(waiting, h);
      for (u32 k = 1; k <= its; ++k) spill.add(items[end - k]);
      gone += its;
    }
    fetch_add(inserted, ~u64(0) * gone);
  }
};

// The census of a table that was built so.
template <class Design>
struct robin_hood_count {
  robin_hood_plan<Design> plan;
  const u64* inserted;
  TILEHASH_FN void operator()(u64 i) const {
    plan.design.census().begin_with(static_cast<u32>(i), *inserted);
    if (i < plan.lists) plan.design.census().widen(*plan.oldest(static_cast<u32>(i)));
  }
};

// How a table is built so. Its bins take 1.25 words an item beside it, the counts 2.5 bytes a slot.
template <class Design>
struct robin_hood_build {
  using plan_type = robin_hood_plan<Design>;
  using word = typename Design::word;
  using group = typename plan_type::group;
  template <class Space>
  using sort_type = robin_hood_sort<Design, Space::has_lanes ? 512 : 1>;

  Design design;

  u32 groups() const { return static_cast<u32>(design.capacity() / group::slots); }
  template <class Space>
  u32 bin_bits(const Space& space) const {
    const u64 most = most_regions<typename Design::slot_type>(space);
    u32 bits = 0;
    while (u64(groups()) >> bits > plan_type::most_groups && u64(2) << bits <= most && bits < 13) ++bits;
    return bits;
  }
  // Chunks that are full beside others that are empty: a bin of some hundred has a tenth more, or less.
  u64 room_of(u64 n, u32 bins) const {
    const u64 mean = divide_up(n < design.capacity() ? n : design.capacity(), bins);
    return mean + mean / 5 + 64;
  }
  template <class Space>
  bool pays(const Space& space, u64 n) const {
    if (!Space::has_lanes && Design::bucket_slots == 1) return false;  // slower than a core's inserts
    if (design.capacity() % group::slots != 0 || n < design.capacity() / 4) return false;
    const u32 bits = bin_bits(space);
    const u64 room = room_of(n, 1U << bits), each = (u64(groups()) >> bits) + plan_type::chunk_groups;
    return sort_type<Space>::scratch_bytes(room, each) <= space.largest_scratch() && (room << bits) < ~u32(0);
  }
  // Passes after which what waits is better inserted one by one.
  u32 passes(u64 n) const {
    const double free = 1 - static_cast<double>(n) / static_cast<double>(design.capacity());
    constexpr u32 most = plan_type::most_passes - 1;
    return free * most < 2 ? most : 4 + static_cast<u32>(1.4 / free);
  }

  // Of a table that holds nothing; its slots may have anything in them. Does not wait.
  template <class Space, class Source>
  void run(Space& space, const Source& source, u64 n, const spill_list<word>& spill, u64* illegal,
           u64* inserted) const {
    const u32 bits = bin_bits(space), bins = 1U << bits;
    const buffer<u32, Space> counters(space, plan_type::words(groups()));
    const plan_type plan{
        design,         bits, groups(), plan_type::lists_for(groups()), plan_type::list_room(groups()),
        counters.data()};
    space.fill(plan.numbers(), plan_type::zeros(groups()), u32(0));
    const u32 room = static_cast<u32>(room_of(n, bins));
    const buffer<word, Space> items(space, static_cast<u64>(room) * bins);
    const buffer<u32, Space> fill(space, bins);
    space.fill(fill.data(), bins, u32(0));
    const even_bins<word> its_bins{items.data(), room, fill.data()};
    send_by_blocks(space, plan, source, n, its_bins, spill, illegal);
    space.for_each_block(bins, sort_type<Space>::block_size,
                         sort_type<Space>::scratch_bytes(room, plan.bin_groups()),
                         sort_type<Space>{plan, its_bins, spill, inserted});
    using match = robin_hood_match<Design>;
    space.for_each(plan.groups, match{plan, 0, 1});
    const u32 turns = plan.in_a_list / 4 < 1024 ? plan.in_a_list / 4 : 1024;
    for (u32 pass = 1; pass < passes(n); ++pass)
      space.for_each(u64(turns) * plan.lists, match{plan, pass, turns});
    space.for_each(plan.groups, robin_hood_leave<Design>{plan, items.data(), spill, inserted});
    using write = robin_hood_write<Design>;
    space.for_each(design.capacity() / write::at_once, write{plan, items.data()});
    const u64 most = design.due_words() > plan.lists ? design.due_words() : plan.lists;
    space.for_each(most, robin_hood_count<Design>{plan, inserted});
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
