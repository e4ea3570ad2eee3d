// The two cells beside a table for the two keys whose bits look like the marks of free slots.
//
// Where a slot has no spare bits, `empty` and `erased` must be patterns that keys can have. Those two keys
// are legal all the same: they live here, one cell each, and the bulk verbs send them here before a design
// sees them. A cell is taken by compare-and-swap, so that of several equal keys in one call one wins.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash::detail {

template <class Slot>
struct aside {
  using value_bits = typename Slot::value_bits;
  struct alignas(16) cell {
    value_bits value;
    u32 taken;
  };
  static constexpr u32 count = Slot::reserves_keys ? 2 : 0;
  static constexpr u64 bytes = count * sizeof(cell);

  cell* cells = nullptr;

  TILEHASH_FN static u32 index(typename Slot::tag tag) { return tag == Slot::empty_tag ? 0 : 1; }
  TILEHASH_FN static typename Slot::tag tag_at(u32 i) {
    if constexpr (Slot::reserves_keys)
      return i == 0 ? Slot::empty_tag : Slot::erased_tag;
    else
      return {};
  }

  TILEHASH_FN answer<value_bits> find(typename Slot::tag tag) const {
    const cell& c = cells[index(tag)];
    if (!load_relaxed(&c.taken)) return {};
    return {state::found, c.value};
  }
  TILEHASH_FN outcome insert(typename Slot::tag tag, value_bits value) const {
    cell& c = cells[index(tag)];
    if (compare_and_swap(&c.taken, u32(0), u32(1)) != 0) return outcome::present;
    c.value = value;
    return outcome::inserted;
  }
  TILEHASH_FN bool erase(typename Slot::tag tag) const {
    return compare_and_swap(&cells[index(tag)].taken, u32(1), u32(0)) == 1;
  }
};

}  // namespace tilehash::detail
