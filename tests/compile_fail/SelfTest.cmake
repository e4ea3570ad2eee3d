# SPDX-License-Identifier: Apache-2.0
# cmake -DREASON=text -P SelfTest.cmake -- SOURCE COMPILER FLAGS...
# Passes when ExpectError.cmake fails on SOURCE and names REASON; with an empty REASON, when it passes.
cmake_minimum_required(VERSION 3.24)

include(${CMAKE_CURRENT_LIST_DIR}/Arguments.cmake)

execute_process(
  COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_LIST_DIR}/ExpectError.cmake -- ${arguments}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output
)
string(REGEX REPLACE "[ \n]+" " " output "${output}") # CMake wraps its messages
if(REASON STREQUAL "")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the check failed where it had to pass: ${output}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "the check passed where it had to fail")
else()
  string(FIND "${output}" "${REASON}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "the check failed for another reason than '${REASON}': ${output}")
  endif()
endif()
