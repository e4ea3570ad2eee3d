// Which tilehash this is: #if TILEHASH_VERSION >= 200 asks for 0.2.0 or newer. CMakeLists.txt reads it from
// here.
#pragma once

#define TILEHASH_VERSION_MAJOR 0
#define TILEHASH_VERSION_MINOR 1
#define TILEHASH_VERSION_PATCH 0
#define TILEHASH_VERSION \
  (TILEHASH_VERSION_MAJOR * 10000 + TILEHASH_VERSION_MINOR * 100 + TILEHASH_VERSION_PATCH)
