# SPDX-License-Identifier: Apache-2.0
# What examples say to bad input, as NAME/Refuses.cmake lists it:
#
#   refuses(MESSAGE ARGUMENTS...)   exit code 2, and one line with the message (a regular expression)
#   takes(MESSAGE ARGUMENTS...)     exit code 0, and the message in what it says
#
# Every call is of PROGRAM, in the folder `folder` if one is named, with `always` before the arguments.
set(folder ${CMAKE_CURRENT_BINARY_DIR})

function(run)
  execute_process(
    COMMAND ${PROGRAM} ${always} ${ARGN}
    WORKING_DIRECTORY ${folder}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE out
    ERROR_VARIABLE err
  )
  string(REGEX REPLACE "\n$" "" err "${err}")
  set(code ${code} PARENT_SCOPE)
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()

function(refuses message)
  run(${ARGN})
  if(NOT code EQUAL 2 OR NOT err MATCHES "^error: [^\n]*${message}[^\n]*$")
    message(SEND_ERROR "with ${ARGN}: exit code ${code}, not 2, or not the line '${message}':\n${out}${err}")
  endif()
endfunction()

function(takes message)
  run(${ARGN})
  if(NOT code EQUAL 0 OR NOT out MATCHES "${message}")
    message(SEND_ERROR "with ${ARGN}: exit code ${code}, not 0, or not '${message}':\n${out}${err}")
  endif()
endfunction()
