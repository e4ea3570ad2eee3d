// SPDX-License-Identifier: Apache-2.0
// Fills a window of a call by regions (engine/region_fill.hpp), or assigns its values by regions.
#pragma once

#include <optional>

#include <tilehash/engine/at_once.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/region_fill.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// The window ends before item `end`; the table holds `held` items. Returns nothing if it does not pay. (In an
// empty table assigning and keeping are the same: any of equal keys wins.) `unwiped`: the slots may have any content.
template <class Design, class Space, class Windows>
std::optional<region_filled<Design, Space>> fill_window(Space& space, const Design& design, const Windows& w,
                                                        u64 end, u64 held, bool unwiped,
                                                        const call_memory& calls) {
  using source_type = typename Windows::source_type;
  const auto items = shifted(w.phases.source(), w.done);
  const u64 n = end - w.done;
  if constexpr (Windows::phases_type::updates) {
    if (held != 0) return assign_by_regions(space, design, items, n, calls);
  }
  if constexpr (inserts_at_once<Design, Space, source_type, typename Windows::update_type>) {
    if (!unwiped && w.phases.outcomes() == nullptr && at_once_pays<source_type>(space, design, held, n, true))
      return insert_at_once_and_wait(space, design, items, n, calls);
  }
  if constexpr (builds_from_items<source_type, Space, Design>) {
    if (held == 0 && one_region_at_once_pays<source_type>(space, design, n)) {
      if constexpr (fills_unwaited<Design, Space>())
        return fill_one_region(space, design, items, w.phases.how(), n, calls);
    }
    if (held == 0 && one_region_pays<source_type>(space, design, n))
      return fill_region(space, design, items, n);
  }
  if (!regions_pay(space, design, n, held)) return std::nullopt;
  region_fill<Design, Space> regions(space, design, n, held != 0, &calls, held);
  regions.fill_all(items, n);
  return regions.result();
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
