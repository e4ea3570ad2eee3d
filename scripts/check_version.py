#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that files that cannot read the version have that of include/tilehash/core/version.hpp.

usage: check_version.py [--fix]      --fix writes it into them
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIES = {
    "python/pyproject.toml": r'(\nversion = ")[\d.]+(")',
    "python/tilehash/__init__.py": r'(__version__ = ")[\d.]+(")',
    "packaging/vcpkg/tilehash/vcpkg.json": r'("version": ")[\d.]+(")', "CITATION.cff": r"(\nversion: )[\d.]+(\n)"}


def main():
    parts = re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)\n", (ROOT / "include/tilehash/core/version.hpp").read_text())
    version, wrong = ".".join(parts), 0
    for name, pattern in COPIES.items():
        text = (ROOT / name).read_text()
        right, found = re.subn(pattern, rf"\g<1>{version}\g<2>", text)
        if "--fix" in sys.argv:
            (ROOT / name).write_text(right)
        elif right != text or not found:
            wrong = 1
            print(f"{name}: the version is not {version}: scripts/check_version.py --fix")
    if f"## [{version}]" not in (text := (ROOT / "CHANGELOG.md").read_text()) and f"## [Unreleased] {version}" not in text:
        wrong = 1
        print(f"CHANGELOG.md: no section for {version}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
