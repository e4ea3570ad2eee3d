# SPDX-License-Identifier: Apache-2.0
# An overlay port of the tree that it stands in:  vcpkg install tilehash --overlay-ports=<tilehash>/packaging/vcpkg
set(VCPKG_BUILD_TYPE release) # headers alone
cmake_path(ABSOLUTE_PATH CURRENT_PORT_DIR NORMALIZE OUTPUT_VARIABLE SOURCE_PATH)
cmake_path(APPEND SOURCE_PATH ../../..)
cmake_path(NORMAL_PATH SOURCE_PATH)

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES threads TILEHASH_TBB)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${options}
    -DTILEHASH_CUDA=OFF
    -DTILEHASH_BUILD_TESTS=OFF
    -DTILEHASH_BUILD_BENCH=OFF
    -DTILEHASH_BUILD_EXAMPLES=OFF
    -DTILEHASH_BUILD_CLI=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/tilehash)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
