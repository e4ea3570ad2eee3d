# cmake -DPROGRAM=example_sparse_paint -P Refuses.cmake
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

refuses("--side is '32'. it must be a number from 64 to 1048576" --side 32)
refuses("--side is 512. it must be at least the window's" --side 512 --window 1024)
refuses("morton: a grid of 131072 x 131072 points takes keys of 34 bits, but these have 32" --side 131072 --frames 1)
refuses("unknown option brush" brush)
refuses("--frames is '0'" --frames 0)
refuses("no_such_folder" --side 512 --window 16 --brush 2 --frames 1 --picture no_such_folder/x.png)
