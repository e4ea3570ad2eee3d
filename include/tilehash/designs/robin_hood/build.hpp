// SPDX-License-Identifier: Apache-2.0
// The bulk build of a Robin Hood table: every key's slot is settled by counting, before any key is moved.
//
//   items --partition--> bins --sort--> | items, home by home |  and of each home, how many
//                                                |
//   homes:  . 2 1 . 3 1 ...    how many    match: each home asks for slots at age 1, 2, ... for its waiting
//   slots:  1 1 2 1 . 3 ...    the ages    keys; a slot takes the oldest, and the evicted key waits again
//                                                |
//   table:  | a b c d . e ... |  <--write-- each slot fetches the item that its age determines
//
// All keys of a home have the same sequence, so among them they are alike, and Robin Hood's rule only
// compares ages. The matching therefore works on counts and ages of four bits, a sixteenth of the table, and
// on eight homes at a time. A slot that refused a home at an age refuses it forever, as ages only grow. So
// the result does not depend on the order in which homes ask. It is Gale's and Shapley's stable matching of
// homes with slots, which inserts one by one would give, too.
//
// In each pass all waiting keys ask until they are placed. A key that is evicted after its home's turn waits
// for the next pass. A pass places half of the waiting keys at load 0.85, a fifth at 0.95. The number of
// passes depends on the load; after them some in a thousand still wait. Their groups are listed, and each
// group's lane follows the keys that it evicts. The spill, which is inserted one by one, takes the keys that
// still wait, keys that would be older than 14, and those of homes with more keys than a count can hold.
//
// A bin has the homes of runs of 32 slots at regular distances in the table, as a picture's rows fill the
// table unevenly. Equal keys have one home, so they meet in a bin, where one stays.
#pragma once

#include <tilehash/algorithm/partition.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/core/bits.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/designs/robin_hood/match.hpp>
#include <tilehash/designs/robin_hood/plan.hpp>
#include <tilehash/designs/robin_hood/sort.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Writes slots: each gets the item that its age determines, and a bucket's first slot the maximum age of its
// home's keys. Two slots far apart are written concurrently, as each is a chain of dependent reads.
template <class Design>
struct robin_hood_write {
  using plan_type = robin_hood_plan<Design>;
  using slot_type = typename Design::slot_type;
  using entry = typename plan_type::entry;
  using word = typename Design::word;
  using group = typename plan_type::group;
  static constexpr u32 at_once = tuning::gpu::written_at_once;  // the capacity is a multiple of it

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
      home[k] = plan.home_of(bucket[k], age[k]);
      const auto keys = plan.keys()[home[k] / group::homes];
      at[k] = keys.first + group::before(keys.counts, home[k] % group::homes);
      at[k] += count_ones(standing_in(ages[k], age[k]) & ((1U << nth[k] * group::age_bits) - 1));
    }
    TILEHASH_UNROLL
    for (u32 k = 0; k < at_once; ++k) {  // the items at smaller ages come before it
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
  // The number of a home's keys of this age.
  TILEHASH_FN u32 standing(u32 home, u32 age) const {
    return count_ones(standing_in(plan.ages().of_bucket(plan.at(home, age)), age));
  }
};

// Moves the keys that still wait to the spill: a home's last items.
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
    const auto [number, first] = plan.keys()[g];
    u32 end = first, gone = 0;
    for (u32 h = 0; h < group::homes; ++h) {
      end += group::field(number, h);
      const u32 its = group::field(waiting, h);
      for (u32 k = 1; k <= its; ++k) spill.add(items[end - k]);
      gone += its;
    }
    fetch_add(inserted, ~u64(0) * gone);
  }
};

// Sets the counters of a table after its bulk build.
template <class Design>
struct robin_hood_count {
  robin_hood_plan<Design> plan;
  const u64* inserted;
  TILEHASH_FN void operator()(u64 i) const {
    plan.design.counters().begin_with(static_cast<u32>(i), *inserted);
    if (i < plan.oldest_words) plan.design.counters().widen(*plan.oldest(32 * i));
  }
};

// The steps of the bulk build. Temporary memory: 1.25 words an item for the bins, 2.5 bytes a slot for the
// counts.
template <class Design>
struct robin_hood_build {
  using plan_type = robin_hood_plan<Design>;
  using word = typename Design::word;
  using group = typename plan_type::group;
  template <class Space>
  using sort_type = robin_hood_sort<Design, tuning::of<Space>::sort_block>;
  static constexpr u32 dense_passes = 3;  // in which keys of most groups wait

  Design design;

  u32 groups() const { return static_cast<u32>(design.capacity() / group::slots); }
  template <class Space>
  u32 bin_bits(const Space& space) const {
    const u64 most = most_regions<typename Design::slot_type>(space);
    u32 bits = 0;
    while (u64(groups()) >> bits > tuning::of<Space>::sorted_groups && u64(2) << bits <= most &&
           u64(2) << bits <= best_regions<Space>)
      ++bits;
    return bits;
  }
  // Runs fill unevenly: a bin of some hundred runs has up to a tenth more or less than the mean.
  u64 capacity_of(u64 n, u32 bins) const {
    const u64 mean = divide_up(n < design.capacity() ? n : design.capacity(), bins);
    return mean + mean / 5 + 64;
  }
  template <class Space>
  bool pays(const Space& space, u64 n) const {
    if (large_block<Space> == 1 && Design::bucket_slots == 1) return false;  // slower than a core's inserts
    if (design.capacity() % group::slots != 0 ||
        n < design.capacity() / tuning::of<Space>::fill_share_of_empty)
      return false;
    const u32 bits = bin_bits(space);
    const u64 capacity = capacity_of(n, 1U << bits), each = (u64(groups()) >> bits) + plan_type::run_groups;
    return sort_type<Space>::scratch_bytes(capacity, each) <= space.largest_scratch() &&
           (capacity << bits) < ~u32(0);
  }
  // Few keys wait after some passes, and then lanes follow them. A GPU's passes are short and many, as the
  // home with most requests would hold up all others; a CPU's threads have other homes to serve meanwhile.
  template <class Space>
  void match(Space& space, const plan_type& plan, u64 n) const {
    const double free = 1 - static_cast<double>(n) / static_cast<double>(design.capacity());
    const double each = tuning::of<Space>::match_passes;
    const u32 passes = free > 0.3    ? 6
                       : free < 0.05 ? static_cast<u32>(24 * each)
                                     : static_cast<u32>(each / free) + 2;
    const u32 turns = tuning::of<Space>::match_turns;
    for (u32 i = 0; i < passes; ++i) {
      if (i < dense_passes)
        match_once<1>(space, plan, i == 0, turns);
      else
        match_once<4>(space, plan, false, turns);
    }
    space.for_each(plan.groups, robin_hood_list_waiting<Design>{plan});
    space.for_each(plan.list_capacity(), robin_hood_follow<Design>(plan));
  }
  template <u32 LookedAt, class Space>
  static void match_once(Space& space, const plan_type& plan, bool first, u32 turns) {
    using pass = robin_hood_match<Design, LookedAt>;
    space.for_each(pass::calls(plan), pass{plan, first, turns});
  }

  // The table must be empty; its slots may have any content. Does not synchronize.
  template <class Space, class Source>
  void run(Space& space, const Source& source, u64 n, const spill_list<word>& spill, u64* illegal,
           u64* inserted) const {
    const u32 bits = bin_bits(space), bins = 1U << bits;
    const buffer<u32, Space> counters(space, plan_type::words(groups()));
    const plan_type plan(design, bits, groups(), counters.data());
    space.fill(plan.oldest(0), plan_type::zeros, u32(0));
    const u32 capacity = static_cast<u32>(capacity_of(n, bins));
    const buffer<word, Space> items(space, static_cast<u64>(capacity) * bins);
    const buffer<u32, Space> fill(space, bins);
    space.fill(fill.data(), bins, u32(0));
    const even_bins<word> its_bins{items.data(), capacity, fill.data()};
    send_by_blocks(space, plan, source, n, its_bins, spill, illegal);
    space.for_each_block(bins, sort_type<Space>::block_size,
                         sort_type<Space>::scratch_bytes(capacity, plan.bin_groups()),
                         sort_type<Space>{plan, its_bins, spill, inserted});
    match(space, plan, n);
    space.for_each(plan.groups, robin_hood_leave<Design>{plan, items.data(), spill, inserted});
    using write = robin_hood_write<Design>;
    space.for_each(design.capacity() / write::at_once, write{plan, items.data()});
    const u64 most = design.due_words() > plan.oldest_words ? design.due_words() : plan.oldest_words;
    space.for_each(most, robin_hood_count<Design>{plan, inserted});
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
