# SPDX-License-Identifier: Apache-2.0
# Installs into a fresh folder (or, WAY=subproject, does not), then configures, builds and runs the outside project.
cmake_minimum_required(VERSION 3.24)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
set(options "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -DCMAKE_BUILD_TYPE=Release
            "-DTILEHASH_CCCL_INCLUDE_DIR=${CCCL}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_CXX_FLAGS_RELEASE=${LEVEL}"
)
if(WAY STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/first_prefix)
  file(RENAME ${FOLDER}/first_prefix ${FOLDER}/prefix) # an installed package may be moved
  list(APPEND options "-DCMAKE_PREFIX_PATH=${FOLDER}/prefix")
  file(GLOB_RECURSE installed ${FOLDER}/prefix/*.cmake)
  foreach(file IN LISTS installed)
    file(READ ${file} text)
    foreach(place IN ITEMS ${SOURCE} ${BUILD})
      string(REGEX REPLACE "([][+.*()^$?\\])" "\\\\\\1" pattern "${place}")
      if(text MATCHES "(^|[^}/A-Za-z0-9_.-])${pattern}") # not the end of another path, as of share/cmake/tilehash
        message(FATAL_ERROR "${file} names ${place}, so the package cannot be moved")
      endif()
    endforeach()
  endforeach()
else()
  list(APPEND options "-DTILEHASH_SOURCE=${SOURCE}")
endif()

run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/tests/install -B ${FOLDER}/build ${options})
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
run(${FOLDER}/build/app)

if(WAY STREQUAL "find_package" AND INSTANCES)
  run(${FOLDER}/build/app_quick)
  execute_process(
    COMMAND ${NM} -C ${FOLDER}/build/CMakeFiles/app_quick.dir/main.cpp.o OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY
  )
  if(NOT symbols MATCHES " U [^\n]*insertion<[^\n]*::insert<" OR symbols MATCHES " [TWV] [^\n]*look_up_ring")
    message(FATAL_ERROR "main.cpp compiled verbs that tilehash::instances has (nm -C says which)")
  endif()
endif()
