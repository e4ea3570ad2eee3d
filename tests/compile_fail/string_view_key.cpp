// expect: a key must not be or hold a pointer, a string_view, a span or the like
// expect: std::array<char, N>
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <tilehash/tilehash.hpp>

tilehash::map<std::string_view, int, tilehash::cpu>* p = nullptr;
auto n = p->size();
