#!/usr/bin/env python3
"""Checks that documents quote the examples as they are. A quote is a line

    <!-- quote: examples/file.cpp name -->

and the code block below it; the example has the same lines between // [name-begin] and // [name-end].

usage: check_quotes.py [--fix]      --fix writes the examples' lines into the documents
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUOTE = re.compile(r"(<!-- quote: (\S+) (\S+) -->\n```cpp\n)(.*?)(```)", re.DOTALL)


def region(path, name):
    match = re.search(rf"// \[{name}-begin\]\n(.*?)[ \t]*// \[{name}-end\]", (ROOT / path).read_text(), re.DOTALL)
    if not match:
        sys.exit(f"{path}: no region [{name}-begin] .. [{name}-end]")
    return textwrap.dedent(match[1])


def main():
    fix, quotes, wrong = "--fix" in sys.argv[1:], 0, 0
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = document.read_text()
        for match in QUOTE.finditer(text):
            quotes += 1
            if match[4] != region(match[2], match[3]):
                wrong += 1
                if not fix:
                    print(f"{document.relative_to(ROOT)}: the quote of {match[2]} {match[3]} differs: lint.sh fix")
        if fix:
            document.write_text(QUOTE.sub(lambda m: m[1] + region(m[2], m[3]) + m[5], text))
    if not quotes:
        sys.exit("no quotes found: has their mark changed?")
    return 1 if wrong and not fix else 0


if __name__ == "__main__":
    sys.exit(main())
