// SPDX-License-Identifier: Apache-2.0
// The outcomes of items that have been inserted into an empty table already, by regions. These do not record
// which of equal keys they keep, but an item with the stored value is as good as the one that is stored:
//
//   look the item up --+-- its key is absent            --> refused
//                      +-- another value is stored      --> present
//                      +-- its own value: claim the slot --> the first inserted, the others present
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/item.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/designs/concepts.hpp>
#include <tilehash/kernel/call.hpp>
#include <tilehash/kernel/walk.hpp>
#include <tilehash/space/tuning.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A bit for each slot from `first` to `end`, set by the item that claims it.
struct claimed_slots {
  u32* bits;
  u64 first, end;

  TILEHASH_FN bool has(u64 slot) const { return first <= slot && slot < end; }
  TILEHASH_FN bool claim(u64 slot) const {
    u32* const word = bits + (slot - first) / bits_a_word;
    const u32 bit = 1U << (slot - first) % bits_a_word;
    return (load_relaxed(word) & bit) == 0 && (fetch_or(word, bit) & bit) == 0;
  }
};

template <probe_inserting Design, class Source, u32 Width>
struct outcomes_of_items {
  using slot_type = typename Design::slot_type;
  using word = typename slot_type::word;
  using key_bits = typename slot_type::key_bits;
  using position = insert_position_of<Design>;
  static constexpr u32 resident_blocks = tuning::gpu_here::change_occupancy(sizeof(word));

  Design design;
  Source source;
  u64 n;
  claimed_slots claimed;
  outcome* outcomes;

  // The state of one item's walk along its buckets.
  struct walk {
    key_bits key;
    typename Design::location now;
    u32 steps = 1;
    const word* at = nullptr;  // the slot of its key
    word content = 0;
  };

  // A bucket's result for a key. A collective.
  template <class Tile, class Bucket>
  TILEHASH_FN position examine(Tile t, const Bucket& b, typename slot_type::stored_key wanted) const {
    return examine_for_insert(design, t, b, wanted);
  }
  // Continues the walk with the result of the bucket at w.now. False: that bucket was the last.
  TILEHASH_FN bool go_on(walk& w, const position& result) const {
    if (result.what == lookup_state::found) {
      w.at = design.bucket_at(design.where(w.now)) + result.slot;
      w.content = result.old;
    }
    if (result.what != lookup_state::go_on || w.steps >= max_steps_of(design, w.now)) return false;
    design.advance(w.now, result);
    ++w.steps;
    return true;
  }

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    const auto x = i < n ? source(i) : item<slot_type>{};
    walk w{x.key.bits, design.locate(x.key.bits)};
    walk_along(*this, lane.template tile<Width>(), w, i < n && x.key.regular());
    if (i >= n) return;
    if (w.at == nullptr) {
      outcomes[i] = outcome::refused;
      return;
    }
    const u64 slot = static_cast<u64>(w.at - design.slots());
    if (!claimed.has(slot)) return;
    const bool is_stored = slot_type::is_set || slot_type::value_of(w.content) == x.value;
    outcomes[i] = is_stored && claimed.claim(slot) ? outcome::inserted : outcome::present;
  }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
