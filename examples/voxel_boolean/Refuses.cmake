# cmake -DPROGRAM=example_voxel_boolean -P Refuses.cmake
# What the example says to bad input: one line, and exit code 2.
cmake_minimum_required(VERSION 3.24)

set(folder ${CMAKE_CURRENT_BINARY_DIR}/voxel_boolean_refuses)
file(WRITE ${folder}/points.obj "v 0 0 0\nv 1 0 0\nv 0 1 0\np 1 2 3\n")
file(WRITE ${folder}/triangle.obj "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")

function(refuses message)
  execute_process(
    COMMAND ${PROGRAM} ${ARGN}
    WORKING_DIRECTORY ${folder}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE out
    ERROR_VARIABLE err
  )
  string(REGEX REPLACE "\n$" "" err "${err}")
  if(NOT code EQUAL 2 OR NOT err MATCHES "^error: [^\n]*${message}[^\n]*$")
    message(SEND_ERROR "with ${ARGN}: exit code ${code}, not 2, or not the line '${message}':\n${out}${err}")
  endif()
endfunction()

refuses("the mesh has no faces" points.obj triangle.obj)
refuses("none.obj" triangle.obj none.obj)
refuses("give two meshes" triangle.obj)
refuses("--grid is '2097153'. it must be a number from 8 to 2097152" triangle.obj triangle.obj --grid 2097153)
refuses("--points is 'many'" triangle.obj triangle.obj --points many)
refuses("ask for fewer items" triangle.obj triangle.obj --grid 2097152 --points 10)
refuses("unknown option --gird" triangle.obj triangle.obj --gird 64)
refuses("no_such_folder" triangle.obj triangle.obj --grid 32 --points 100 --frames 1 --picture no_such_folder/x.png)
