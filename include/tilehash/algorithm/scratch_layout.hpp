// The layout of a block's scratch memory: arrays one after the other, each aligned for its elements.
//
// A block kernel lists its arrays in a struct. The host calls bytes(), and a block takes the arrays:
//
//   template <class Offset = u32>
//   struct layout {
//     scratch_array<u64, Offset> words;
//     scratch_array<u32, Offset> counts;
//
//     TILEHASH_FN constexpr explicit layout(Offset buckets) : words(8 * buckets), counts(words, buckets) {}
//     TILEHASH_FN constexpr Offset bytes() const { return counts.end(); }
//   };
//   static constexpr u64 scratch_bytes(u64 buckets) { return layout<u64>(buckets).bytes(); }
//   const auto counts = layout<>(buckets).counts.in(block);
//
// A block calculates in 32 bits, which is faster on a GPU and enough for a scratch. The host calculates in 64
// bits, because it does not yet know whether the scratch is large enough.
#pragma once

#include <utility>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class T, class Offset = u32>
struct scratch_array {
  Offset at;    // first byte
  Offset size;  // elements

  // The first array of a layout.
  TILEHASH_FN constexpr explicit scratch_array(Offset elements) : at(0), size(elements) {}
  // The array after another one.
  template <class Before>
  TILEHASH_FN constexpr scratch_array(const scratch_array<Before, Offset>& before, Offset elements)
      : at(begin_after(before)), size(elements) {}

  TILEHASH_FN constexpr Offset end() const { return at + size * Offset(sizeof(T)); }

  // The elements: a pointer, or the space's substitute for one.
  template <class Block>
  TILEHASH_FN auto in(const Block& block) const {
    return block.template scratch<T>(at);
  }

 private:
  // Rounds up only where the element types do not imply that the end is aligned.
  template <class Before>
  TILEHASH_FN static constexpr Offset begin_after(const scratch_array<Before, Offset>& before) {
    if constexpr (alignof(Before) % alignof(T) == 0)
      return before.end();
    else
      return (before.end() + Offset(alignof(T) - 1)) / Offset(alignof(T)) * Offset(alignof(T));
  }
};

// The type of scratch_array<T>::in(block).
template <class T, class Block>
using scratch_in = decltype(std::declval<const Block&>().template scratch<T>());

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
