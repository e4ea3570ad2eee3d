// expect: insertable
#include <tilehash/tilehash.hpp>

void f(tilehash::cpu& space, tilehash::multimap<int, int, tilehash::cpu>& m, std::span<const int> x) {
  m.insert(space, x, x);
}
