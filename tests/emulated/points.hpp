// SPDX-License-Identifier: Apache-2.0
// Makes every atomic operation of a unit's tables a point at which another thread may continue: include it
// before all of the library's headers. machine.hpp chooses what happens at a point. Without choices, and in
// threads outside a machine, a point does nothing.
#pragma once

#if defined(TILEHASH_BEFORE_ATOMIC)
#error "emulated/points.hpp must be included before the library's headers"
#endif

namespace tilehash::emulation {

void schedule_point();
// A machine may read words of 16 bytes in halves: returns whether it does now, and which half is read first.
enum class load_order : unsigned char { whole, low_first, high_first };
load_order order_of_halves();

template <class Word>
Word load_16(const Word* at) {
  using half [[gnu::may_alias]] = unsigned long long;
  const auto* const halves = reinterpret_cast<const half*>(at);
  const load_order order = order_of_halves();
  const int first = order == load_order::high_first;
  half read[2];
  schedule_point();
  read[first] = __atomic_load_n(halves + first, __ATOMIC_RELAXED);
  if (order != load_order::whole) schedule_point();
  read[1 - first] = __atomic_load_n(halves + (1 - first), __ATOMIC_RELAXED);
  return static_cast<Word>(static_cast<Word>(read[1]) << 64 | read[0]);
}

}  // namespace tilehash::emulation

#define TILEHASH_BEFORE_ATOMIC() ::tilehash::emulation::schedule_point()
#define TILEHASH_LOAD_16(at) ::tilehash::emulation::load_16(at)
