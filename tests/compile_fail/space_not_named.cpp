// expect: tilehash: name the space, as in map<Key, Value, tilehash::cpu>; on a GPU it is tilehash::cuda
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/map.hpp>
#include <tilehash/space/cpu.hpp>

void f(tilehash::cpu& space) { tilehash::map<int, int> m(space); }
