// Fills an empty table by regions without synchronizing with the host (engine/region_fill.hpp).
//
//   partition, build          the only region of a table: build, from the items of the call
//   place, displace           the items left over, of which the host knows no number (kernel/left_over.hpp)
//
// A small call has its counters and the list of items left over in the memory of the table. So it needs no
// other memory, and no kernel clears any.
#pragma once

#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/kernel/left_over.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// (A design with reserved keys would need a kernel for these.)
template <class Design, class Space>
constexpr bool fills_unwaited() {
  if constexpr (Space::has_lanes && displacing<Design> &&
                requires { typename Design::template region_build<>; })
    return !Design::slot_type::reserves_keys;
  else
    return false;
}

// Starts to fill an empty table with n items, whose call ends like `end`. Returns false, and starts nothing,
// where that does not pay or there is no memory for it.
template <class Design, class Space, class Source>
bool start_fill(Space& space, const Design& design, const Source& source, u64 n, const call_memory& calls,
                call_end end) {
  if (n > design.capacity()) return false;
  const bool one = one_region_pays<Source>(space, design, n);
  if (!one && (!regions_pay(space, design, n, 0) || fills_in_slices<Design, Space>(space, design, n, false)))
    return false;
  end.blocks_done = calls.blocks_done();
  const auto start = [&](region_fill<Design, Space>& fill) {
    if constexpr (builds_from_items<Source, Space, Design>) {
      if (one) fill.fill_one(source, n);
    }
    if (!one) fill.fill_all(source, n);
    start_left_over(space, design, source, n, fill.counts(), end);
  };
  try {
    if (one && n <= call_memory::few_items && sizeof(typename Design::word) <= 8) {
      region_fill<Design, Space> fill(space, design, calls);
      start(fill);
    } else {
      region_fill<Design, Space> fill(space, design, n, false);
      start(fill);
    }
  } catch (const out_of_memory&) {  // nothing has started
    return false;
  }
  return true;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
