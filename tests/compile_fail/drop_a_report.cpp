// expect: nodiscard
// SPDX-License-Identifier: Apache-2.0
// A report counts refused items: every verb that returns one warns when it is dropped.
#include <tilehash/tilehash.hpp>

#pragma GCC diagnostic error "-Wunused-result"

void f(tilehash::cpu& space, tilehash::map<int, int, tilehash::cpu>& m, std::span<const int> x) {
  m.reserve(space, 10);  // gives a number that may be dropped
  m.insert(space, x, x);
}
