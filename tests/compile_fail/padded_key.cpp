// expect: a key must be trivially copyable and have no padding
#include <tilehash/tilehash.hpp>

struct padded {
  char a;
  int b;
};
tilehash::map<padded, int, tilehash::cpu>* p = nullptr;
auto n = p->size();
