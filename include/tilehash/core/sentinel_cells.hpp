// SPDX-License-Identifier: Apache-2.0
// A table's two cells for the two keys whose bits look like the marks of free slots.
//
// If a slot has no spare bits, `empty` and `erased` must be patterns that keys can have. Those two keys are
// legal all the same: each is stored in a cell here. The bulk verbs send them here, so no design sees them. A
// cell is one word: a value, and above it the bit that marks the cell as taken. It changes by
// compare-and-swap: of several equal keys in one call one wins.
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/core/slot.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Slot>
struct sentinel_cells {
  using value_bits = typename Slot::value_bits;
  using word = bits_t<Slot::reserves_keys ? Slot::value_bytes + 1 : 4>;
  struct alignas(16) cell {
    word content;
    TILEHASH_FN bool taken() const { return (content & taken_bit) != 0; }
    TILEHASH_FN value_bits value() const { return static_cast<value_bits>(content & ~taken_bit); }
  };
  static constexpr word taken_bit = static_cast<word>(word(1) << (8 * sizeof(word) - 1));
  static constexpr u32 count = Slot::reserves_keys ? 2 : 0;
  static constexpr u64 bytes = count * sizeof(cell);

  cell* cells = nullptr;

  TILEHASH_FN static u32 index(typename Slot::key_bits bits) { return bits == Slot::empty_mark ? 0 : 1; }
  TILEHASH_FN static typename Slot::key_bits key_at(u32 i) {
    if constexpr (Slot::reserves_keys)
      return i == 0 ? Slot::empty_mark : Slot::tombstone_mark;
    else
      return {};
  }

  TILEHASH_FN lookup_answer<value_bits> find(typename Slot::key_bits bits) const {
    const cell c{load_relaxed(&cells[index(bits)].content)};  // other threads may be inserting the key
    if (!c.taken()) return {};
    return {lookup_state::found, c.value()};
  }
  TILEHASH_FN outcome insert(typename Slot::key_bits bits, value_bits value) const {
    word* const at = &cells[index(bits)].content;
    return compare_and_swap(at, word(0), of(value)) == word(0) ? outcome::inserted : outcome::present;
  }
  // Inserts, or replaces the value by op(stored, given).
  template <class Op>
  TILEHASH_FN outcome insert_or_apply(typename Slot::key_bits bits, value_bits given, const Op& op) const {
    using mapped = typename Slot::mapped_type;
    word* const at = &cells[index(bits)].content;
    for (word old = word(0);;) {  // retries at most once for each item of this key
      const cell c{old};
      const auto next =
          c.taken() ? to_bits<value_bits>(op(from_bits<mapped>(c.value()), from_bits<mapped>(given))) : given;
      const word seen = compare_and_swap(at, old, of(next));
      if (seen == old) return c.taken() ? outcome::present : outcome::inserted;
      old = seen;
    }
  }
  TILEHASH_FN bool erase(typename Slot::key_bits bits) const {
    word* const at = &cells[index(bits)].content;
    const word old = load_relaxed(at);  // only erases run now: it changes at most once
    return cell{old}.taken() && compare_and_swap(at, old, word(0)) == old;
  }

 private:
  TILEHASH_FN static word of(value_bits v) { return static_cast<word>(taken_bit | v); }
};

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
