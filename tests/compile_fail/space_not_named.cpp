// expect: tilehash: name the space, as in map<Key, Value, tilehash::cpu>; on a GPU it is tilehash::cuda
#include <tilehash/map.hpp>
#include <tilehash/space/cpu.hpp>

void f(tilehash::cpu& space) { tilehash::map<int, int> m(space); }
