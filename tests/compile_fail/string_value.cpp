// expect: tilehash: a mapped value must be trivially copyable, or void for a set
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <tilehash/tilehash.hpp>

void refused(tilehash::cpu& space) { tilehash::map<int, std::string, tilehash::cpu> names(space); }
