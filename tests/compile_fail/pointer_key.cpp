// expect: a key must not be or hold a pointer, a string_view, a span or the like
// expect: tilehash::keys::compared_by_address
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <tilehash/tilehash.hpp>

tilehash::table<tilehash::hash_graph<std::pair<int, const char*>, int>, tilehash::cpu>* p = nullptr;
auto n = p->size();
