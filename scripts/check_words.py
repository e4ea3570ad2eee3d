#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the prose of documents: words to avoid, sentence starts and lengths, relative links. A line for each fault.

usage: check_words.py [--docstrings] [FILE...]
default: README and its like, packaging/ and docs/
--docstrings: checks the /// comments of include/tilehash/ instead
"""

import pathlib
import re
import sys

from prose import AVOID, ROOT, STARTS, WORDS, blocks, prose_of

LONGEST, LONGEST_IN_TABLE = 25, 40  # words of a sentence
MOST_LINES = {"README.md": 150, "CONTRIBUTING.md": 120}
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")


def broken(path, target):
    name, _, anchor = target.partition("#")
    to = (path.parent / name).resolve() if name else path
    if re.match(r"\w+:", name) or not to.exists() or not anchor or to.suffix != ".md":
        return not re.match(r"\w+:", name) and not to.exists()
    headings = (LINK.sub(r"\1", h).lower() for h in re.findall(r"^#+ (.*)$", to.read_text(), re.MULTILINE))
    return anchor not in {re.sub(r"[^\w\- ]", "", h).strip().replace(" ", "-") for h in headings}


def check(path, lines):
    for number, block in blocks(lines):
        yield from ((number, f"no such link: {target}") for _, target in LINK.findall(block) if broken(path, target))
        text = LINK.sub(lambda m: "" if m[0][0] == "!" else m[1], re.sub(r"`[^`]*`", "`x`", block)).replace("*", "")
        for word in WORDS.finditer(text):
            yield number, f"'{word[0]}': {list(AVOID.values())[int(word.lastgroup[1:])]}"
        for sentence in re.split(r"(?<=[.!?:])\)?\s+(?=[(`\"A-Z0-9])", text):
            words = re.findall(r"\S*\w\S*", sentence)
            if words[:1] and words[0] in STARTS and len(words) > 4:
                yield number, f"a sentence begins with '{words[0]}'"
            if len(words) > (LONGEST_IN_TABLE if block.startswith("| ") else LONGEST):
                yield number, f"{len(words)} words in a sentence: {' '.join(words[:6])} ..."


def main():
    code, faults = "--docstrings" in sys.argv, []
    names = [a for a in sys.argv[1:] if a != "--docstrings"]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("packaging/*.md"), *(ROOT / "docs").rglob("*.md")]
    paths = [pathlib.Path(n).resolve() for n in names] or pages
    if code:
        paths = [p for p in (ROOT / "include").rglob("*.[hc]*") if p.suffix in (".hpp", ".cuh")]
    for path in sorted(paths):
        name, lines = str(path.relative_to(ROOT)), path.read_text().split("\n")
        faults += [f"{name}:{number}: {fault}" for number, fault in check(path, map(prose_of, lines) if code else lines)]
        if len(lines) - 1 > MOST_LINES.get(name, len(lines)):
            faults.append(f"{name}: more than {MOST_LINES[name]} lines")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
