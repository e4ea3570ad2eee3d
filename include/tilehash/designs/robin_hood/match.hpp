// The step of a Robin Hood table's bulk build (build.hpp) that matches homes with slots.
//
//   homes of a group, the age that each asks at    | 2 2 2 3 . 2 2 . |          those of one age ask together
//   their slots at age 2, parts of two groups      .. | 1 . 1 1 | 2 1 1 . | ..
//
// Who has a slot of an older age keeps it; who is put out waits, and his group goes on the list of the next
// pass. Nothing here knows keys.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/robin_hood/plan.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

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

}  // namespace tilehash::inline TILEHASH_ABI::detail
