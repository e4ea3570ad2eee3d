#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the source files name their license in an SPDX line. REUSE.toml covers all other files.

usage: check_spdx.py [--fix]      --fix writes the lines
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = "SPDX-License-Identifier: Apache-2.0"
OTHERS = (".py", ".sh", ".cmake", "CMakeLists.txt", ".ci/run")
CPP = (".hpp", ".cuh", ".cpp", ".cu")


def main():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if names.returncode:
        return 0  # a copy without git
    wrong = 0
    for name in names.stdout.split():
        cpp = name.endswith(CPP)
        if not (cpp or name.endswith(OTHERS)) or not (ROOT / name).is_file():
            continue
        lines = (ROOT / name).read_text().split("\n")
        if any(LINE in line for line in lines):
            continue
        if "--fix" in sys.argv:  # below a shebang and the expected messages of a test that must not compile
            at = 0
            while lines[at].startswith(("#!", "// expect")):
                at += 1
            lines.insert(at, f"{'//' if cpp else '#'} {LINE}")
            (ROOT / name).write_text("\n".join(lines))
        else:
            wrong = 1
            print(f"{name}: no line '{LINE}': scripts/check_spdx.py --fix")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
