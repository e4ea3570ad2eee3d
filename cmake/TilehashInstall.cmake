# SPDX-License-Identifier: Apache-2.0
# The install rules: the headers, and a package that finds CCCL and oneTBB again on the user's machine. `cpack` makes
# libtilehash-dev_*.deb of them; packaging/ has recipes for Conan and vcpkg.
include(CMakePackageConfigHelpers)

set(_tilehash_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tilehash)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev) # the program is its own

install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.hpp"
  PATTERN "*.cuh"
)
install(TARGETS tilehash tilehash_papers EXPORT tilehashTargets)
install(EXPORT tilehashTargets NAMESPACE tilehash:: DESTINATION ${_tilehash_package_dir})

get_property(TILEHASH_INSTALLED_LIBRARIES GLOBAL PROPERTY TILEHASH_INSTALLED_LIBRARIES)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/tilehashConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/tilehashConfig.cmake
  INSTALL_DESTINATION ${_tilehash_package_dir}
  NO_CHECK_REQUIRED_COMPONENTS_MACRO
)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/tilehashConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT
)
install(
  FILES ${PROJECT_BINARY_DIR}/cmake/tilehashConfig.cmake ${PROJECT_BINARY_DIR}/cmake/tilehashConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/TilehashCccl.cmake ${PROJECT_SOURCE_DIR}/cmake/TilehashCudaStandard.cmake
        ${PROJECT_SOURCE_DIR}/cmake/tsan.supp
  DESTINATION ${_tilehash_package_dir}
)
# For builds without CMake: `pkg-config --cflags --libs tilehash`.
set(TILEHASH_PC_FLAGS " -DTILEHASH_WITHOUT_TBB")
set(TILEHASH_PC_LIBS "")
if(TILEHASH_HAS_TBB)
  set(TILEHASH_PC_FLAGS "")
  set(TILEHASH_PC_LIBS " -ltbb")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/tilehash.pc.in ${PROJECT_BINARY_DIR}/cmake/tilehash.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/tilehash.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilehash)
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# ---- libtilehash-dev_*.deb ----
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libtilehash-dev)
# The project has no mail address, and a Debian package must name one. SECURITY.md says where to report.
set(CPACK_PACKAGE_CONTACT "The tilehash authors <noreply@tilehash.invalid>" CACHE STRING "Maintainer of the Debian package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL dev)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
if(TILEHASH_HAS_TBB)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libtbb-dev)
endif()
if(NOT TILEHASH_INSTALLED_LIBRARIES) # headers alone; else this machine's architecture
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
endif()
include(CPack)
