# SPDX-License-Identifier: Apache-2.0
# What users meet who find tilehash as a package: from a prefix, from the Debian package, from vcpkg's port; with and
# without what it needs. Nothing of a table is compiled here: RunInstallTest.cmake does that.
cmake_minimum_required(VERSION 3.24)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${said}")
  endif()
endfunction()

set(common -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
# One folder for all questions, in which the compiler is looked at once.
function(ask prefix expected)
  run(${CMAKE_COMMAND} ${common} -S ${SOURCE}/tests/install/package -B ${FOLDER}/ask -U tilehash_DIR -U TBB_DIR -U THREADS
      -U TILEHASH* -U COMPONENTS -U LINKS -U CMAKE_DISABLE_FIND_PACKAGE_TBB -DCMAKE_PREFIX_PATH=${prefix} "-DEXPECTED=${expected}" ${ARGN})
endfunction()
# Configures it and passes when CMake's output has this text, or, with NOT, has not.
function(ask_output prefix has expected)
  execute_process(
    COMMAND ${CMAKE_COMMAND} ${common} -S ${SOURCE}/tests/install/package -B ${FOLDER}/ask_output -DCMAKE_PREFIX_PATH=${prefix}
            -DEXPECTED=found ${ARGN}
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
  )
  string(REGEX REPLACE "[ \n]+" " " said "${said}") # CMake wraps its messages
  string(FIND "${said}" "${expected}" at)
  if((has STREQUAL "HAS" AND at EQUAL -1) OR (has STREQUAL "NOT" AND NOT at EQUAL -1))
    message(FATAL_ERROR "${ARGN}: ${has} '${expected}' is wrong of: ${said}")
  endif()
endfunction()
function(build_and_run)
  run(${CMAKE_COMMAND} --build ${FOLDER}/ask)
  run(${FOLDER}/ask/version)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
set(library ${FOLDER}/library)
run(${CMAKE_COMMAND} ${common} -S ${SOURCE} -B ${library} -DTILEHASH_CUDA=OFF -DTILEHASH_BUILD_TESTS=OFF
    -DTILEHASH_BUILD_BENCH=OFF -DTILEHASH_BUILD_EXAMPLES=OFF -DTILEHASH_BUILD_CLI=OFF "-DTILEHASH_CCCL_INCLUDE_DIR=${CCCL}"
    -DTILEHASH_TBB=${TBB}
)
set(prefix ${FOLDER}/prefix)
run(${CMAKE_COMMAND} --install ${library} --prefix ${prefix})

ask(${prefix} found -DTHREADS=${TBB})
build_and_run()
ask(${prefix} found -DCOMPONENTS=cpu -DTILEHASH_TBB=OFF -DTHREADS=FALSE)
build_and_run()
ask(${prefix} "component instances: this tilehash was installed without it" -DCOMPONENTS=instances)
ask(${prefix} "configure tilehash with -DTILEHASH_INSTANCES=ON" -DCOMPONENTS=instances)
ask_output(${prefix} HAS "version links tilehash::instances, and this tilehash was installed without it" -DLINKS=tilehash::instances)
ask_output(${prefix} NOT CCCL -DLINKS=tilehash::tilehash -DLOUD=ON)
ask_output(${prefix} HAS "CCCL" -DLINKS=tilehash::tilehash -DLOUD=ON -DCOMPONENTS=cuda)
ask(${prefix} "holds no CCCL of 2.5 or newer" -DCOMPONENTS=cuda -DTILEHASH_CCCL_INCLUDE_DIR=${FOLDER})
ask(${prefix} found -DCOMPONENTS=cpu -DTILEHASH_CCCL_INCLUDE_DIR=${FOLDER})
if(TBB)
  ask(${prefix} "oneTBB was not found, whose threads it runs on: install it (Debian and Ubuntu: libtbb-dev)"
      -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON)
  ask(${prefix} found -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON -DTILEHASH_TBB=OFF -DTHREADS=FALSE)
endif()

find_program(DPKG_DEB dpkg-deb)
find_program(CPACK cpack)
if(DPKG_DEB AND CPACK)
  execute_process(COMMAND ${CPACK} -B ${FOLDER} WORKING_DIRECTORY ${library} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB package ${FOLDER}/libtilehash-dev_*_all.deb)
  run(${DPKG_DEB} -x "${package}" ${FOLDER}/root)
  ask(${FOLDER}/root/usr found)
  build_and_run()
  file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/*)
  file(GLOB_RECURSE packed RELATIVE ${FOLDER}/root/usr ${FOLDER}/root/usr/*)
  if(NOT installed STREQUAL packed)
    message(FATAL_ERROR "the Debian package has other files than an installed prefix: ${packed}")
  endif()
  execute_process(COMMAND ${DPKG_DEB} -f ${package} Depends OUTPUT_VARIABLE needs COMMAND_ERROR_IS_FATAL ANY)
  if(TBB AND NOT needs MATCHES "libtbb-dev")
    message(FATAL_ERROR "the Debian package does not need libtbb-dev: '${needs}'")
  endif()
else()
  message("no dpkg-deb or cpack here, so no Debian package is made")
endif()

run(${CMAKE_COMMAND} -DSOURCE=${SOURCE} -DFOLDER=${FOLDER}/vcpkg -DGENERATOR=${GENERATOR} -P ${CMAKE_CURRENT_LIST_DIR}/VcpkgStandIns.cmake)
file(READ ${SOURCE}/packaging/vcpkg/tilehash/vcpkg.json manifest)
string(JSON version GET "${manifest}" version)
ask(${FOLDER}/vcpkg/packages found -DVERSION=${version})
build_and_run()
