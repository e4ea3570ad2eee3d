# SPDX-License-Identifier: Apache-2.0
# Included by a script: `arguments` is what stands on its command line after "--".
set(arguments)
set(seen OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(seen)
    list(APPEND arguments "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(seen ON)
  endif()
endforeach()
