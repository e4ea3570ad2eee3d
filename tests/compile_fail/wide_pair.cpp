// expect: keeps key and value in one atomic word of at most 16 bytes
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <tilehash/tilehash.hpp>

tilehash::table<tilehash::bucketed_cuckoo<std::array<int, 4>, unsigned>, tilehash::cpu>* p = nullptr;
auto n = p->size();
