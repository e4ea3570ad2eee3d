// expect: tilehash needs C++20: compile with -std=c++20
// SPDX-License-Identifier: Apache-2.0
// errors: 2
// flags: -std=c++17
#include <tilehash/map.hpp>  // the second error ends the compilation
