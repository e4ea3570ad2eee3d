#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the two translation units that clang-tidy looks at: what runs the program's designs, and the
contract's test of arguments, which includes the whole library.

usage: tidy_units.py compile_commands.json
"""

import json
import pathlib
import re
import sys

WANTED = [
    r"/apps/tilehash/runner_cpu\.cpp$",
    r"/tests/contract/arguments_test\.cpp$",
]


def main():
    commands = json.loads(pathlib.Path(sys.argv[1]).read_text())
    files = sorted({str(pathlib.Path(c["directory"], c["file"])) for c in commands})
    files = [f for f in files if not f.endswith("/precompiled.cpp")]  # CMake's, with nothing in it
    for pattern in WANTED:
        hits = [f for f in files if re.search(pattern, f)]
        if hits:
            print(hits[0])


if __name__ == "__main__":
    main()
