// expect: static assertion failed
// expect: partition_built
// SPDX-License-Identifier: Apache-2.0
#include <tilehash/designs/concepts.hpp>
// From here on a member that one design alone has is misspelt: its tables would be filled key by key.
#define bulk_build build_in_bulk
#include <tilehash/designs/robin_hood.hpp>
