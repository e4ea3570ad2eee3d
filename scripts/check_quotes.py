#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that documents quote code that a test compiles. A quote is a line

    <!-- quote: examples/file.cpp name -->

and the code block below it. The file has the same lines between // [name-begin] and // [name-end], or after # in CMake and Python.
README, python/README, docs/start and docs/guide have no other code blocks in C++, CMake and Python.

usage: check_quotes.py [--fix]      --fix writes the files' lines into the documents
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUOTE = re.compile(r"(<!-- quote: (\S+) (\S+) -->\n```(?:cpp|cmake|python)\n)(.*?)(```)", re.DOTALL)
BLOCK = re.compile(r"^```(?:cpp|cmake|c\+\+|cuda|python|py)$", re.MULTILINE)


def region(path, name):
    pattern = rf"(?://|#) \[{name}-begin\]\n(.*?)[ \t]*(?://|#) \[{name}-end\]"
    match = re.search(pattern, (ROOT / path).read_text(), re.DOTALL)
    if not match:
        sys.exit(f"{path}: no region [{name}-begin] .. [{name}-end]")
    return textwrap.dedent(match[1])


def main():
    fix, quotes, wrong = "--fix" in sys.argv[1:], 0, 0
    for document in [ROOT / "README.md", ROOT / "python" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text, name = document.read_text(), document.relative_to(ROOT)
        matches = list(QUOTE.finditer(text))
        quotes += len(matches)
        if name.parts[0] != "docs" or name.parts[1] in ("start", "guide"):
            if len(BLOCK.findall(text)) != len(matches):
                wrong += 1
                print(f"{name}: a code block is no quote, so no test compiles it")
        for match in matches:
            if match[4] != region(match[2], match[3]) and not fix:
                wrong += 1
                print(f"{name}: the quote of {match[2]} {match[3]} differs: lint.sh fix")
        if fix:
            document.write_text(QUOTE.sub(lambda m: m[1] + region(m[2], m[3]) + m[5], text))
    if not quotes:
        sys.exit("no quotes found: has their mark changed?")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
