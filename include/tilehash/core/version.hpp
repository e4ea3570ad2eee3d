// SPDX-License-Identifier: Apache-2.0
// The version of tilehash: #if TILEHASH_VERSION >= 200 requires 0.2.0 or newer. CMakeLists.txt reads it from
// here.
#pragma once

// Changes if programs must change.
#define TILEHASH_VERSION_MAJOR 0
// Changes with new features; before 1.0, if programs must change.
#define TILEHASH_VERSION_MINOR 1
// Changes with fixes.
#define TILEHASH_VERSION_PATCH 0
// All three as a number: 10000 major + 100 minor + patch.
#define TILEHASH_VERSION \
  (TILEHASH_VERSION_MAJOR * 10000 + TILEHASH_VERSION_MINOR * 100 + TILEHASH_VERSION_PATCH)
