// expect: a key must be trivially copyable and have no padding
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <tilehash/tilehash.hpp>

tilehash::set<std::string, tilehash::cpu>* p = nullptr;
auto n = p->size();
