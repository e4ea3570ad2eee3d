// expect: buckets of a Horton table have 1, 2, 4, 8 or 16 slots
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/designs/horton.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/table.hpp>

// More than the remap entries of one slot can serve.
tilehash::table<tilehash::horton<unsigned, unsigned, 32>, tilehash::cpu>* p = nullptr;
auto n = p->size();
