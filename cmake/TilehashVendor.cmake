# SPDX-License-Identifier: Apache-2.0
# A machine without network and without the packages for {fmt}, nlohmann-json and CLI11 can be given a folder of
# their headers (TILEHASH_VENDOR_INCLUDE; a git-ignored .vendor/include is taken on its own). The targets below
# then stand in for those of the packages, under the same names.

if(NOT TILEHASH_VENDOR_INCLUDE AND EXISTS ${PROJECT_SOURCE_DIR}/.vendor/include)
  set(TILEHASH_VENDOR_INCLUDE ${PROJECT_SOURCE_DIR}/.vendor/include)
endif()

function(_tilehash_vendor target package header definitions)
  if(TARGET ${target})
    return()
  endif()
  find_package(${package} QUIET CONFIG GLOBAL)
  if(NOT TARGET ${target} AND TILEHASH_VENDOR_INCLUDE AND EXISTS ${TILEHASH_VENDOR_INCLUDE}/${header})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    set_target_properties(
      ${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${TILEHASH_VENDOR_INCLUDE}
                           INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${TILEHASH_VENDOR_INCLUDE}
    )
    if(definitions)
      set_target_properties(${target} PROPERTIES INTERFACE_COMPILE_DEFINITIONS "${definitions}")
    endif()
    message(STATUS "tilehash: ${package} from ${TILEHASH_VENDOR_INCLUDE}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tilehash: the program needs ${package}: run scripts/bootstrap.sh, or use -DTILEHASH_BUILD_CLI=OFF "
                        "-DTILEHASH_BUILD_BENCH=OFF"
    )
  endif()
endfunction()

if(TILEHASH_BUILD_CLI OR TILEHASH_BUILD_BENCH)
  _tilehash_vendor(fmt::fmt fmt fmt/core.h FMT_HEADER_ONLY=1)
  _tilehash_vendor(nlohmann_json::nlohmann_json nlohmann_json nlohmann/json.hpp "")
  _tilehash_vendor(CLI11::CLI11 CLI11 CLI/CLI.hpp "")
endif()
