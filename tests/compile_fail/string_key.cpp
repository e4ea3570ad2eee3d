// expect: a key must be trivially copyable and have no padding
#include <string>

#include <tilehash/tilehash.hpp>

tilehash::set<std::string, tilehash::cpu>* p = nullptr;
auto n = p->size();
