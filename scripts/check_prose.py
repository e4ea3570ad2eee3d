#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks prose: words to avoid, beginnings and lengths of sentences, relative links. usage: check_prose.py [FILE...]
default: README and its like, packaging/, docs/, docstrings of include/; and all comments, for words and beginnings alone"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")
START = re.compile(r"(?:^|[.:] )\(?(What|Who|Which|Of)\b")
AVOID = {  # a pattern: what to write instead
    r"who|whom|he|his|him|nobody|somebody|who(?:so)?ever": "name the lane, thread, call or table",
    r"anew|from nothing|beside": "again, rebuild, retry, from an empty table; next to, concurrently with, in addition to",
    r"stands?(?! for)(?!-)|stood|lies|(?:is|are|was|were|be|already|not|keys) there": "is, is stored, present",
    r"tells?|told|room|aside": "result, return, report; capacity, free slots; sentinel cells, separate",
    r"guests?|natives?|fellows?|homeless|journeys?|census|walkers?|wandering|twins?|seats?|a root": "see the glossary",
}
AVOID_IN_DOCUMENTS = AVOID | {
    r"(?:a|an|last) \d+(?:st|nd|rd|th)": "a percentage or a fraction",
    r"asked[ -]for|were asked|aimed at|made up|whatever|whichever|wherever": "no internal target; generated; the condition",
}


def avoided(text, words):
    return [f"'{m[0]}': {instead}" for w, instead in words.items() for m in re.finditer(rf"\b(?:{w})\b", text, re.IGNORECASE)]


def blocks(lines):  # paragraphs, list items and cells of tables, each with its first line's number; code is left out
    text, first, fenced = [], 0, False
    for number, line in [*enumerate(lines, 1), (0, "")]:
        fenced ^= (fence := line.lstrip().startswith("```"))
        if fenced or fence or re.match(r"\s*([*-]|\d+\.|#+|\||<|$)", line):
            yield first, " ".join(text)
            text = []
        if line.lstrip().startswith("|"):
            yield from ((number, "| " + cell) for cell in line.strip().strip("|").split("|"))
        elif line.strip() and not (fenced or fence or line.startswith("<")):
            first = first if text else number
            text.append(re.sub(r"^\s*([*-]|\d+\.|#+) ", "", line.strip()))


def broken(path, target):
    to = path.parent / target.partition("#")[0] if target[0] != "#" else path
    headings = re.findall(r"^#+ (.*)$", to.read_text(), re.MULTILINE) if to.suffix == ".md" and to.exists() else []
    anchors = {re.sub(r"[^\w\- ]", "", LINK.sub(r"\1", h).lower()).strip().replace(" ", "-") for h in headings} | {""}
    return not re.match(r"\w+:", target) and not (to.exists() and target.partition("#")[2] in anchors)


def document(path, lines):
    for number, block in blocks(lines):
        yield from ((number, f"no such link: {target}") for _, target in LINK.findall(block) if broken(path, target))
        text = LINK.sub(lambda m: "" if m[0][0] == "!" else m[1], re.sub(r"`[^`]*`", "`x`", block)).replace("*", "")
        yield from ((number, fault) for fault in avoided(text, AVOID_IN_DOCUMENTS))
        for words in (re.findall(r"\S*\w\S*", s) for s in re.split(r"(?<=[.!?:])\)?\s+(?=[(`\"A-Z0-9])", text)):
            if len(words) > 4 and START.fullmatch(words[0]):
                yield number, f"a sentence begins with '{words[0]}'"
            if len(words) > (40 if block.startswith("| ") else 25):
                yield number, f"{len(words)} words in a sentence: {' '.join(words[:6])}"
    if len(lines) > {ROOT / "README.md": 151, ROOT / "CONTRIBUTING.md": 121}.get(path, len(lines)):
        yield len(lines), "the file has more lines than it may have"


def source(path, lines):
    if "include" in path.parts:  # a command, or a comment after a member, begins a block as a list's item does
        found = (re.match(r"(.*?)///(<?) ?(\\param(?:\[\w+\])? [\w,]+|\\\w+)?(.*)", line) for line in lines)
        yield from document(path, [m and ("* " if m[3] or (m[2] and m[1].strip()) else "") + m[4].strip() or "" for m in found])
    for number, comment in ((n, m[1]) for n, line in enumerate(lines, 1) if (m := re.search(r"(?:^|\s)//+[/<!]*\s(.*)", line))):
        yield from ((number, f"a sentence begins with '{m[1]}'") for m in START.finditer(comment))
        yield from ((number, fault) for fault in avoided(re.sub(r"`[^`]*`|\w+\(\)", "`x`", comment), AVOID))


code = [p for f in ("include", "apps", "bench", "examples", "instances", "tests") for p in (ROOT / f).rglob("*.[hc]*")]
pages = [*ROOT.glob("*.md"), *ROOT.glob("packaging/*.md"), *(ROOT / "docs").rglob("*.md"), *code]
faults = set()
for page in map(Path.resolve, map(Path, sys.argv[1:])) if sys.argv[1:] else pages:
    found = (document if page.suffix == ".md" else source)(page, page.read_text().split("\n"))
    faults |= {f"{page.relative_to(ROOT)}:{number}: {fault}" for number, fault in found}
sys.exit("\n".join(sorted(faults)) or 0)
