// SPDX-License-Identifier: Apache-2.0
// Finds the first of the items with equal keys, for inserts that keep that one (keep::first).
//
//   items  | a:7 b:3 a:1 c:5 b:9 ...      each gets its number in front of its value,
//   list   | (a 0:7) (b 1:3) (c 3:5)      and those of equal keys are combined to the smallest
//   (aggregate.hpp)
//
// The list has every key once, in no given order, so inserting it needs no other items. A value of up to 4
// bytes is packed behind its number; a wider one is read by its number afterwards.
//
// Combining may leave items over. They are combined again, by another hash function, until none is left. If a
// part was full, the list may have keys of items left over, so the list is combined with them. If so many
// items are left over that some of them are lost, the caller retries with fewer items.
#pragma once

#include <tilehash/algorithm/aggregate.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Slot>
inline constexpr bool carries_values = Slot::value_bytes <= 4;
// (A wide key and a narrow number would share a word unevenly, and the key's half be 16 bytes.)
template <class Slot>
using slot_with_number =
    slot<typename Slot::key_type,
         std::conditional_t<carries_values<Slot> || (packed_bytes<typename Slot::key_type> > 4), u64, u32>>;

// Items with their numbers as values: all items of an array, or those whose numbers are given.
template <class Slot>
struct with_numbers {
  array_source<Slot> items;
  const u32* numbers = nullptr;
  TILEHASH_FN item<slot_with_number<Slot>> operator()(u64 nth) const {
    const u64 i = numbers != nullptr ? numbers[nth] : nth;
    const item<Slot> x = items(i);
    item<slot_with_number<Slot>> y{query<slot_with_number<Slot>>(items.keys[i]), static_cast<u32>(i), true};
    if constexpr (carries_values<Slot>) y.value = y.value << 32 | x.value;
    return y;
  }
};
// ... and back, from the list.
template <class Slot>
struct first_source {
  const typename slot_with_number<Slot>::word* list;
  const typename Slot::mapped_type* values;
  TILEHASH_FN item<Slot> operator()(u64 i) const {
    using routed = routed_item<slot_with_number<Slot>>;
    item<Slot> x{query<Slot>(slot_with_number<Slot>::decode(routed::hash_of(list[i]))), 0, true};
    const auto number = routed::value_of(list[i]);
    if constexpr (carries_values<Slot>)
      x.value = static_cast<typename Slot::value_bits>(number & 0xffffffffU);
    else
      x.value = to_bits<typename Slot::value_bits>(values[number]);
    return x;
  }
};

// The most items for one call of find_first().
template <class Space>
inline constexpr u64 most_for_first = tuning::of<Space>::first_items;

// Calls put(source, n) for lists that together have every key of n items once. Returns false if keys are
// missing: the caller retries with fewer items. Throws out_of_memory. Synchronizes with the host.
template <class Slot, class Space, class Put>
bool find_first(Space& space, const with_numbers<Slot>& items, u64 n, u64 seed, const Put& put) {
  using numbered = slot_with_number<Slot>;
  using word = typename numbered::word;
  static_assert(can_combine<numbered>());
  constexpr u32 most_rounds = 16;
  auto now = combine<numbered>(space, items, n, op::minimum{}, seed);
  for (u32 rounds = 1; now.complete && now.unique; ++rounds) {
    const bool apart = now.without_slot == 0;  // what is left has none of the list's keys
    if (apart) put(first_source<Slot>{now.list.data(), items.items.values}, now.size);
    if (now.left == 0) return true;
    if (rounds == most_rounds) break;
    const u64 listed = apart ? 0 : now.size, all = listed + now.left;
    buffer<word, Space> again(space, all);
    if (listed != 0) space.copy(again.data(), now.list.data(), listed * sizeof(word));
    space.copy(again.data() + listed, now.left_over.data(), now.left * sizeof(word));
    now = {};
    now = combine<numbered>(space, routed_source<keys_as_they_are<numbered>>{{}, again.data()}, all,
                            op::minimum{}, seed + rounds);
  }
  return false;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
