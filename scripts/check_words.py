#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the prose of documents: words to avoid, sentence starts and length, relative links. Prints a line for each fault.

usage: check_words.py [--docstrings] [FILE...]   default: *.md, packaging/ and docs/ but the decisions in docs/adr/
--docstrings checks the /// comments of include/tilehash/ instead.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST, LONGEST_IN_TABLE = 25, 40  # words of a sentence
STARTS = {"What", "Who", "Which", "Of"}
AVOID = {  # a pattern: the standard term
    r"who|whom": "name the lane, thread, call or table; a person may be 'a user that'",
    r"anew|from nothing": "again, rebuild, retry, from an empty table",
    r"beside": "next to, concurrently with, in addition to",
    r"stands?(?! for)|stood|lies": "is, is stored",
    r"(?:is|are|was|were|be|already|not|keys) there": "present",
    r"tells?|told": "result, return, report",
    r"room": "capacity, space, free slots",
    r"aside": "sentinel cells, separate",
    r"guests?|natives?|fellows?": "secondary item, primary item, foreign stream",
    r"homeless": "unplaced",
    r"journeys?|census|walkers?|wandering|twins?|seats?": "relocation, in-flight item, displaced item, equal keys, slots",
    r"by a root|a root": "standard deviation",
    r"(?:a|an|the last|last) \d+(?:st|nd|rd|th)": "a percentage or a fraction",
    r"asked for|asked-for|were asked|aimed at": "no internal targets in documents",
    r"made up": "adversarial, generated",
    r"nobody|somebody|whoever|whatever|whichever|wherever": "name the actor or the condition",
    r"he|his|him": "name the actor",
}
WORDS = re.compile("|".join(rf"(?P<w{i}>\b(?:{p})\b)" for i, p in enumerate(AVOID)), re.IGNORECASE)
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")


def slug(heading):
    return re.sub(r"[^\w\- ]", "", LINK.sub(r"\1", heading).lower()).strip().replace(" ", "-")


def broken(path, target):
    name, _, anchor = target.partition("#")
    if "://" in name or name.startswith("mailto:"):
        return False
    to = (path.parent / name).resolve() if name else path
    if not to.exists() or not anchor or to.suffix != ".md":
        return not to.exists()
    return anchor not in {slug(h) for h in re.findall(r"^#+ (.*)$", to.read_text(), re.MULTILINE)}


def blocks(lines):
    """Paragraphs, list items and cells of tables, each with its first line's number; code is left out."""
    text, first, fenced = [], 0, False
    for number, line in [*enumerate(lines, 1), (0, "")]:
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fenced or fence or not line.strip() or re.match(r"\s*([*-]|\d+\.|#+|\||<)", line):
            yield first, " ".join(text)
            text = []
            if fenced or fence or line.startswith(("<", "    ")):
                continue
        if line.lstrip().startswith("|"):
            yield from ((number, "| " + cell) for cell in line.strip().strip("|").split("|"))
        elif line.strip():
            first = first if text else number
            text.append(re.sub(r"^\s*([*-]|\d+\.|#+) ", "", line.strip()))


def check(path, lines):
    for number, block in blocks(lines):
        for _, target in LINK.findall(block):
            if broken(path, target):
                yield number, f"no such link: {target}"
        text = re.sub(r"\*\*|https?://\S+|\*(?=\w)|(?<=\w)\*", "", LINK.sub(lambda m: "" if m[0][0] == "!" else m[1], re.sub(r"`[^`]*`", "`x`", block)))
        for word in WORDS.finditer(text):
            yield number, f"'{word[0]}': {list(AVOID.values())[int(word.lastgroup[1:])]}"
        for sentence in re.split(r"(?<=[.!?:;])\)?\s+(?=[(`\"A-Z0-9])", text):
            words = re.findall(r"[^\s]*[\w][^\s]*", sentence)
            if words and words[0] in STARTS and len(words) > 4:
                yield number, f"a sentence begins with '{words[0]}'"
            if len(words) > (LONGEST_IN_TABLE if block.startswith("| ") else LONGEST):
                yield number, f"{len(words)} words in a sentence: {' '.join(words[:6])} ..."


def main():
    code, names = "--docstrings" in sys.argv, [a for a in sys.argv[1:] if not a.startswith("--")]
    paths = [pathlib.Path(n).resolve() for n in names] or [*ROOT.glob("*.md"), *ROOT.glob("packaging/*.md")] + [
        p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "adr" or p.name == "README.md"
    ]
    if code:
        paths = [p for p in (ROOT / "include").rglob("*.[hc]*") if p.suffix in (".hpp", ".cuh")]
    faults = 0
    for path in sorted(paths):
        lines = path.read_text().split("\n")
        if code:
            lines = [m[1] if (m := re.match(r"\s*///? ?(?:\\\w+(?: \w+)? )?(.*)", l)) and "///" in l else "" for l in lines]
        for number, fault in check(path, lines):
            faults += 1
            print(f"{path.relative_to(ROOT)}:{number}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
