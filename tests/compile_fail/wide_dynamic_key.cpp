// expect: dynamic_cuckoo compares keys as words of at most 16 bytes; use dynamic_map, which takes any
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <tilehash/tilehash.hpp>

tilehash::table<tilehash::dynamic_cuckoo<std::array<int, 8>, unsigned>, tilehash::cpu>* p = nullptr;
auto n = p->size();
