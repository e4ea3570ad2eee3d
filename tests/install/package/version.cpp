// SPDX-License-Identifier: Apache-2.0
// Are the headers of the version that the package has, and threads there where it says so?
#include <cstring>

#include <tilehash/core/config.hpp>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static_assert(TILEHASH_VERSION ==
              TILEHASH_VERSION_MAJOR * 10000 + TILEHASH_VERSION_MINOR * 100 + TILEHASH_VERSION_PATCH);

int main() {
  return std::strcmp(
      TEXT(TILEHASH_VERSION_MAJOR) "." TEXT(TILEHASH_VERSION_MINOR) "." TEXT(TILEHASH_VERSION_PATCH),
      EXPECTED_VERSION);
}
