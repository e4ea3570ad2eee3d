# SPDX-License-Identifier: Apache-2.0
# CCCL's headers (libcu++, CUB, Thrust) as the target tilehash::cccl, which is empty where there are none, as programs for
# CPUs need none; TILEHASH_CCCL_PROBLEM says why there are none. Used by the project's build and, installed, by
# tilehashConfig.cmake on the user's machine, so that nothing of the build machine's paths is written down.
#
# Looked for, in this order:
#   1. TILEHASH_CCCL_INCLUDE_DIR, the folder that holds cuda/std/
#   2. the CUDA toolkit, with or without nvcc on PATH
#   3. a CMake package CCCL or libcudacxx

if(TARGET tilehash::cccl)
  get_target_property(_tilehash_cccl tilehash::cccl INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT _tilehash_cccl AND NOT TILEHASH_CCCL_PROBLEM)
    set(TILEHASH_CCCL_PROBLEM "CCCL's headers were not found when they were first looked for")
  endif()
  return()
endif()
set(TILEHASH_CCCL_PROBLEM "")
# Only a project that compiles CUDA, or asks for the component, is told.
set(_tilehash_say VERBOSE)
get_property(_tilehash_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT tilehash_FIND_QUIETLY AND ("CUDA" IN_LIST _tilehash_languages OR tilehash_FIND_COMPONENTS MATCHES "cuda"))
  set(_tilehash_say STATUS)
endif()

set(TILEHASH_CCCL_INCLUDE_DIR "" CACHE PATH "folder that holds CCCL's cuda/std/, cub/ and thrust/")
set(_tilehash_cccl_minimum 200500) # CCCL 2.5, which CUDA 12.6 carries

# Sets ${result} when ${folder} holds a CCCL that is new enough; notes the ones that are too old.
function(_tilehash_try_cccl folder result)
  if(${result} OR NOT EXISTS "${folder}/cuda/std/version")
    return()
  endif()
  if(EXISTS "${folder}/cub/version.cuh")
    file(STRINGS "${folder}/cub/version.cuh" line REGEX "define CUB_VERSION [0-9]+")
    if(line MATCHES "CUB_VERSION ([0-9]+)" AND CMAKE_MATCH_1 LESS _tilehash_cccl_minimum)
      message(${_tilehash_say} "tilehash: CCCL in ${folder} is older than 2.5 and not used")
      return()
    endif()
  endif()
  file(REAL_PATH "${folder}" folder)
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

set(_tilehash_cccl "")
if(TILEHASH_CCCL_INCLUDE_DIR)
  _tilehash_try_cccl("${TILEHASH_CCCL_INCLUDE_DIR}" _tilehash_cccl)
  if(NOT _tilehash_cccl)
    set(TILEHASH_CCCL_PROBLEM "TILEHASH_CCCL_INCLUDE_DIR is '${TILEHASH_CCCL_INCLUDE_DIR}', which holds no CCCL of 2.5 or \
newer (no cuda/std/version there, or an old one)"
    )
  endif()
endif()

if(NOT TILEHASH_CCCL_INCLUDE_DIR)
  set(_tilehash_roots)
  foreach(compiler IN ITEMS "${CMAKE_CUDA_COMPILER}" "${TILEHASH_NVCC}" "$ENV{CUDACXX}")
    if(compiler AND EXISTS "${compiler}")
      file(REAL_PATH "${compiler}" compiler)
      cmake_path(GET compiler PARENT_PATH compiler)
      cmake_path(GET compiler PARENT_PATH compiler)
      list(APPEND _tilehash_roots "${compiler}")
    endif()
  endforeach()
  list(APPEND _tilehash_roots "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda)
  foreach(root IN LISTS _tilehash_roots)
    if(root)
      _tilehash_try_cccl("${root}/include/cccl" _tilehash_cccl)
      _tilehash_try_cccl("${root}/include" _tilehash_cccl)
      _tilehash_try_cccl("${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include/cccl" _tilehash_cccl)
      _tilehash_try_cccl("${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include" _tilehash_cccl)
    endif()
  endforeach()

  if(NOT _tilehash_cccl)
    find_package(libcudacxx CONFIG QUIET)
    if(NOT TARGET libcudacxx::libcudacxx)
      find_package(CCCL CONFIG QUIET COMPONENTS libcudacxx)
    endif()
    if(TARGET libcudacxx::libcudacxx)
      get_target_property(_tilehash_folders libcudacxx::libcudacxx INTERFACE_INCLUDE_DIRECTORIES)
      foreach(folder IN LISTS _tilehash_folders)
        _tilehash_try_cccl("${folder}" _tilehash_cccl)
      endforeach()
    endif()
  endif()
  if(NOT _tilehash_cccl)
    set(TILEHASH_CCCL_PROBLEM "CCCL's headers (2.5 or newer) not found, which come with the CUDA toolkit (12.6 or newer): pass \
-DTILEHASH_CCCL_INCLUDE_DIR=<the folder that holds cuda/std>"
    )
  endif()
endif()

add_library(tilehash::cccl INTERFACE IMPORTED GLOBAL)
if(TILEHASH_CCCL_PROBLEM)
  message(${_tilehash_say} "tilehash: CCCL not found; programs for CPUs need none")
  return()
endif()
set_target_properties(
  tilehash::cccl PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_tilehash_cccl}"
                            INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_tilehash_cccl}"
)
message(${_tilehash_say} "tilehash: CCCL from ${_tilehash_cccl}")
