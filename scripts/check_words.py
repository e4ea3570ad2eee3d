#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the prose of documents: words to avoid, sentence starts and lengths, relative links. A line for each fault.

usage: check_words.py [--docstrings | --comments] [FILE...]
default: README and its like, packaging/, docs/ but decisions in docs/adr/
--docstrings: checks the /// comments of include/tilehash/ instead
--comments: checks the words and sentence starts of all comments in COMMENTED instead
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST, LONGEST_IN_TABLE = 25, 40  # words of a sentence
MOST_LINES = {"README.md": 150, "CONTRIBUTING.md": 120}
COMMENTED = ("include", "apps", "bench", "examples", "instances", "tests")
STARTS = {"What", "Who", "Which", "Of"}
AVOID = {  # a pattern: what to write instead
    r"who|whom|he|his|him|nobody|somebody|who(?:so)?ever": "name the lane, thread, call or table",
    r"whatever|whichever|wherever": "name the condition",
    r"anew|from nothing": "again, rebuild, retry, from an empty table",
    r"beside": "next to, concurrently with, in addition to",
    r"stands?(?! for)(?!-)|stood|lies": "is, is stored",
    r"(?:is|are|was|were|be|already|not|keys) there": "present",
    r"tells?|told": "result, return, report",
    r"room": "capacity, space, free slots",
    r"aside": "sentinel cells, separate",
    r"guests?|natives?|fellows?": "secondary item, primary item, foreign stream",
    r"homeless|journeys?|census|walkers?|wandering|twins?|seats?": "unplaced, relocation, in-flight item, equal keys, slots",
    r"by a root|a root": "standard deviation",
    r"(?:a|an|last) \d+(?:st|nd|rd|th)": "a percentage or a fraction",
    r"asked[ -]for|were asked|aimed at": "no internal targets in documents",
    r"made up": "adversarial, generated",
}
IN_DOCUMENTS = ("asked[ -]for", "whatever", "made up", "(?:a|an|last) ")  # these patterns do not apply to comments
WORDS = re.compile("|".join(rf"(?P<w{i}>\b(?:{p})\b)" for i, p in enumerate(AVOID)), re.IGNORECASE)
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")


def broken(path, target):
    name, _, anchor = target.partition("#")
    to = (path.parent / name).resolve() if name else path
    if re.match(r"\w+:", name) or not to.exists() or not anchor or to.suffix != ".md":
        return not re.match(r"\w+:", name) and not to.exists()
    headings = (LINK.sub(r"\1", h).lower() for h in re.findall(r"^#+ (.*)$", to.read_text(), re.MULTILINE))
    return anchor not in {re.sub(r"[^\w\- ]", "", h).strip().replace(" ", "-") for h in headings}


def blocks(lines):
    """Paragraphs, list items and cells of tables, each with its first line's number; code is left out."""
    text, first, fenced = [], 0, False
    for number, line in [*enumerate(lines, 1), (0, "")]:
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fenced or fence or not line.strip() or re.match(r"\s*([*-]|\d+\.|#+|\||<)", line):
            yield first, " ".join(text)
            text = []
        if line.lstrip().startswith("|"):
            yield from ((number, "| " + cell) for cell in line.strip().strip("|").split("|"))
        elif line.strip() and not (fenced or fence or line.startswith("<")):
            first = first if text else number
            text.append(re.sub(r"^\s*([*-]|\d+\.|#+) ", "", line.strip()))


def prose_of(line):
    """A line's documentation; a command, or a comment after a member, begins a block as a list's item does."""
    if not (m := re.match(r"(.*?)///(<?) ?(\\param(?:\[\w+\])? [\w,]+|\\\w+)?(.*)", line)):
        return ""
    return ("* " if m[3] or (m[2] and m[1].strip()) else "") + m[4].strip()


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


def check_comments():
    for path in sorted(p for folder in COMMENTED for p in (ROOT / folder).rglob("*.[hc]*")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if not (comment := re.search(r"(?:^|\s)//+[/<!]*\s(.*)", line)):
                continue
            starts = re.search(r"(?:^|[.:] )\(?(What|Who|Which|Of)\b", comment[1])
            if starts:
                yield f"{path.relative_to(ROOT)}:{number}: a sentence begins with '{starts[1]}'"
            for word in WORDS.finditer(re.sub(r"`[^`]*`|\w+\(\)", "`x`", comment[1])):
                pattern, instead = list(AVOID.items())[int(word.lastgroup[1:])]
                if not pattern.startswith(IN_DOCUMENTS):
                    yield f"{path.relative_to(ROOT)}:{number}: '{word[0]}': {instead}"


def main():
    if "--comments" in sys.argv:
        faults = list(check_comments())
        print("\n".join(faults), end="\n" if faults else "")
        return 1 if faults else 0
    names, faults = [a for a in sys.argv[1:] if a != "--docstrings"], []
    pages = [p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "adr" or p.name == "README.md"]
    paths = [pathlib.Path(n).resolve() for n in names] or [*ROOT.glob("*.md"), *ROOT.glob("packaging/*.md"), *pages]
    if code := "--docstrings" in sys.argv:
        paths = [p for p in (ROOT / "include").rglob("*.[hc]*") if p.suffix in (".hpp", ".cuh")]
    for path in sorted(paths):
        lines = path.read_text().split("\n")
        if code:
            lines = [prose_of(line) for line in lines]
        name = str(path.relative_to(ROOT))
        faults += [f"{name}:{number}: {fault}" for number, fault in check(path, lines)]
        if len(lines) - 1 > MOST_LINES.get(name, len(lines)):
            faults.append(f"{name}: more than {MOST_LINES[name]} lines")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
