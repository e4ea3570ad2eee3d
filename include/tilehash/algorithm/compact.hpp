// Numbers the selected ones of n items from *count on, in no given order. *count grows by how many they are.
#pragma once

#include <tilehash/core/atomic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A choice has selects(i), and use(i, number) that is called for each selected item.
template <class Choice>
struct compact_body {
  Choice choice;
  u64 n;
  u64* count;

  template <class Lane>
  TILEHASH_FN void operator()(Lane lane) const {
    const u64 i = lane.index();
    const bool chosen = i < n && choice.selects(i);
    const u64 number = lane.append(count, chosen);
    if (chosen) choice.use(i, number);
  }
  void operator()(u64 from, u64 to) const {
    u64 chosen = 0;
    for (u64 i = from; i < to; ++i) chosen += choice.selects(i);
    u64 number = detail::fetch_add(count, chosen);
    for (u64 i = from; i < to; ++i) {
      if (choice.selects(i)) choice.use(i, number++);
    }
  }
};

template <class Space, class Choice>
void compact(Space& space, u64 n, const Choice& choice, u64* count) {
  const compact_body<Choice> work{choice, n, count};
  if constexpr (Space::has_lanes)
    space.for_each_lane(n, work);
  else
    space.for_each_chunk(n, work);
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
