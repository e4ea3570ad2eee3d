# SPDX-License-Identifier: Apache-2.0
# cmake -DHEADER=a design's header -DHOOK=name [-DBY=...] -P MisspeltHook.cmake -- SOURCE COMPILER FLAGS...
# Writes SOURCE: the header, with the design's hook under another name, as if its author had misspelt it. Passes when the compiler
# refuses it: the static_assert at the header's end names the hook (docs/adr/0031-concepts.md).
cmake_minimum_required(VERSION 3.24)

include(${CMAKE_CURRENT_LIST_DIR}/Arguments.cmake)
list(GET arguments 0 source)
file(READ "${HEADER}" text)
string(FIND "${text}" "\nstatic_assert(" end REVERSE)
string(SUBSTRING "${text}" 0 ${end} design)
string(SUBSTRING "${text}" ${end} -1 asserts)
string(REGEX REPLACE "([^A-Za-z0-9_])${HOOK}([^A-Za-z0-9_])" "\\1misspelt\\2" misspelt "${design}")
if(misspelt STREQUAL design)
  message(FATAL_ERROR "${HEADER} has no ${HOOK}")
endif()
file(WRITE "${source}" "// expect: ${HOOK}\n${misspelt}${asserts}")
include(${CMAKE_CURRENT_LIST_DIR}/ExpectError.cmake)
