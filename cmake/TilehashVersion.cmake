# SPDX-License-Identifier: Apache-2.0
# TILEHASH_VERSION as include/tilehash/core/version.hpp has it, for project().
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/tilehash/core/version.hpp _tilehash_lines REGEX "VERSION_[A-Z]+ [0-9]+$")
list(TRANSFORM _tilehash_lines REPLACE "^.* " "")
list(JOIN _tilehash_lines "." TILEHASH_VERSION)
