// SPDX-License-Identifier: Apache-2.0
// Atomic operations against the number of them that go to one word, next to as many sequential accesses
// (Li et al., figure 3).
#pragma once

#include <tilehash/core/atomic.hpp>
#include <tilehash/core/hash.hpp>
#include <tilehash/space/buffer.hpp>

#include <algorithm>
#include <string>

#include "li/dynamic.hpp"
#include "measure.hpp"

namespace tilehash::bench {

// The operations that lock and unlock a mutex, and a read and a write of each word in turn.
enum class conflict_op { compare_and_swap, exchange, sequential };

// `together` neighbouring operations go to one word; the words are scattered as the locks of buckets are.
template <conflict_op Op>
struct change_words_together {
  u32* words;
  u64 count, together;

  TILEHASH_FN u64 place(u64 i) const { return fast_range(mix64(i / together), count); }
  TILEHASH_FN void operator()(u64 i) const {
    if constexpr (Op == conflict_op::compare_and_swap)
      detail::compare_and_swap(words + place(i), 0U, 1U);
    else if constexpr (Op == conflict_op::exchange)
      detail::exchange(words + place(i), 1U);
    else
      words[i] += 1;
  }
};

template <conflict_op Op, class Space>
void measure_conflicts(Space& space, const char* space_name, const dynamic_case& c,
                       const tell_dynamic& tell) {
  const u64 locks = std::max<u64>(1, c.items / 32);
  const buffer<u32, Space> words(space, Op == conflict_op::sequential ? c.items : locks);
  for (u64 together = 1; together <= std::min<u64>(c.items, 4096); together *= 4) {
    space.fill(words.data(), words.size(), 0U);
    const change_words_together<Op> work{words.data(), locks, together};
    const spread s = measure(
        space, c.repeat, [] {}, [&] { space.for_each(c.items, work); });
    dynamic_row row{.design = c.design, .policy = "", .space = space_name, .numbers = {}};
    row.numbers = {{"operations", double(c.items)},
                   {"conflicts", double(together)},
                   {"rate", double(c.items) / s.median / 1e9}};
    u32 first = 0;
    space.copy_to_host(&first, words.data() + (Op == conflict_op::sequential ? 0 : work.place(0)),
                       sizeof first);
    row.wrong = first != (Op == conflict_op::sequential ? c.repeat + 1 : 1);
    tell(row);
    if (Op == conflict_op::sequential) return;  // it has no conflicts
  }
}

template <class Space>
void run_conflicts(Space& space, const char* name, const dynamic_case& c, const tell_dynamic& tell) {
  if (c.design == "compare_and_swap")
    measure_conflicts<conflict_op::compare_and_swap>(space, name, c, tell);
  else if (c.design == "exchange")
    measure_conflicts<conflict_op::exchange>(space, name, c, tell);
  else
    measure_conflicts<conflict_op::sequential>(space, name, c, tell);
}

}  // namespace tilehash::bench
