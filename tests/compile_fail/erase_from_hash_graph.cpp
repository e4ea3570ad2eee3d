// expect: erasable
#include <tilehash/tilehash.hpp>

void f(tilehash::cpu& space, tilehash::table<tilehash::hash_graph<int, int>, tilehash::cpu>& m,
       std::span<const int> x) {
  m.erase(space, x);
}
