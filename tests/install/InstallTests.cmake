# SPDX-License-Identifier: Apache-2.0
# An outside project builds against an installed tilehash, and with tilehash as a subproject.
set(_install_flags "$<$<BOOL:${TILEHASH_MARCH}>:-march=${TILEHASH_MARCH}>")
set(_install_level -O3)
if(TILEHASH_TIER STREQUAL "quick")
  set(_install_level -O0)
endif()
foreach(way IN ITEMS find_package subproject)
  add_test(
    NAME install.${way}
    COMMAND
      ${CMAKE_COMMAND} -DWAY=${way} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
      -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/install_${way} -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER}
      -DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER} -DCCCL=${TILEHASH_CCCL_INCLUDE_DIR}
      -DINSTANCES=${TILEHASH_INSTANCES} "-DFLAGS=${_install_flags}" -DLEVEL=${_install_level} -DNM=${CMAKE_NM} -P
      ${CMAKE_CURRENT_LIST_DIR}/RunInstallTest.cmake
  )
  set_tests_properties(install.${way} PROPERTIES LABELS install TIMEOUT 300 COST 700)
endforeach()
add_test(
  NAME install.package
  COMMAND
    ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/install_package
    -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER} -DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
    -DCCCL=${TILEHASH_CCCL_INCLUDE_DIR} -DTBB=$<IF:$<BOOL:${TILEHASH_HAS_TBB}>,TRUE,FALSE> -P
    ${CMAKE_CURRENT_LIST_DIR}/RunPackageTest.cmake
)
set_tests_properties(install.package PROPERTIES LABELS install TIMEOUT 300 COST 700)
