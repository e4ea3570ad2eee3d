# The install rules: the headers, and a package that finds CCCL and oneTBB again on the user's machine.
include(CMakePackageConfigHelpers)

set(_tilehash_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tilehash)

install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.hpp"
  PATTERN "*.cuh"
)
install(TARGETS tilehash EXPORT tilehashTargets)
install(EXPORT tilehashTargets NAMESPACE tilehash:: DESTINATION ${_tilehash_package_dir})

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/tilehashConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/tilehashConfig.cmake
  INSTALL_DESTINATION ${_tilehash_package_dir}
)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/tilehashConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT
)
install(
  FILES ${PROJECT_BINARY_DIR}/cmake/tilehashConfig.cmake ${PROJECT_BINARY_DIR}/cmake/tilehashConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/TilehashCccl.cmake ${PROJECT_SOURCE_DIR}/cmake/TilehashCudaStandard.cmake
  DESTINATION ${_tilehash_package_dir}
)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilehash)
