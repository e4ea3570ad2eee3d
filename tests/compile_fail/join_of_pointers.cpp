// expect: a key must not be or hold a pointer, a string_view, a span or the like
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tilehash/tilehash.hpp>

std::vector<const char*> left, right;
tilehash::cpu space;
auto n = tilehash::join_size(space, left, right);
