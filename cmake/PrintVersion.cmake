# SPDX-License-Identifier: Apache-2.0
# Prints the version: cmake -P cmake/PrintVersion.cmake
include(${CMAKE_CURRENT_LIST_DIR}/TilehashVersion.cmake)
message("${TILEHASH_VERSION}")
