#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no function of include/ has more than 60 lines. A longer one is several: name its steps. And that each source of
over 400 lines says why, in a line `// length: the reason`.

Prints one line per finding, `file:line: what`, and ends with 1 if there is any.

usage: check_functions.py [INCLUDE_FOLDER]
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"
MAX_LINES = 60
FOLDERS = ("include", "apps", "bench", "examples", "instances", "tests")  # of sources, in the root
MAX_SOURCE_LINES = 400

# (header, function) -> lines: these are still to be split. An entry only shrinks: one that is too large, or no longer needed,
# is a finding.
TO_SPLIT = {}

CTAGS = ["--languages=C++", "--langmap=C++:+.cuh", "--c++-kinds=f", "--fields=+ne", "-f", "-"]


def ctags():
    """The program's name: Debian calls it ctags too, and so is another that knows no ends of functions."""
    for name in ("ctags-universal", "ctags"):
        found = shutil.which(name)
        if found and "Universal Ctags" in subprocess.run([found, "--version"], capture_output=True, text=True).stdout:
            return found
    sys.exit("error: universal-ctags not found: run scripts/bootstrap.sh")


def functions(root):
    """(header, function, its first line, how many lines)"""
    tags = subprocess.run([ctags(), "-R", *CTAGS, "."], cwd=root, capture_output=True, text=True, check=True).stdout
    for tag in tags.splitlines():
        name, path = tag.split("\t")[:2]
        line, end = re.search(r"\tline:(\d+)", tag), re.search(r"\tend:(\d+)", tag)
        if line and end:
            yield path.removeprefix("./"), name, int(line[1]), int(end[1]) - int(line[1]) + 1


def check(root, to_split):
    findings, longest, seen = [], {}, 0
    for header, name, line, lines in functions(root):
        seen += 1
        allowed = to_split.get((header, name), MAX_LINES)
        if lines > allowed:
            findings.append(f"include/{header}:{line}: {name} has {lines} lines, more than {allowed}: name its steps")
        longest[header, name] = max(lines, longest.get((header, name), 0))
    if seen == 0:
        findings.append(f"{root}: ctags finds no function")
    for (header, name), lines in sorted(to_split.items()):
        now = longest.get((header, name), 0)
        if now < lines:
            what = "strike it" if now <= MAX_LINES else f"write {now}"
            findings.append(f"scripts/check_functions.py: {header} {name} has {now} lines, not {lines}: {what}")
    return findings


def long_sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[hc]*")):
            if path.suffix not in (".hpp", ".cpp", ".cuh", ".cu"):
                continue
            text = path.read_text()
            lines, has_reason = text.count("\n"), re.search(r"^// length: ", text, re.MULTILINE)
            if (lines > MAX_SOURCE_LINES) != bool(has_reason):
                what = "split it, or say why: // length: the reason" if not has_reason else "strike its line // length:"
                yield f"{path.relative_to(root)}: {lines} lines: {what}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    findings = check(root, TO_SPLIT if root == ROOT else {})
    if root == ROOT:
        findings += long_sources(ROOT.parent)
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
