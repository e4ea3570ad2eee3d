// SPDX-License-Identifier: Apache-2.0
// Assigns values to present keys region by region (designs/tiled/merge.hpp).
//
// Two samples of the keys decide:
//   repeated   if few keys repeat, equal keys are not combined first
//   present    in a table that may grow. A call that may have more new keys than there are free slots looks all
//              keys up first, which reads and writes a random line for each item. If nearly all keys are
//              present, the items are assigned by regions instead, and the few new keys take free slots.
#pragma once

#include <concepts>
#include <optional>

#include <tilehash/algorithm/sample.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/insert_phases.hpp>
#include <tilehash/engine/region_fill.hpp>
#include <tilehash/kernel/entries.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Calls that may go by regions.
template <class Design, class Source, class Update>
inline constexpr bool filled_by_regions =
    partition_built<Design> &&
    (std::same_as<Update, keep_stored> ||
     std::same_as<Update, apply<op::assign>>)&&!std::same_as<Source,
                                                             called_source<typename Design::slot_type>>;
template <class Design, class Space, class Windows>
inline constexpr bool assigned_by_regions =
    Windows::phases_type::updates && assigns_by_regions<Design, Space>() &&
    filled_by_regions<Design, typename Windows::source_type, typename Windows::update_type>;

// Every `step`-th item of a source.
template <class Source>
struct strided_source {
  Source source;
  u64 step;
  TILEHASH_FN auto operator()(u64 i) const { return source(i * step); }
};

// Whether to assign values without combining equal keys first: few keys repeat, so combining takes longer than
// it saves, and the items fit bins. Synchronizes with the host.
template <class Design, class Space, class Key>
bool assigns_uncombined(Space& space, const Design& /*design*/, const Key* keys, u64 n) {
  try {
    return !sample_keys(space, keys, n, 2).more_uneven_than(tuning::of<Space>::few_assigned_copies);
  } catch (const out_of_memory&) {
    return false;
  }
}

// Are nearly all keys of n items present? Synchronizes with the host.
template <class Design, class Space, class Source, class Cells>
bool mostly_present(Space& space, const Design& design, const Cells& sentinels, const call_memory& calls,
                    const Source& source, u64 n) {
  constexpr u64 sampled = tuning::table::presence_sample;
  static_assert(sampled <= call_memory::few_items);
  insert_phases<Design, Space, strided_source<Source>, keep_stored> sample{
      space, {source, n / sampled}, sampled, nullptr, {}, calls};
  sample.make_bits();
  sample.look_up(design, 0, sampled, sentinels);
  sample.collect();
  return sample.left() <= sampled / 64;
}

// Has a table nearly all of n keys, as a sample says? Synchronizes with the host.
template <class Table, class Space, class Key>
bool has_nearly_all(Space& space, const Table& table, const Key* keys, u64 n) {
  constexpr u64 sampled = tuning::table::presence_sample;
  if (table.size() == 0) return false;
  const buffer<Key, Space> drawn(space, sampled);
  const buffer<u64, Space> missing(space, 1);
  space.fill(missing.data(), 1, u64(0));
  space.for_each(sampled, draw_keys<Key>{keys, n, drawn.data()});
  table.look_up(space, static_cast<const Key*>(drawn.data()), sampled, missing_sink{missing.data()});
  return read_one(space, missing.data()) <= sampled / 64;
}

// Assigns the values by regions. Returns nothing if that does not pay. New keys that find no slot are among the items left over.
template <class Design, class Space, class Source, class Cells>
std::optional<region_filled<Design, Space>> assign_present(Space& space, const Design& design,
                                                           const Cells& sentinels, const call_memory& calls,
                                                           const Source& source, u64 n) {
  if (!assigning_pays(space, design, n) || !mostly_present(space, design, sentinels, calls, source, n))
    return std::nullopt;
  return assign_by_regions(space, design, source, n, calls);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
