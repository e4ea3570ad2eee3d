// SPDX-License-Identifier: Apache-2.0
// The phases of an insert over windows of its items, from one kernel to the next, and the items' outcomes.
// They do not handle growth (engine/window_call.hpp).
//
//   lookup    finds the keys that are present: changes their values and completes their items
//   place     puts each key into the first free slot of its probe sequence
//   displace  for items without a free slot: moves other keys to free one
//   update    changes the values of keys that place and displace found, while no key moves
//
// A phase records in a bit whether an item is pending (kernel/call.hpp). Where values change and inserts
// may move keys, update runs after each of place and displace. So a user's op runs while every key is in the
// table. (Where inserts replace keys, the call runs update itself, once the displaced keys are stored again.)
//
// Each phase takes the current design, and the sentinel cells of a table that has some.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include <tilehash/core/capacity.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/put_back.hpp>
#include <tilehash/kernel/displace.hpp>
#include <tilehash/kernel/lookup.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/kernel/pending_lookup.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A source of few items, which are inserted one by one. On the host one code serves all such sources;
// `source` must outlive the result.
template <class Design, class Space, class Source>
auto few_of(const Source& source) {
  if constexpr (Space::has_lanes)
    return source;
  else
    return called_source<typename Design::slot_type>(source);
}

// When many keys move concurrently, an item may find locked buckets until its tries are spent, above all
// where the system suspends a thread that holds locks. So there are several passes.
template <class Design>
inline constexpr u32 passes_of = displacing<Design> || self_inserting<Design> ? 3 : 1;

// If at most this many of n items are pending, another pass may serve them: they found locked buckets. Among
// more items, most found no slot.
constexpr u64 few_to_retry(u64 n) { return n / 64 + 64; }

template <class Design, class Space, class Source, class Update>
class insert_phases {
  using slot_type = typename Design::slot_type;
  using cells = sentinel_cells<slot_type>;
  using work = upsert_items<Design, Source, Update, Design::preferred_width>;

 public:
  using source_type = Source;
  static constexpr bool updates = !std::same_as<Update, keep_stored>;
  // May a phase end the call? That saves the launch of another kernel.
  static constexpr bool can_end = Space::has_lanes && !replacing<Design>;
  // May place() complete all items of a call that updates values, without another phase?
  static constexpr bool may_end_first = can_end && updates && steady<Design>;
  using unplaced_list = unplaced_items<slot_type>;
  using unplaced_entry = typename unplaced_list::entry;

  insert_phases(Space& space, const Source& source, u64 n, outcome* outcomes, const Update& update,
                const call_memory& calls)
      : space_(space), source_(source), n_(n), outcomes_(outcomes), update_(update), calls_(calls) {}

  // Allocates the bits, and their counts if `counted` (for pending_counts()). Throws out_of_memory.
  void make_bits(bool counted = false) {
    if (pending_ != nullptr) return;
    if (!replacing<Design> && n_ <= call_memory::few_items) {
      pending_ = few_bits();
      return;
    }
    if constexpr (replacing<Design>) {
      const u64 under_way = std::min(n_, tuning::of<Space>::evicted_at_once);
      const u64 most = unplaced_capacity() + under_way;
      bits_ = buffer<u32, Space>(space_, 2 * words() + divide_up(most, 32) + (counted ? groups() : 0));
      unplaced_ = buffer<unplaced_entry, Space>(space_, most);
      unplaced_length_ = buffer<u64, Space>(space_, 1);
      space_.fill(unplaced_length_.data(), 1, u64(0));
    } else {
      bits_ = buffer<u32, Space>(space_, words() + (counted ? groups() : 0));
    }
    pending_ = bits_.data();
  }
  // The same; exactly the items with these bits (words() words) are pending. Does not synchronize.
  void begin_with(const u32* bits) {
    make_bits();
    space_.copy(pending_, bits, words() * sizeof(u32));
    bits_known_ = n_;
  }
  // Uses bits in the table's own memory for few_items items from `first` (a multiple of 256) on, so the call
  // continues where there is no memory. The bits of other items are then undefined.
  void use_few_bits(u64 first) {
    bits_ = {};
    few_from_ = first;
    bits_known_ = first;
    pending_ = few_bits();
  }
  void drop_bits() {  // make_bits() allocates them again
    pending_ = nullptr;
    few_from_ = 0;
  }
  void forget_bits() { bits_known_ = 0; }  // all items are pending
  u64 words() const { return groups() * count_pending::words_each; }
  const u32* pending() const { return pending_; }
  const Source& source() const { return source_; }
  outcome* outcomes() const { return outcomes_; }
  u64 bits_known() const { return bits_known_; }  // the bits of earlier items are valid
  // How many of each 256 items are pending. Synchronizes with the host.
  std::vector<u32> pending_counts() {
    u32* const counts = bits_.size() != 0 ? bits_.data() + (bits_.size() - groups()) : calls_.few_counts();
    std::vector<u32> host(groups());
    space_.for_each(groups(), count_pending{pending_, words(), counts});
    space_.copy_to_host(host.data(), counts, groups() * sizeof(u32));
    return host;
  }
  void moved_to(const call_memory& calls) {  // after the table has moved to other memory
    calls_ = calls;
    if (pending_ != nullptr && bits_.size() == 0) pending_ = few_bits();
  }

  // Visits the pending items among those with known bits, and all items without. If a key is present, its
  // value changes and its item is done. Does not synchronize. As the call's last phase it ends the call like
  // `last`, where it can_end.
  void look_up(const Design& d, u64 first, u64 end, const cells& sentinels = {},
               const call_end* last = nullptr) {
    const u64 unknown = first_unknown(first, end);
    visit(d, sentinels, first, unknown, true, false, unknown == end ? last : nullptr);
    visit(d, sentinels, unknown, end, false, false, last);
  }
  // ... and inserts new keys. As the call's last phase it ends the call like `last`, where it can_end.
  void place(const Design& d, u64 first, u64 end, const cells& sentinels = {},
             const call_end* last = nullptr) {
    constexpr bool then_updates = updates && !steady<Design> && !replacing<Design>;
    const u64 unknown = first_unknown(first, end);
    const call_end* const ends = then_updates ? nullptr : last;
    visit(d, sentinels, first, unknown, true, true, unknown == end ? ends : nullptr);
    visit(d, sentinels, unknown, end, false, true, ends);
    if constexpr (then_updates) update(d, first, end, sentinels, last);
  }
  // Throws out_of_memory (for a CPU's scratch): pending items stay pending, and this phase does not count. As
  // the call's last phase it ends the call like `last`, where it can_end.
  void displace(const Design& d, u64 first, u64 end, const cells& sentinels = {},
                const call_end* last = nullptr) {
    call_end ends{};
    next_phase();
    if constexpr (can_end && !updates) {
      if (last != nullptr) {
        ends = *last;
        ends.last_phase = phase_;
        ends.blocks_done = calls_.blocks_done();
      }
    }
    try {
      if constexpr (Space::has_lanes)
        detail::displace(space_, d, source_, first, end, updates, recorder(), calls_.given_up(), ends);
      else  // by one code for all sources
        detail::displace(space_, d, called_source<slot_type>(source_), first, end, updates, recorder(),
                         calls_.given_up(), ends);
    } catch (const out_of_memory&) {
      --phase_;
      throw;
    }
    ended_ = ends.blocks_done != nullptr ? call_ended::in_sums : call_ended::no;
    counted_ = true;
    update(d, first, end, sentinels, last);
  }
  // Changes the values of keys that the phase before found.
  void update(const Design& d, u64 first, u64 end, const cells& sentinels = {},
              const call_end* last = nullptr) {
    if constexpr (updates) {
      next_phase();
      visit(d, sentinels, first, end, true, false, last);
    }
  }
  // The last phase of an insert of n items that does not synchronize: looks up the keys of pending items. Ends
  // the call like `last`, where it can_end.
  void look_up_pending(const Design& d, const cells& sentinels, const call_end& last)
    requires(!updates)
  {
    next_phase();
    if constexpr (can_end) {
      call_end ends = last;
      ends.last_phase = phase_;
      ends.blocks_done = calls_.blocks_done();
      const work items{d, sentinels, source_, 0, n_, true, false, update_, recorder(), {}};
      look_up_pending_and_end(space_, items, ends);
      ended_ = call_ended::in_sums;
    } else {
      visit(d, sentinels, 0, n_, true, false);
    }
  }
  // On a CPU: the number of items that are pending after the last phase.
  u64 pending_now() const
    requires(!Space::has_lanes)
  {
    u64 left = 0;
    for (u64 s = 0; s < call_counters::stripes; ++s)
      left += calls_.counters().at[s * call_counters::kinds + static_cast<u32>(counter::left) + phase_];
    return left;
  }
  void next_phase() { ++phase_; }
  const Update& how() const { return update_; }                // values change
  u32 phase() const { return phase_; }                         // since the last collect()
  bool has_ended() const { return ended_ != call_ended::no; }  // by its last phase

  // Returns the counts since the last collect(). Synchronizes with the host.
  call_counts collect() {
    if (!has_ended()) finish_call(space_, calls_.waited(space_, n_, phase_));
    const call_counts counts = calls_.counted(space_, ended_ == call_ended::packed);
    left_ = counts.left(phase_);
    phase_ = 0;
    ended_ = call_ended::no;
    counted_ = false;
    return counts;
  }
  u64 left() const { return left_; }  // pending after the last phase that was collected

  // Puts back the n keys that lost their slots to others since the items from `first` to `end` began
  // (engine/put_back.hpp), and then visits the pending items. Returns how many new keys were taken out for
  // that; their items are pending again. Synchronizes with the host.
  u64 put_back(const Design& d, u64 first, u64 end, u64 n, const cells& sentinels)
    requires replacing<Design>
  {
    const unplaced_keys<Design> keys{unplaced_.data(), n, fresh() + words()};
    const u64 taken = detail::put_back(space_, d, sentinels, source_, first, end, fresh(), recorder(), keys,
                                       unplaced_length_.data());
    space_.fill(unplaced_length_.data(), 1, u64(0));
    visit(d, sentinels, first, end, true, false);
    return taken;
  }
  // The keys that lost their slots to others; and their number, which is then reset (synchronizes with the
  // host).
  const unplaced_entry* unplaced() const { return unplaced_.data(); }
  u64 take_unplaced() {
    const u64 n = read_one(space_, unplaced_length_.data());
    if (n != 0) space_.fill(unplaced_length_.data(), 1, u64(0));
    return n;
  }

 private:
  u64 groups() const { return divide_up(n_, window_step); }
  u64 unplaced_capacity() const { return n_ / 32 + 1024; }
  u32* fresh() const { return bits_.data() + words(); }  // a bit an item: it put its key in
  // The position of item 0's bit: kernels number bits as they number items. (Computed with integers, as the
  // position may be outside of the memory.)
  u32* few_bits() const {
    const auto at = reinterpret_cast<std::uintptr_t>(calls_.few_bits());
    return reinterpret_cast<u32*>(at - few_from_ / 8);  // NOLINT(performance-no-int-to-ptr)
  }

  // Returns the first item without a known bit, and marks the bits up to `end` as known.
  u64 first_unknown(u64 first, u64 end) {
    const u64 known = std::max(first, std::min(bits_known_, end));
    bits_known_ = std::max(bits_known_, end);
    return known;
  }
  // `last`: as for place().
  void visit(const Design& d, const cells& sentinels, u64 first, u64 end, bool pending_only, bool inserts,
             const call_end* last = nullptr) {
    if (first >= end) return;
    call_end ends{};
    if constexpr (can_end) {
      if (last != nullptr) {
        ends = *last;
        ends.last_phase = phase_;
        if (counted_ || phase_ != 0) ends.packed = nullptr;
        // The host must see what was written to its memory.
        if (outcomes_ != nullptr || !is_stateless<Update>) ends.host = nullptr;
      }
    }
    counted_ = true;
    // A lookup needs fewer registers (measured only where values are stored next to their keys).
    if constexpr (Space::has_lanes && !updates && !values_apart<Design>) {
      if (!inserts && !pending_only && ends.sums == nullptr) {
        using keys = keys_of_items<shifted_source<Source>>;
        return detail::look_up(space_, d, sentinels, keys{{source_, first}}, end - first,
                               pending_sink{recorder(), first});
      }
    }
    unplaced_list list{unplaced_.data(), unplaced_capacity(), unplaced_length_.data()};
    if constexpr (replacing<Design>) {
      if (inserts) list.fresh = fresh();  // lookups have no such bits: there may be no memory for them
      if (inserts && pending_only && Space::has_lanes)  // kernels pass over words without pending items
        space_.fill(list.fresh + first / bits_a_word, divide_up(end - first, bits_a_word), 0U);
    }
    const work items{d, sentinels, source_, first, end, pending_only, inserts, update_, recorder(), list};
    if constexpr (updates && !Space::has_lanes)  // it allocates nothing, so only the op may throw
      mark_user_exceptions([&] { upsert<Design>(space_, items); });
    else
      ended_ = upsert<Design>(space_, items, ends.sums != nullptr ? &ends : nullptr, calls_.blocks_done());
  }
  outcome_recorder recorder() const { return {calls_.counters(), pending_, outcomes_, phase_}; }

  Space& space_;
  Source source_;
  u64 n_;
  outcome* outcomes_;
  Update update_;
  call_memory calls_;
  buffer<u32, Space> bits_;  // unless they are in the table's own memory; and their counts
  u32* pending_ = nullptr;   // a bit an item: it is not stored yet
  u64 few_from_ = 0;         // the item of the table's own first bit
  u64 bits_known_ = 0;
  u32 phase_ = 0;
  call_ended ended_ = call_ended::no;  // the last phase has summed the counters
  bool counted_ = false;               // a kernel has counted items since the last collect()
  u64 left_ = 0;
  buffer<unplaced_entry, Space> unplaced_;
  buffer<u64, Space> unplaced_length_;
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
