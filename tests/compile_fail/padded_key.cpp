// expect: a key must be trivially copyable and have no padding
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/tilehash.hpp>

struct padded {
  char a;
  int b;
};
tilehash::map<padded, int, tilehash::cpu>* p = nullptr;
auto n = p->size();
