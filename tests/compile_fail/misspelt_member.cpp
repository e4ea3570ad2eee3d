// expect: static assertion failed
// expect: displacing
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/designs/concepts.hpp>
// From here on a design's member has another name, as if its author had misspelt it.
#define displacement_of displacement_for
#include <tilehash/designs/tiled.hpp>
