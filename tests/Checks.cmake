# SPDX-License-Identifier: Apache-2.0
# The slow checks of scripts/test.sh as ctest entries, so that one summary has the last word: the whole build again
# (nothing to do when it is up to date), the builds cpu, asan and tsan with their tests, lint. Each build has a folder of its own.
cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH _builds)

function(tilehash_check name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS check TIMEOUT 1800)
endfunction()

tilehash_check(build.gcc ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR})
set_tests_properties(build.gcc PROPERTIES RESOURCE_LOCK build_folder)
if(TILEHASH_CPU_PART STREQUAL "elsewhere")
  set(programs)
  foreach(part IN ITEMS CLI EXAMPLES)
    list(APPEND programs -DTILEHASH_BUILD_${part}=${TILEHASH_PROGRAMS_ELSEWHERE})
  endforeach()
  tilehash_check(build.cpu ${PROJECT_SOURCE_DIR}/scripts/build.sh cpu --test ${programs})
  set_tests_properties(build.cpu PROPERTIES COST 1100 TIMEOUT 3600)
endif()
foreach(sanitizer IN ITEMS asan tsan)
  tilehash_check(sanitize.${sanitizer} ${PROJECT_SOURCE_DIR}/scripts/build.sh ${sanitizer} --test -DTILEHASH_TIER=${TILEHASH_TIER})
endforeach()
foreach(check IN ITEMS format tidy spelling words subjects version spdx includes names functions tuning quotes papers verbs shell)
  tilehash_check(lint.${check} ${PROJECT_SOURCE_DIR}/scripts/lint.sh ${check})
  set_tests_properties(lint.${check} PROPERTIES LABELS "check;lint")
endforeach()
tilehash_check(docs.reference ${PROJECT_SOURCE_DIR}/scripts/docs.sh)
tilehash_check(docs.site ${PROJECT_SOURCE_DIR}/scripts/site.sh)
set_tests_properties(docs.site PROPERTIES SKIP_RETURN_CODE 77)
set(dask)
if(NOT TILEHASH_TIER STREQUAL "quick")
  set(dask dask)
endif()
tilehash_check(python.readme ${PROJECT_SOURCE_DIR}/scripts/python_test.sh quick ${dask})
set_tests_properties(python.readme PROPERTIES SKIP_RETURN_CODE 77 COST 100)
set_tests_properties(docs.site docs.reference PROPERTIES RESOURCE_LOCK docs_folder) # both run Doxygen
# The longest first, and the builds with sanitizers one after the other: with build.cpu, two builds at a time. clang-tidy reads
# the compile commands of asan.
set_tests_properties(sanitize.asan PROPERTIES COST 1000 TIMEOUT 3600)
set_tests_properties(sanitize.tsan PROPERTIES COST 900 TIMEOUT 3600)
set_tests_properties(lint.tidy PROPERTIES COST 800)
set_tests_properties(sanitize.asan sanitize.tsan lint.tidy PROPERTIES RESOURCE_LOCK sanitized_build)
set_tests_properties(lint.verbs PROPERTIES COST 300 ENVIRONMENT TILEHASH_TIER=${TILEHASH_TIER})
