// SPDX-License-Identifier: Apache-2.0
// The outcomes of a call whose items regions insert into an empty table (engine/window_call.hpp):
//
//   all items are inserted      filled in
//   others                      each item is looked up, and claims its slot (kernel/outcomes.hpp)
//
// If a sample says that keys repeat often, regions do not take the items: single inserts have the outcomes at once.
//
// Temporary memory: an eighth of a byte a slot.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilehash/algorithm/sample.hpp>
#include <tilehash/core/capacity.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/engine/region_choice.hpp>
#include <tilehash/kernel/block_combine.hpp>
#include <tilehash/kernel/outcomes.hpp>
#include <tilehash/kernel/upsert.hpp>
#include <tilehash/space/buffer.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Is a value stored bit by bit, so that equal bits are the same value?
template <class Value>
inline constexpr bool has_exact_bits = std::is_void_v<Value> || std::is_floating_point_v<Value> ||
                                       std::has_unique_object_representations_v<Value>;

// Can items of this source claim slots? (On a CPU that is not measured.)
template <class Design, class Space, class Source, class Update>
constexpr bool claims_slots() {
  using slot_type = typename Design::slot_type;
  if constexpr (Space::has_lanes && std::same_as<Source, array_source<slot_type>> &&
                std::same_as<Update, keep_stored> && partition_built<Design> && probe_inserting<Design> &&
                !values_apart<Design>)
    return !slot_type::reserves_keys && has_exact_bits<typename Design::mapped_type>;
  else
    return false;
}

// Are the outcomes of a call by such windows, if it requests any, known without its phases?
template <class Design, class Space, class Windows>
bool may_claim_slots(const Windows& w) {
  return w.phases.outcomes() == nullptr ||
         claims_slots<Design, Space, typename Windows::source_type, typename Windows::update_type>();
}

// Do keys repeat so often that single inserts take less time? Synchronizes with the host for many items.
template <class Space, class Key>
bool repeat_often(Space& space, const Key* keys, u64 n) {
  return n >= least_to_sample(space) &&
         sample_keys(space, keys, n).more_uneven_than(tuning::of<Space>::few_outcome_copies);
}

// May regions take the items of a window up to `end`? With outcomes only all items of an empty table, and no
// more than slots: others are usually copies of few keys. Throws out_of_memory.
template <class Space, class Design, class Windows>
bool prepare_outcomes(Space& space, const Design& design, Windows& w, u64 end, u64 held) {
  using source_type = typename Windows::source_type;
  if (w.phases.outcomes() == nullptr) return true;
  if constexpr (claims_slots<Design, Space, source_type, typename Windows::update_type>()) {
    const bool all = held == 0 && w.done == 0 && end == w.n && w.n <= design.capacity();
    if (all && (regions_pay(space, design, w.n, 0) || one_region_pays<source_type>(space, design, w.n)) &&
        !repeat_often(space, w.phases.source().keys, w.n))
      w.claims = buffer<u32, Space>(space, divide_up(design.capacity(), bits_a_word));
  }
  return w.claims.size() != 0;
}

// Looks up the outcomes of n items that the table has or refused. If `bits` are fewer than its slots, there are
// several passes. Does not synchronize with the host.
template <class Space, class Design, class Source>
void look_up_outcomes(Space& space, const Design& design, const Source& source, u64 n,
                      const buffer<u32, Space>& bits, outcome* outcomes) {
  const u64 slots = design.capacity(), each = bits.size() * bits_a_word;
  for (u64 first = 0; first < slots; first += each) {
    space.fill(bits.data(), bits.size(), 0U);
    space.for_each_lane(n, outcomes_of_items<Design, Source, Design::preferred_width>{
                               design, source, n, {bits.data(), first, first + each}, outcomes});
  }
}

// Writes the outcomes of a call after prepare_outcomes(). `inserted`: items of the call. (If the table has grown
// since, there are fewer bits than slots.)
template <class Space, class Design, class Windows>
void write_outcomes(Space& space, const Design& design, const Windows& w, u64 inserted) {
  using source_type = typename Windows::source_type;
  if constexpr (claims_slots<Design, Space, source_type, typename Windows::update_type>()) {
    if (w.claims.size() == 0) return;
    if (inserted == w.n)
      space.fill(w.phases.outcomes(), w.n, outcome::inserted);
    else
      look_up_outcomes(space, design, w.phases.source(), w.n, w.claims, w.phases.outcomes());
    space.synchronize();
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
