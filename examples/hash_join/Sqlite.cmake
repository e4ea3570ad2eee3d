# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=example_hash_join -DSQLITE=sqlite3 -DFOLDER=... -P Sqlite.cmake
# SQLite gives the same answers on the same tables.
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
foreach(seed IN ITEMS 1 2)
  execute_process(COMMAND ${PROGRAM} --scale 0.02 --seed ${seed} --csv ${FOLDER} OUTPUT_VARIABLE ours COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND ${SQLITE} :memory:
    INPUT_FILE ${CMAKE_CURRENT_LIST_DIR}/queries.sql
    WORKING_DIRECTORY ${FOLDER}
    OUTPUT_VARIABLE theirs COMMAND_ERROR_IS_FATAL ANY
  )
  string(REPLACE "\r" "" theirs "${theirs}")
  set(answer "(Q12|Q4|in time|overdue|pairs),[^\n]*\n")
  string(REGEX MATCHALL "${answer}" ours "${ours}")
  string(REGEX MATCHALL "${answer}" theirs "${theirs}")
  list(LENGTH theirs lines)
  if(NOT lines EQUAL 22 OR NOT ours STREQUAL theirs)
    message(SEND_ERROR "seed ${seed}: the example says\n${ours}\nand SQLite\n${theirs}")
  endif()
endforeach()
