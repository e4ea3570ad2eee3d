// expect: keeps keys and values of at most 8 bytes each
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <tilehash/tilehash.hpp>

tilehash::table<tilehash::tiled<std::array<int, 4>, unsigned>, tilehash::cpu>* p = nullptr;
auto n = p->size();
