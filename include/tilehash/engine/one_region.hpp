// SPDX-License-Identifier: Apache-2.0
// Inserts few items into the only region of an empty table, in the memory of the call: a kernel builds the region and
// ends the call. More items take a second kernel, as a larger block builds them.
//
//   build    the region, from the items of the call
//   place    the items left over, if any (kernel/left_over.hpp)
//   end      the counts, to the host or to the table's memory
#pragma once

#include <type_traits>

#include <tilehash/engine/call_memory.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/kernel/left_over.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Can the last kernel of a fill by regions end the call? (A design with reserved keys would need a kernel for these.)
template <class Design, class Space>
constexpr bool fills_unwaited() {
  if constexpr (Space::has_lanes && displacing<Design> &&
                requires { typename Design::template region_build<>; })
    return !Design::slot_type::reserves_keys;
  else
    return false;
}

// Are the n items inserted by start_one_region()?
template <class Source, class Space, class Design>
bool one_region_at_once_pays(const Space& space, const Design& design, u64 n) {
  if constexpr (fills_unwaited<Design, Space>() && sizeof(typename Design::word) <= 8)
    return n <= call_memory::few_items && one_region_pays<Source>(space, design, n);
  else
    return false;
}

// ... of few items, if their keys differ.
template <class Space, class Design, class Source, class Update>
bool start_few_in_one_region(Space& space, const Design& design, const region_fill<Design, Space>& fill,
                             const Source& source, const Update& update, u64 n, const call_end& end) {
  if constexpr (Design::template region_build<source_as_bin<Design, Source>>::builds_few) {
    const auto build = fill.build_of_one(source, n);
    const auto rest = left_over_of<tuning::gpu::large_block>(design, source, update, n, fill.counts(), end);
    using build_type = std::remove_const_t<decltype(build)>;
    using body = build_few_and_insert_left_over<build_type, std::remove_const_t<decltype(rest)>>;
    const u32 cells = build_type::few_cells(n);
    const u64 bytes = body::scratch_bytes(design.region_buckets(), cells);
    if (bytes > space.largest_scratch()) return false;
    space.for_each_block(1, body::block_size, bytes, body{build, rest, cells});
    return true;
  } else {
    return false;
  }
}

// Does not synchronize with the host. The call ends like `end`.
template <class Space, class Design, class Source, class Update>
void start_one_region(Space& space, const Design& design, const Source& source, const Update& update, u64 n,
                      const call_memory& calls, call_end end) {
  constexpr u32 threads = tuning::gpu::one_region_block;
  region_fill<Design, Space> fill(space, design, calls);
  end.blocks_done = calls.blocks_done();
  if (n <= tuning::gpu::built_by_one_kernel) {
    if (start_few_in_one_region(space, design, fill, source, update, n, end)) return;
  }
  if (n > tuning::gpu::built_by_one_kernel) {
    fill.fill_one(source, n);
    return start_left_over(space, design, source, update, n, fill.counts(), end);
  }
  const auto build = fill.build_of_one(source, n);
  const auto rest = left_over_of<threads>(design, source, update, n, fill.counts(), end);
  using body =
      build_and_insert_left_over<std::remove_const_t<decltype(build)>, std::remove_const_t<decltype(rest)>>;
  space.for_each_block(1, body::block_size, body::scratch_bytes(design.region_buckets()), body{build, rest});
}

// The same. Synchronizes with the host once. If the items left over found no slot, it does not list them.
template <class Space, class Design, class Source, class Update>
region_filled<Design, Space> fill_one_region(Space& space, const Design& design, const Source& source,
                                             const Update& update, u64 n, const call_memory& calls) {
  call_end end = calls.waited(space, n, 0);
  if (n > packed_counts::most_items) end.host = nullptr;
  start_one_region(space, design, source, update, n, calls, end);
  const call_counts counts = calls.counted(space, end.host != nullptr);
  region_filled<Design, Space> r;
  r.design = design;
  r.inserted = counts[counter::inserted];
  r.illegal = counts[counter::illegal];
  r.lists_left = counts.left(left_over_phase) == 0;
  return r;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
