# cmake -DPROGRAM=example_kv_store -P Refuses.cmake
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

refuses("--records is '0'. it must be a number from 1 to 1000000000" --records 0)
refuses("--batch is '8k'" --batch 8k)
refuses("--threads needs a value" --records 10 --threads)
refuses("unknown option --theads" --theads 2)
refuses("--workloads is 'ABE'" --workloads ABE)
