// SPDX-License-Identifier: Apache-2.0
// The step of a Robin Hood table's bulk build (build.hpp) that matches homes with slots.
//
//   homes of a group, the age that each asks at    | 2 2 2 3 . 2 2 . |          those of one age ask together
//   their slots at age 2, parts of two groups      .. | 1 . 1 1 | 2 1 1 . | ..
//
// A slot keeps the older key. The evicted one waits for its group's next turn. This file handles counts and
// ages only, no keys.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/robin_hood/plan.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A pass: in each group with waiting keys the homes ask, turn by turn, a few times. The homes with most
// requests would hold up all others, so they go on in the next pass, together with keys evicted meanwhile.
// Several groups far apart are read together in passes in which most groups have no waiting key.
template <class Design, u32 LookedAt>
struct robin_hood_match {
  using plan_type = robin_hood_plan<Design>;
  using group = typename plan_type::group;

  plan_type plan;
  bool first;  // no home has asked yet
  u32 most_turns;

  static u64 calls(const plan_type& plan) { return divide_up(plan.groups, LookedAt); }

  TILEHASH_FN void operator()(u64 i) const {
    const u64 apart = (plan.groups - 1) / LookedAt + 1;
    u32 found = 0, oldest = 0;
    TILEHASH_UNROLL
    for (u32 k = 0; k < LookedAt; ++k) {
      const u64 g = i + k * apart;
      if (g < plan.groups && (first || load_relaxed(plan.waiting().words + g) != 0)) found |= 1U << k;
    }
    for (; found != 0; found &= found - 1) {
      asking_group at = begin(static_cast<u32>(i + lowest(found) * apart));
      u32 homes = asking(at);
      for (u32 turns = 0; homes != 0 && turns < most_turns; ++turns, homes = asking(at)) {
        const u32 age = turn(at, homes, [](u32) {});
        if (age > oldest) oldest = age;
      }
      end(at);
    }
    record_oldest(i, oldest);
  }

 protected:
  static constexpr u32 field_mask = group::bits == 32 ? ~0U : (1U << (group::bits % 32)) - 1;

  // A group whose homes ask.
  struct asking_group {
    u32 g = 0;
    u32 wait = 0;  // its waiting keys, as far as is known: others may evict more
    u32 next = 0;  // the ages at which the homes ask
    u32 got = 0;   // keys that have slots, not yet subtracted in memory
  };
  TILEHASH_FN asking_group begin(u32 g) const {
    const u32 next = first ? group::first_asked : load_relaxed(plan.next().words + g);
    return {g, load_relaxed(plan.waiting().words + g), next, 0};
  }
  TILEHASH_FN void end(const asking_group& at) const {
    store_relaxed(plan.next().words + at.g, at.next);
    if (at.got != 0) fetch_add(plan.waiting().words + at.g, 0 - at.got);
  }
  TILEHASH_FN void record_oldest(u64 i, u32 oldest) const {
    if (oldest != 0 && oldest > load_relaxed(plan.oldest(i))) fetch_max(plan.oldest(i), oldest);
  }
  TILEHASH_FN static u32 equal_homes(u32 next, u32 age) {
    return group::template some<group::bits>(next ^ age * group::each_home) ^ group::each_home;
  }
  // Homes with waiting keys that have not asked at every age.
  TILEHASH_FN static u32 asking(const asking_group& at) {
    return group::template some<group::bits>(at.wait) & ~equal_homes(at.next, group::oldest + 1);
  }

  // The homes with the age of the first one ask. They advance by an age, or have all slots that they want.
  // Returns the age if any got a slot. first_of(g): keys of homes of the group g were evicted, and none of
  // its keys was waiting.
  template <class First>
  TILEHASH_FN u32 turn(asking_group& at, u32 homes, const First& first_of) const {
    const u32 age = group::field(at.next, lowest(homes) / group::bits);
    const u32 these = homes & equal_homes(at.next, age), wanted = at.wait & these * field_mask;
    const u32 bucket = plan.at(at.g * group::homes, age);
    const u32 by = bucket % group::homes * group::bits;
    const u64 both = take(bucket / group::homes, age, static_cast<u64>(wanted) << by, first_of);
    const u32 got = static_cast<u32>(both >> by);
    // A home asks a bucket of one slot only once; else homes that were refused a slot advance.
    at.next += Design::bucket_slots == 1 ? these : group::template some<group::bits>(wanted - got);
    at.wait -= got, at.got += got;
    return got != 0 ? age : 0;
  }

  // A request to one group of slots.
  struct request {
    u32* at;
    u32 wanted;      // keys of each bucket's asking home
    u32 ages = 0;    // the current content
    u32 chosen = 0;  // slots to take
    u32 seen = 0;    // the content at the compare-and-swap
  };
  // Takes slots of two neighbouring groups for so many keys of each home, which have this age there; the
  // evicted keys wait. Returns how many each home got. Both requests are in flight together; at the first
  // ages there is only one (homes.hpp).
  template <class First>
  TILEHASH_FN u64 take(u32 g, u32 age, u64 wanted, const First& first_of) const {
    request low{plan.ages().words + g, static_cast<u32>(wanted)};
    if (wanted >> 32 == 0) {
      low.ages = load_relaxed(low.at);
      low.chosen = choose(low.ages, age, low.wanted);
      swap(low, age);
      settle(low, age);
      put_out(g, low, first_of);
      return group::numbers(low.chosen);
    }
    const u32 after = plan.ages().after(g);
    request high{plan.ages().words + after, static_cast<u32>(wanted >> 32)};
    if (low.wanted != 0) low.ages = load_relaxed(low.at);
    high.ages = load_relaxed(high.at);
    low.chosen = choose(low.ages, age, low.wanted), high.chosen = choose(high.ages, age, high.wanted);
    swap(low, age), swap(high, age);
    settle(low, age), settle(high, age);
    put_out(g, low, first_of), put_out(after, high, first_of);
    return static_cast<u64>(group::numbers(high.chosen)) << 32 | group::numbers(low.chosen);
  }
  // The slots of a group that this many keys of each bucket's asking home take, those of the youngest first.
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
  TILEHASH_FN static void swap(request& r, u32 age) {
    r.seen = r.ages;
    if (r.chosen != 0) r.seen = compare_and_swap(r.at, r.ages, (r.ages & ~(r.chosen * 15)) | r.chosen * age);
  }
  TILEHASH_FN static void settle(request& r, u32 age) {
    while (r.seen != r.ages) {  // other threads were faster: ages only grow
      r.ages = r.seen;
      r.chosen = choose(r.ages, age, r.wanted);
      swap(r, age);
    }
  }
  template <class First>
  TILEHASH_FN void put_out(u32 g, const request& r, const First& first_of) const {
    for (u32 out = r.chosen & group::template some<group::age_bits>(r.ages); out != 0;) {
      const u32 its_age = group::age_in(r.ages, lowest(out) / group::age_bits);
      const u32 same = out & group::of_age(r.ages, its_age);
      plan.waiting().add(plan.home_of(g * group::homes, its_age), group::numbers(same), first_of);
      out ^= same;
    }
  }
};

// Lists the groups whose keys wait.
template <class Design>
struct robin_hood_list_waiting {
  robin_hood_plan<Design> plan;
  TILEHASH_FN void operator()(u64 g) const {
    if (load_relaxed(plan.waiting().words + g) == 0) return;
    const u32 at = fetch_add(plan.listed(), u32(1));
    if (at < plan.list_capacity()) plan.list()[at] = static_cast<u32>(g);
  }
};

// For the time when few keys wait: a lane takes a group of the list, and follows the keys that it evicts. The
// lane that evicts the first waiting key of a group owns that group, so none has two owners. When none of its
// keys waits, the next lane that evicts one takes it over. Keys beyond a lane's memory or its limit of steps
// still wait afterwards.
template <class Design>
struct robin_hood_follow : robin_hood_match<Design, 1> {
  using base = robin_hood_match<Design, 1>;
  using base::plan;
  using typename base::asking_group;
  static constexpr u32 in_mind = 8, most_steps = 128;

  explicit robin_hood_follow(const typename base::plan_type& p) : base{p, false, 1} {}

  TILEHASH_FN void operator()(u64 i) const {
    const u32 listed = load_relaxed(plan.listed());
    if (i >= listed || i >= plan.list_capacity()) return;
    u32 groups[in_mind], begin = 0, count = 0, oldest = 0;
    const auto keep = [&](u32 g) {
      if (count < in_mind) groups[(begin + count++) % in_mind] = g;
    };
    keep(plan.list()[i]);
    for (u32 steps = 0; count != 0 && steps < most_steps; ++steps) {
      const u32 g = groups[begin];
      begin = (begin + 1) % in_mind, --count;
      device_fence();  // the writes of its last owner
      asking_group at = base::begin(g);
      const u32 homes = base::asking(at);
      if (homes == 0) continue;  // its keys have asked at every age
      const u32 age = base::turn(at, homes, keep);
      if (age > oldest) oldest = age;
      store_relaxed(plan.next().words + g, at.next);
      device_fence();
      if (at.got == 0 || fetch_add(plan.waiting().words + g, 0 - at.got) != at.got) keep(g);
    }
    base::record_oldest(i, oldest);
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
