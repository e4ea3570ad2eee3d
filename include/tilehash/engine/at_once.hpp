// SPDX-License-Identifier: Apache-2.0
// Decides when one kernel inserts all items of a call (kernel/insert_at_once.hpp), and waits for it.
#pragma once

#include <concepts>

#include <tilehash/core/item.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/kernel/insert_at_once.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Can that kernel insert the items of a source? Other sources are rare, and each compiles the kernel once more.
template <class Design, class Space, class Source, class Update>
inline constexpr bool inserts_at_once =
    Space::has_lanes && std::same_as<Update, keep_stored> && displacing_among_inserts<Design> &&
    !Design::slot_type::reserves_keys && std::same_as<Source, array_source<typename Design::slot_type>>;

// Is a table that holds `held` items at most no fuller than this after n more?
template <class Design>
bool stays_below(const Design& design, u64 held, u64 n, double load) {
  return static_cast<double>(held) + static_cast<double>(n) <= load * static_cast<double>(design.capacity());
}
// Does it pay for n items of a source? Where regions pay, these are faster; a call that `merges` fills a table that
// holds items by regions, too. In a fuller table, threads that move keys hold up the others.
template <class Source, class Space, class Design>
bool at_once_pays(const Space& space, const Design& design, u64 held, u64 n, bool merges) {
  static_assert(tuning::gpu::at_once_items <= at_once_counts::most_items);
  const double load = n <= tuning::gpu::at_once_few
                          ? tuning::gpu::never_full
                          : tuning::gpu::at_once_load(sizeof(typename Design::word));
  if (n > tuning::gpu::at_once_items || !stays_below(design, held, n, load)) return false;
  if (held != 0) return !merges || !regions_pay(space, design, n, held);
  return !one_region_pays<Source>(space, design, n) && !regions_pay(space, design, n, 0);
}

// Synchronizes with the host once. If an item found no slot, nothing is listed as left over.
template <class Space, class Design, class Source>
region_filled<Design, Space> insert_at_once_and_wait(Space& space, const Design& design, const Source& source,
                                                     u64 n, const call_memory& calls) {
  const call_end end = calls.waited(space, n, 0);
  start_insert_at_once(space, design, source, end);
  region_filled<Design, Space> r;
  r.design = design;
  if (end.host != nullptr) {
    const at_once_counts all{call_memory::take_word(space, *end.host)};
    r.inserted = all.inserted();
    r.illegal = all.illegal();
    r.lists_left = !all.refuses();
  } else {
    const call_counts counts = calls.counted(space);
    r.inserted = counts[counter::inserted];
    r.illegal = counts[counter::illegal];
    r.lists_left = counts.left(0) == 0;
  }
  return r;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
