// expect: tilehash needs clang 16 or newer
// SPDX-License-Identifier: Apache-2.0
// errors: 2
// flags: -D__clang__ -D__clang_major__=15
#include <tilehash/map.hpp>  // the second error ends the compilation
