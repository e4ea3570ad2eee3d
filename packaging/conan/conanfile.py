# SPDX-License-Identifier: Apache-2.0
"""Packs the working tree's headers:  conan create packaging/conan [-o '&:threads=False']"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load

ROOT = ("CMakeLists.txt", "LICENSE", "include/*", "cmake/*", "instances/*")


class Tilehash(ConanFile):
    name = "tilehash"
    description = "Hash tables for CPUs and GPUs from one source"
    license = "Apache-2.0"
    topics = ("hash-table", "gpu", "cuda", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    # threads: the space `cpu` works on oneTBB's threads.
    options = {"threads": [True, False]}
    default_options = {"threads": True}
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "../../include/tilehash/core/version.hpp"))
        self.version = ".".join(re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)\n", text))

    def export_sources(self):
        for pattern in ROOT:
            copy(self, pattern, os.path.join(self.recipe_folder, "../.."), self.export_sources_folder)

    def requirements(self):
        if self.options.threads:
            self.requires("onetbb/[>=2021.5 <2023]", transitive_headers=True, transitive_libs=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCH", "EXAMPLES", "CLI"):
            toolchain.cache_variables[f"TILEHASH_BUILD_{part}"] = False
        toolchain.cache_variables["TILEHASH_CUDA"] = False
        toolchain.cache_variables["TILEHASH_TBB"] = bool(self.options.threads)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()

    def package_id(self):
        self.info.settings.clear()

    # The package's own tilehashConfig.cmake is the one that projects find.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/tilehash"]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if not self.options.threads:
            self.cpp_info.defines = ["TILEHASH_WITHOUT_TBB"]
