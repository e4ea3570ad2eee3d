// SPDX-License-Identifier: Apache-2.0
// A race in a loop body of the cpu space. The ThreadSanitizer build must report it: this shows that what
// replaces oneTBB there orders no more than oneTBB would.
#include <tilehash/space/cpu.hpp>

int main() {
  tilehash::cpu space;
  int touched = 0;
  space.for_each(100'000, [&](tilehash::u64 i) {
    if (i % 1000 == 0) ++touched;
  });
  return touched > 0 ? 0 : 1;
}
