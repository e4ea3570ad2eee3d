// expect: a key must not be or hold a pointer, a string_view, a span or the like
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <tilehash/tilehash.hpp>

struct word {
  std::string_view text;
  int language;
};
template <>
struct tilehash::keys::members_of<word> : tilehash::keys::members<&word::text, &word::language> {};

tilehash::multimap<word, int, tilehash::cpu>* p = nullptr;
auto n = p->size();
