// SPDX-License-Identifier: Apache-2.0
// Inserts by regions without synchronizing with the host (engine/region_fill.hpp), into an empty table, or to
// assign values.
//
//   partition, build or merge   the only region of an empty table: build, from the items of the call
//   place, displace, count      the items left over, of which the host knows no number (kernel/left_over.hpp);
//                               one kernel if the table stays rather empty (kernel/insert_at_once.hpp)
//
// A small call into one region has its counters and the list of items left over in the memory of the table. So has one
// whose left-over items are inserted by one kernel. Such calls need no other memory, and no kernel clears any.
#pragma once

#include <concepts>

#include <tilehash/core/error.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/at_once.hpp>
#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/one_region.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/kernel/left_at_once.hpp>
#include <tilehash/kernel/left_over.hpp>
#include <tilehash/kernel/upsert.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Starts to insert n items into so few regions that the memory of the call has the numbers of their bins. The table
// stays rather empty. `in_one_kernel`: the kernel that builds the regions also ends the call. This takes longer if it has
// few blocks and many items are left over, as keys repeat.
template <class Design, class Space, class Source>
void start_few_regions(Space& space, const Design& design, const Source& source, u64 n,
                       const call_memory& calls, call_end end, bool in_one_kernel) {
  using build = typename Design::template region_build<>;
  using build_alone = build_few_or_any<build>;
  using body = build_and_end<build, Design, Source>;
  region_fill<Design, Space> fill(space, design, calls);
  const u64 blocks = design.regions(), buckets = design.region_buckets(),
            at_once = space.large_blocks_at_once();
  u32 cells = 0;
  if constexpr (build::builds_few) {
    if (n <= blocks * tuning::gpu::few_of_a_block) cells = build::few_cells(n / blocks);
    if (body::scratch_bytes(buckets, cells) > space.largest_scratch()) cells = 0;
  }
  const build_alone builds{fill.partition_all(source, n), cells};
  if (!in_one_kernel) {
    space.for_each_block(blocks, build_alone::block_size, build_alone::scratch_bytes(buckets, cells), builds);
    return start_left_at_once(space, design, source, n, fill.counts(), end);
  }
  end.last_phase = 0;
  space.for_each_block(blocks, body::block_size, body::scratch_bytes(buckets, cells),
                       body{builds,
                            {{design, source, n, fill.counts()}, end},
                            {calls.packed(), calls.opened(), blocks},
                            blocks > at_once ? blocks - at_once : 0});
}

// Starts to insert n items by regions, in a call that ends like `end`. Returns false, and starts nothing,
// where that does not pay or there is no memory for it. A table that is not known to be `empty` may hold any
// items; then values are assigned only.
template <class Design, class Space, class Source, class Update>
bool start_fill(Space& space, const Design& design, const Source& source, const Update& update, u64 n,
                bool empty, const call_memory& calls, call_end end) {
  if (n > design.capacity()) return false;
  constexpr bool assigns = std::same_as<Update, apply<op::assign>> && assigns_by_regions<Design, Space>();
  const bool one = empty && one_region_pays<Source>(space, design, n);
  bool pays = empty && (one || regions_pay(space, design, n, 0));
  if constexpr (assigns) {
    if (!empty) pays = assigning_pays(space, design, n);
  }
  if (!pays || fills_in_slices<Design, Space>(space, design, n, !empty)) return false;
  if (one && one_region_at_once_pays<Source>(space, design, n)) {
    if constexpr (builds_from_items<Source, Space, Design>)
      start_one_region(space, design, source, update, n, calls, end);
    return true;
  }
  end.blocks_done = calls.blocks_done();
  if constexpr (inserts_at_once<Design, Space, Source, Update>) {
    if (!one && design.regions() <= call_memory::bins && stays_below(design, 0, n, tuning::gpu::never_full)) {
      start_few_regions(space, design, source, n, calls, end,
                        2 * design.regions() >= space.large_blocks_at_once());
      return true;
    }
  }
  const auto start = [&](auto&& fill) {
    if constexpr (builds_from_items<Source, Space, Design>) {
      if (one) fill.fill_one(source, n);
    }
    if (!one) fill.fill_all(source, n);
    start_left_over(space, design, source, update, n, fill.counts(), end);
  };
  try {
    if constexpr (assigns) {
      if (!empty) {
        start(region_fill<Design, Space, false, true>(space, design, n, true, &calls));
        return true;
      }
    }
    start(region_fill<Design, Space>(space, design, n, false, &calls));
  } catch (const out_of_memory&) {  // nothing has started
    return false;
  }
  return true;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
