// Of items with equal keys the first, for inserts that are to keep that one (keep::first).
//
//   items  | a:7 b:3 a:1 c:5 b:9 ...      each gets its number in front of its value,
//   list   | (a 0:7) (b 1:3) (c 3:5)      and those of equal keys are combined to the smallest
//   (aggregate.hpp)
//
// The list has every key once, in no given order: what inserts it needs to know nothing of the rest. A value
// of up to 4 bytes travels behind its number; a wider one is read by the number afterwards.
//
// Combining may leave items over. Those are combined once more, shared out by another hash function, and the
// list with them where their part had no room for all its items, of which others may be on the list; until
// none is left. Where so many are left that it is not known which, the caller comes with fewer items.
#pragma once

#include <tilehash/algorithm/aggregate.hpp>

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

// Items with their numbers for values: all of an array's, or those whose numbers are given.
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

// Of so many items at once, at most.
inline constexpr u64 most_for_first = u64(1) << 25;

// put(source, n) for lists that have every key of n items once between them. False where that failed and some
// are missing: there are too many items for what they are. Throws out_of_memory. Waits.
template <class Slot, class Space, class Put>
bool find_first(Space& space, const with_numbers<Slot>& items, u64 n, u64 seed, const Put& put) {
  using numbered = slot_with_number<Slot>;
  using word = typename numbered::word;
  static_assert(can_combine<numbered>());
  constexpr u32 most_rounds = 16;
  auto now = combine<numbered>(space, items, n, op::minimum{}, seed);
  for (u32 rounds = 1; now.complete && now.unique; ++rounds) {
    const bool apart = now.roomless == 0;  // what is left has none of the list's keys
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
