// expect: tilehash: a key must be trivially copyable and have no padding (or be a float or double)
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/tilehash.hpp>

void refused(tilehash::cpu& space) { tilehash::set<long double, tilehash::cpu> numbers(space); }
