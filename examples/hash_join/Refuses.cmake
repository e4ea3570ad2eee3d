# cmake -DPROGRAM=example_hash_join -P Refuses.cmake
# What the example says to bad input: one line, and exit code 2.
cmake_minimum_required(VERSION 3.24)

function(refuses message)
  execute_process(
    COMMAND ${PROGRAM} ${ARGN}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE out
    ERROR_VARIABLE err
  )
  string(REGEX REPLACE "\n$" "" err "${err}")
  if(NOT code EQUAL 2 OR NOT err MATCHES "^error: [^\n]*${message}[^\n]*$")
    message(SEND_ERROR "with ${ARGN}: exit code ${code}, not 2, or not the line '${message}':\n${out}${err}")
  endif()
endfunction()

refuses("--scale is '0'. it must be a number from 0.0001 to 500" --scale 0)
refuses("--scale is '1x'" --scale 1x)
refuses("--scale is 'nan'" --scale nan)
refuses("--seed is '-1'" --seed -1)
refuses("--csv is 'no/such/folder'" --csv no/such/folder)
refuses("--threads needs a value" --threads)
refuses("unknown option --sale" --sale 2)
refuses("unknown option 7" 7)
