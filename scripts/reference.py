#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the docstring of each public verb has the parts that docs/reference promises. A line for each fault.

A verb is a function whose first parameter is a space, in the headers of VERBS. A docstring that begins with "As NAME()"
states only the differences.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "tilehash"
VERBS = ["table.hpp", "table/*.hpp", "engine/*_verbs.hpp", "join.hpp", "join_graph.hpp", "analysis/factorize.hpp", "analysis/group_by.hpp"]
PARTS = {"return": "Returns", "throws": "Throws", "complexity": "Complexity", "memory": "Temporary memory",
         "synchronizes": "Synchronizes", "concurrency": "Concurrency"}


def declaration(lines, at):
    """The declaration that begins at a line, without its body, in one line."""
    text = ""
    for line in lines[at:]:
        if line.strip().startswith(("///", "//")):
            continue
        text += " " + line.strip()
        if re.search(r"(?<!\{)[;{:]\s*$|\{.*\}$|[;{]$", line):
            break
    return re.sub(r"\s+", " ", text).strip()


def docstrings(path):
    """Each docstring of a header: its first line's number, its lines, and the declaration below it."""
    lines, at = path.read_text().split("\n"), 0
    while at < len(lines):
        begin = at
        while lines[at].strip().startswith("///") and not lines[at].strip().startswith("///<"):
            at += 1
        if at > begin:
            yield begin + 1, [line.strip()[3:].strip() for line in lines[begin:at]], declaration(lines, at)
        at = max(at, begin + 1)


def faults_of(text, decl):
    """The parts that a docstring with a space among its parameters lacks."""
    if not any(line.startswith("\\param space") for line in text) or text[0].startswith("As "):
        return
    has = {line.split()[0].lstrip("\\") for line in text if line.startswith("\\")}
    for part in PARTS:
        constructs = re.search(r"\b(?:table|groups)\(Space", decl)
        if part not in has and not (part == "return" and (constructs or re.search(r"\bvoid \w+\(", decl))):
            yield f"no \\{part}"


def main():
    faults = [
        f"{path.relative_to(ROOT)}:{number}: {fault}"
        for pattern in VERBS
        for path in sorted(INCLUDE.glob(pattern))
        for number, text, decl in docstrings(path)
        for fault in faults_of(text, decl)
    ]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
