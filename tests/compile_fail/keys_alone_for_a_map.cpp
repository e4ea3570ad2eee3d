// expect: is_set
#include <tilehash/tilehash.hpp>

void refused(tilehash::cpu& space, tilehash::map<int, int, tilehash::cpu>& m, std::span<const int> keys) {
  m.build(space, keys);
}
