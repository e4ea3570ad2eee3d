// The step of a Robin Hood table's bulk build (build.hpp) that matches homes with slots.
//
//   homes of a group, the age that each asks at    | 2 2 2 3 . 2 2 . |          those of one age ask together
//   their slots at age 2, parts of two groups      .. | 1 . 1 1 | 2 1 1 . | ..
//
// Who has a slot of an older age keeps it; who is put out waits, for his group's next turn. Nothing here
// knows keys.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/designs/robin_hood/plan.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// A pass: the homes of each group ask for slots, until none of their keys waits that could go on.
template <class Design>
struct robin_hood_match {
  using plan_type = robin_hood_plan<Design>;
  using group = typename plan_type::group;

  plan_type plan;

  TILEHASH_FN void operator()(u64 g) const {
    u32* const waiting = plan.waiting().words + g;
    u32 wait = load_relaxed(waiting);
    if (wait == 0) return;
    const u32 first_home = static_cast<u32>(g) * group::homes;
    u32 next = plan.next().words[g], oldest = 0;
    for (;;) {  // a turn takes a home an age further, or places all its keys
      const u32 everywhere = equal_homes(next, group::oldest + 1);
      const u32 who = group::template some<group::bits>(wait) & ~everywhere;
      if (who == 0) break;
      const u32 age = group::field(next, lowest(who) / group::bits);
      const u32 asking = who & equal_homes(next, age), wanted = wait & asking * field_mask;
      const u32 bucket = plan.design.homes().at(first_home, age);
      const u32 by = bucket % group::homes * group::bits, where = bucket / group::homes;
      const u64 both = static_cast<u64>(wanted) << by;
      const u64 low = take(where, age, static_cast<u32>(both));
      const u64 high = take(plan.ages().after(where), age, static_cast<u32>(both >> 32));
      const u32 took = static_cast<u32>((high << 32 | low) >> by);
      // Where a slot is all there is to ask for, it is no use to ask again; else where some were refused.
      next += Design::bucket_slots == 1 ? asking : group::template some<group::bits>(wanted - took);
      if (took != 0 && age > oldest) oldest = age;
      wait = took == 0 ? load_relaxed(waiting) : fetch_add(waiting, 0 - took) - took;
    }
    plan.next().words[g] = next;
    if (oldest > load_relaxed(plan.oldest(g))) fetch_max(plan.oldest(g), oldest);
  }

 private:
  static constexpr u32 field_mask = group::bits == 32 ? ~0U : (1U << (group::bits % 32)) - 1;

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
  // Takes what can be had for so many keys of each home, which are this old there; who was there waits. Gives
  // how many each home got.
  TILEHASH_FN u32 take(u32 g, u32 age, u32 wanted) const {
    if (wanted == 0) return 0;
    u32* const at = plan.ages().words + g;
    u32 ages = load_relaxed(at), chosen = 0;
    for (;;) {  // again when others were faster: ages only grow
      chosen = choose(ages, age, wanted);
      if (chosen == 0) return 0;
      const u32 seen = compare_and_swap(at, ages, (ages & ~(chosen * 15)) | chosen * age);
      if (seen == ages) break;
      ages = seen;
    }
    for (u32 out = chosen & group::template some<group::age_bits>(ages); out != 0;) {
      const u32 its_age = group::age_in(ages, lowest(out) / group::age_bits);
      const u32 same = out & group::of_age(ages, its_age);
      plan.waiting().add(plan.design.homes().home_of(g * group::homes, its_age), group::numbers(same));
      out ^= same;
    }
    return group::numbers(chosen);
  }
};

}  // namespace tilehash::inline TILEHASH_ABI::detail
