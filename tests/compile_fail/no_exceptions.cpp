// expect: tilehash reports failures by exceptions: compile without -fno-exceptions
// SPDX-License-Identifier: Apache-2.0
// errors: 2
// flags: -fno-exceptions
#include <tilehash/map.hpp>  // the second error ends the compilation
