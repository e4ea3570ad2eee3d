// expect: tilehash reports failures by exceptions: compile without -fno-exceptions
// errors: 2
// flags: -fno-exceptions
#include <tilehash/map.hpp>  // the second error ends the compilation
