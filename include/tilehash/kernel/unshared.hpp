// SPDX-License-Identifier: Apache-2.0
// Inserts by one CPU thread with exclusive access to the table: of keys that come one at a time, and of all
// keys of a small table that grows.
//
// The frequent steps of the kernels (kernel/upsert.hpp, algorithm/displacement.hpp) run here without atomic
// operations. The first bucket settles nearly every item. The code for the other items stays out of line: if
// it were inlined, the few words of the frequent case would go through memory.
#pragma once

#include <algorithm>

#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

struct no_others {
  static constexpr bool alone = true;
};

// Inserts into the slots of a design that frees slots without other memory. Both arguments outlive it.
template <class Design>
  requires(!replacing<Design>)
class unshared_insert {
  using slot_type = typename Design::slot_type;
  using cells = sentinel_cells<slot_type>;
  using word = typename slot_type::word;
  using stored_key = typename slot_type::stored_key;
  using value_bits = typename slot_type::value_bits;
  using key_bits = typename Design::key_bits;
  using location = typename Design::location;
  using work = upsert_items<Design, no_others, keep_stored, 1>;
  using walk = typename work::walk;
  using bucket_type = solo_bucket<Design>;
  static constexpr solo_tile t{};
  // A key has two buckets, the second only if the first is full.
  static constexpr bool two_buckets = requires(const Design& d, location& at) {
    d.turn(at);
    d.template passes<true>(at);
    slot_type::filter_mask;
  };
  static constexpr u32 no_slot = ~u32(0);

 public:
  unshared_insert(const Design& design, const cells& sentinels) : design_(design), sentinels_(sentinels) {}

  __attribute__((TILEHASH_INLINED)) inline outcome operator()(const item<slot_type>& x) const {
    if (!x.key.legal) return outcome::refused;
    if (x.key.reserved) return here().put_in_sentinel(x);
    return at(design_.locate(x.key.bits), x.key.bits, x.value);
  }
  // Inserts a regular key whose home is known.
  __attribute__((TILEHASH_INLINED)) inline outcome at(const location& home, key_bits key,
                                                      value_bits value) const {
    if constexpr (two_buckets) {
      auto* const words = design_.bucket_at(design_.where(home));
      const auto b = bucket_type::read(t, words);
      const auto result = b.find_own_or_free(t, home.stored);
      if (result.own) return outcome::present;
      // To test all filter bits costs less than to find the key's bit. Few buckets with a free slot have any.
      if (!result.free || b.has_bits(t, slot_type::filter_mask))
        return in_second(design_, home, key, value, result.free ? result.slot : no_slot);
      put(words + result.slot, 0, home.stored, value);
      return outcome::inserted;
    } else {
      walk w{key, value, home, home};
      return here().step(w) || w.became == outcome::refused ? beyond(design_, home, key, value) : w.became;
    }
  }

 private:
  // The work has its own copy of the design, with no other reference to it: its few words stay in registers.
  __attribute__((TILEHASH_INLINED)) inline work here() const {
    return {.design = design_, .sentinels = sentinels_, .inserts = true, .update = {}};
  }
  TILEHASH_FN static void put(word* at, word old, stored_key stored, value_bits value) {
    *at = slot_type::written_over(old, stored, value);
  }
  // Inserts a key that is not in its first bucket, where `free` is a free slot, or no_slot.
  __attribute__((noinline)) static outcome in_second(const Design& design, location first, key_bits key,
                                                     value_bits value, u32 free)
    requires two_buckets
  {
    if (free != no_slot) {
      auto* const words = design.bucket_at(design.where(first));
      const auto result = design.examine_for_insert(t, bucket_type::read(t, words), first.stored);
      if (result.what == lookup_state::absent) {
        put(words + result.slot, result.old, first.stored, value);
        return outcome::inserted;
      }
    }
    location second = first;
    design.turn(second);
    auto* const words = design.bucket_at(design.where(second));
    const auto b = bucket_type::read(t, words);
    const auto result = b.find_own_or_free(t, second.stored);
    if (result.own) return outcome::present;
    if (free != no_slot) {
      auto* const at = design.bucket_at(design.where(first)) + free;
      put(at, *at, first.stored, value);
      return outcome::inserted;
    }
    if (!result.free) return displace_from(design, first, key, value);
    design.template passes<true>(first);
    put(words + result.slot, result.content, second.stored, value);
    return outcome::inserted;
  }
  // Restarts the walk: to pass the state of the first step costs more than to repeat that step.
  __attribute__((noinline)) static outcome beyond(const Design& design, typename Design::location home,
                                                  typename Design::key_bits key,
                                                  typename slot_type::value_bits value) {
    const work here{.design = design, .sentinels = {}, .inserts = true, .update = {}};
    walk w{key, value, home, home};
    while (here.step(w)) {
    }
    if constexpr (displacing<Design>) {
      if (w.became == outcome::refused) return displace(design, key, value);
    }
    return w.became;
  }
  __attribute__((noinline)) static outcome displace_from(const Design& design, location first, key_bits key,
                                                         value_bits value)
    requires two_buckets
  {
    if (design.displacement_from(first, key, slot_type::pack(key, value)).push_one())
      return outcome::inserted;
    return displace(design, key, value);
  }
  __attribute__((noinline)) static outcome displace(const Design& design, typename Design::key_bits key,
                                                    typename slot_type::value_bits value)
    requires displacing<Design>
  {
    const auto d = design.displacement_of(key, slot_type::pack(key, value));
    if constexpr (!two_buckets && requires { d.push_one(); }) {
      if (d.push_one()) return outcome::inserted;
    }
    return d.run(solo_tile{}, true);
  }

  const Design& design_;
  const cells& sentinels_;
};

// Calls use(item) for each item in the slots of a table.
template <class Design, class Use>
void for_each_in_slots(const Design& from, const Use& use) {
  using slot_type = typename Design::slot_type;
  if constexpr (requires { from.hashes_in(u32(0)); }) {  // a region's hashes come without a division
    constexpr u32 at_once = tuning::cpu::gathered_at_once;
    u32 used[at_once];
    for (u32 region = 0; region < from.regions(); ++region) {
      const auto hashes = from.hashes_in(region);
      const auto* const words = from.region_at(region);
      for (u32 first = 0; first < from.region_slots(); first += at_once) {
        const u32 last = std::min(from.region_slots(), first + at_once);
        u32 n = 0;  // without a branch: the processor could not predict which slots are free
        for (u32 i = first; i < last; ++i) {
          used[n] = i;
          n += !slot_type::is_free(words[i]);
        }
        for (u32 k = 0; k < n; ++k) {
          const auto w = words[used[k]];
          const auto stored = slot_type::stored_in(w);
          item<slot_type> x;
          x.key.bits = from.unhash(hashes(from.first_bucket(used[k] / Design::bucket_slots, stored),
                                          slot_type::remainder_of(stored)));
          x.key.legal = x.valid = true;
          x.value = slot_type::value_of(w);
          use(x);
        }
      }
    }
  } else {
    const slots_source<Design> items{from};
    for (u64 i = 0; i < from.capacity(); ++i) {
      if (holds_item(from, i, from.slots()[i])) use(items(i));
    }
  }
}

// Moves all items in the slots of one table to another table, with prefetches of the latter. Returns the
// number of items that were not placed; after the first of these it only counts.
template <class Design>
__attribute__((noinline)) u64 move_unshared(const Design& from, const Design& to) {
  const sentinel_cells<typename Design::slot_type> none;
  const unshared_insert<Design> insert(to, none);
  struct {
    typename Design::location home;
    typename Design::key_bits key;
    typename Design::slot_type::value_bits value;
  } ring[in_flight];
  u64 asked = 0, refused = 0;
  const auto finish = [&](u64 i) __attribute__((TILEHASH_INLINED)) {
    const auto& x = ring[i % in_flight];
    if (refused != 0 || insert.at(x.home, x.key, x.value) == outcome::refused) ++refused;
  };
  for_each_in_slots(from, [&](const auto& x) {
    if (asked >= in_flight) finish(asked);
    auto& next = ring[asked++ % in_flight];
    next.home = to.locate(x.key.bits), next.key = x.key.bits, next.value = x.value;
    prefetch_to_write(to.address(next.home));
  });
  for (u64 i = asked < in_flight ? 0 : asked - in_flight; i < asked; ++i) finish(i);
  return refused;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
