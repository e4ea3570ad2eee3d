// SPDX-License-Identifier: Apache-2.0
// The items of an insert call (engine/window_call.hpp) in windows, and an estimate of how many new keys are
// among them.
//
// A table that grows for many items grows once if it is known how far. All pending keys are counted by a
// sketch (algorithm/sketch.hpp), for the time of reading them. (docs/adr/0035-growth-by-estimate.md)
#pragma once

#include <algorithm>
#include <concepts>
#include <utility>
#include <vector>

#include <tilehash/algorithm/bins.hpp>
#include <tilehash/algorithm/sample.hpp>
#include <tilehash/algorithm/sketch.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/engine/insert_phases.hpp>
#include <tilehash/kernel/pending.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace engine {

// The items of one source, and how many of them are inserted or refused so far.
template <class Design, class Space, class Source, class Update>
struct item_windows {
  using slot_type = typename Design::slot_type;
  using source_type = Source;
  using update_type = Update;
  using phases_type = detail::insert_phases<Design, Space, Source, Update>;

  phases_type phases;
  u64 n;
  u64 valid;                             // at most so many of them are items
  u64 done = 0;                          // earlier items are in the table, or refused
  bool looked_up = false;                // all bits are known, and ...
  std::vector<u32> pending_counts = {};  // ... so many of each 256 items were pending then
  bool mostly_new = false;               // nearly all pending items of the last window were new keys
  bool estimated = false;                // items_to_grow_to() has been called
  bool few_keys = false;                 // it has counted few different keys among many pending items
  u64 window_of_few = 0;                 // so many items probably have all of these keys
  buffer<u32, Space> claims = {};        // bits of slots, for outcomes (engine/slot_outcomes.hpp)

  TILEHASH_COLD ~item_windows() = default;  // once a call, but there are many such types

  u64 pending() const {
    if (!looked_up) return n - done;
    u64 sum = 0;
    for (u64 group = done / detail::window_step; group < pending_counts.size(); ++group)
      sum += pending_counts[group];
    return sum;
  }
  // The end of a window with `most` pending items. Sets `its_pending` to their number.
  u64 window_end(u64 most, u64& its_pending) const {
    u64 end = done;
    for (its_pending = 0; end < n && its_pending < most; end += detail::window_step)
      its_pending += looked_up ? pending_counts[end / detail::window_step] : detail::window_step;
    return std::min(end, n);
  }
};

// Looks up the items from w.done to `end`. Returns how many have absent keys, or keys that are not legal.
// Synchronizes with the host.
template <class Policy, class Windows>
TILEHASH_COLD u64 count_refused(const Policy& table, Windows& w, u64 end) {
  u64 refused = 0;
  const auto count = [&](u64 from, u64 to) TILEHASH_COLD {
    w.phases.look_up(table.design(), from, to, table.sentinels());
    refused += w.phases.collect()[detail::counter::illegal] + w.phases.left();
  };
  w.phases.moved_to(table.calls());
  try {
    w.phases.make_bits(true);
  } catch (const out_of_memory&) {  // by as many items as the table's own memory has bits for
    for (u64 from = w.done; from < end; from += detail::call_memory::few_items) {
      w.phases.use_few_bits(from);
      count(from, std::min(end, from + detail::call_memory::few_items));
    }
    w.phases.drop_bits();
    return refused;
  }
  count(w.done, end);
  return refused;
}

// An estimate of the different keys among the pending items.
struct key_estimate {
  u64 keys = 0;   // 0: not known
  u64 items = 0;  // to make capacity for
};

// Reads the pending keys of a call, `wanted` items. There is no estimate for few items, because growth in
// steps takes as long. The same holds for sources that are neither arrays nor lists of combined items, for
// keys that often repeat on a CPU, and without memory.
template <class Space, class Windows>
TILEHASH_COLD key_estimate estimated_keys(Space& space, const Windows& w, u64 wanted, u64 seed) {
  using machine = detail::tuning::of<Space>;
  using slot_type = typename Windows::slot_type;
  using source_type = typename Windows::source_type;
  constexpr bool is_array = std::same_as<source_type, detail::array_source<slot_type>> ||
                            std::same_as<source_type, detail::positioned_keys<slot_type>>;
  using list = detail::routed_source<detail::keys_as_they_are<slot_type>>;  // algorithm/aggregate.hpp
  constexpr bool is_list = std::same_as<source_type, list>;
  const u64 n = w.n - w.done;
  if ((!is_array && !is_list) || wanted < machine::least_sketched || wanted < n / 8) return {};
  double counted = 0;
  try {
    const u32* const pending = w.looked_up ? w.phases.pending() : nullptr;
    if constexpr (is_array) {
      const auto* const keys = w.phases.source().keys;
      if constexpr (!Space::has_lanes) {
        const u64 sampled =
            std::max(detail::tuning::cpu::sketch_sampled, n / detail::tuning::cpu::sketch_share);
        const auto sample = detail::sample_keys(space, keys + w.done, n, 1, sampled);
        if (sample.more_uneven_than(detail::tuning::cpu::few_sketched_copies)) return {};
      }
      counted = detail::count_by_sketch(space, keys, w.done, w.n, pending, seed);
    } else if constexpr (is_list) {
      counted = detail::count_by_sketch(space, w.phases.source(), w.done, w.n, pending, seed);
    }
  } catch (const out_of_memory&) {
    return {};
  }
  const double all = static_cast<double>(wanted);
  const double most = counted * (1 + 3 * detail::sketch_ranks::deviation());
  // With many copies a call takes as many windows as it takes to meet all keys. A table for twice the keys has
  // long windows: the first meets six of seven keys. (A list has few copies.)
  const double items = std::min(is_list ? most : 2 * most, all);
  return {static_cast<u64>(std::min(counted, all)), static_cast<u64>(items)};
}

// The items for which a small table grows at least, if so many are pending.
template <class Policy>
u64 least_capacity(const Policy& table) {
  return table.size() == 0 ? Policy::first_capacity : detail::least_capacity;
}

// The number of items for which a table should have capacity before the `wanted` pending items of a call are
// inserted. 0: not known, or it has. Says so once for a call's items. If all are `distinct` they are counted
// already.
template <class Space, class Policy, class Windows>
u64 items_to_grow_to(Space& space, const Policy& table, Windows& w, u64 wanted, bool distinct) {
  if (std::exchange(w.estimated, true)) return 0;
  const key_estimate found =
      distinct ? key_estimate{wanted, wanted} : estimated_keys(space, w, wanted, table.seed());
  // Regions may take the items of a large insert if few keys repeat and none is present. If there are more
  // than 1.2 times as many as the table holds, the bins take more memory than the old table gives back.
  const bool all_pending = !Windows::phases_type::updates && w.looked_up && wanted == w.n;
  const bool suits = wanted >= table.size() && wanted - table.size() <= table.size() / 5;
  if (all_pending && suits && found.keys >= wanted / 4 * 3) w.phases.forget_bits();
  // Where keys repeat, a table that was made for them should not grow as the estimate is a bit too large.
  const u64 repeated = found.keys <= wanted / 2 ? found.keys / detail::tuning::of<Space>::sketch_excess : 0;
  const bool grows = table.size() + found.keys - repeated > table.limit();
  if constexpr (Space::has_lanes) {
    // (Copies of a key wait for each other in a table that becomes rather full.)
    constexpr u64 copies = detail::tuning::gpu::crowd_copies;
    const double full = detail::tuning::gpu::waiting_load * static_cast<double>(table.capacity());
    const bool few = !distinct && found.keys != 0 && found.keys <= wanted / copies;
    const bool roomy = grows || static_cast<double>(table.size() + found.keys) <= full;
    w.few_keys = few && (roomy || table.size() == 0);
    if (few && roomy) w.window_of_few = copies * found.keys;
  }
  if (!grows) return 0;
  return table.size() + std::max(found.items, std::min(wanted, least_capacity(table)));
}

}  // namespace engine
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
