// expect: tilehash needs g++ 12 or newer
// SPDX-License-Identifier: Apache-2.0
// errors: 2
// flags: -U__GNUC__ -D__GNUC__=11
#include <tilehash/map.hpp>  // the second error ends the compilation
