// expect: is_set
#include <tilehash/tilehash.hpp>

void f(tilehash::cpu& space, tilehash::set<int, tilehash::cpu>& s, std::span<const int> x,
       std::span<char> out) {
  s.find(space, x, out);
}
