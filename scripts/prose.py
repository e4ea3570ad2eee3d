# SPDX-License-Identifier: Apache-2.0
"""The words to avoid, and the parts of documents and of docstrings that are prose (check_words.py, check_comments.py)."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
STARTS = {"What", "Who", "Which", "Of"}  # of sentences
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
WORDS = re.compile("|".join(rf"(?P<w{i}>\b(?:{p})\b)" for i, p in enumerate(AVOID)), re.IGNORECASE)


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
