#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks all comments of the C++ and CUDA sources: words to avoid, and how sentences begin. A line for each fault.

usage: check_comments.py
"""

import re
import sys

from prose import AVOID, ROOT, STARTS, WORDS

COMMENTED = ("include", "apps", "bench", "examples", "instances", "tests")
ONLY_IN_DOCUMENTS = ("asked[ -]for", "whatever", "made up", "(?:a|an|last) ")
START = re.compile(rf"(?:^|[.:] )\(?({'|'.join(sorted(STARTS))})\b")


def faults():
    for path in sorted(p for folder in COMMENTED for p in (ROOT / folder).rglob("*.[hc]*")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if not (comment := re.search(r"(?:^|\s)//+[/<!]*\s(.*)", line)):
                continue
            if starts := START.search(comment[1]):
                yield f"{path.relative_to(ROOT)}:{number}: a sentence begins with '{starts[1]}'"
            for word in WORDS.finditer(re.sub(r"`[^`]*`|\w+\(\)", "`x`", comment[1])):
                pattern, instead = list(AVOID.items())[int(word.lastgroup[1:])]
                if not pattern.startswith(ONLY_IN_DOCUMENTS):
                    yield f"{path.relative_to(ROOT)}:{number}: '{word[0]}': {instead}"


def main():
    found = list(faults())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
