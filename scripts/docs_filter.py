#!/usr/bin/env python3
"""Doxygen's input filter: lets it read the headers' plain comments. Lines keep their numbers.

A block of // directly before a declaration documents it, and a // behind a member that member. What follows without a blank
line or a comment of its own shares the words before it, if it is an overload, or NAME_async behind NAME. A header's first
words document the class that it is named after. Type aliases and friends need no words and are left out.

usage: docs_filter.py HEADER
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"^(\s*)//(?!/)\s?(.*)$")
BEHIND = re.compile(r"^(\s*)(\S.*?)\s+//\s(.*)$")
NAME = re.compile(r"([~\w]+|operator\S+)\s*\(")
PLAIN = re.compile(r"^  (using|friend)\b.*;")


def words(text):
    """The text of a comment line, without the dashes of a heading: ---- build: ... ----"""
    return re.sub(r"^-{3,}\s*|\s*-{3,}$", "", text)


def declared(lines, at):
    """The name of the function whose declaration begins at this line, or none."""
    text = ""
    for line in lines[at : at + 6]:
        text += re.sub(r"^\s*(template <.*>|requires.*)$", "", line)
        if re.search(r"[{;]", line):
            break
    if re.match(r"\s*(class|struct|enum|namespace|using|concept)\b", text):
        return None
    name = NAME.search(text)
    return name[1] if name else None


def essay(lines):
    """A header's first words, for the class that it is named after."""
    text = []
    for comment in map(COMMENT.match, lines):
        if not comment or comment[2].startswith("length:"):
            break
        text.append(comment[2])
    return "/** " + " ".join(text).replace("*/", "* /") + " */ "


def scope_after(line, scope):
    """How deep members are indented from this line on: in a class' own struct, 4."""
    return 4 if re.match(r"  struct \w+ \{$", line) else 2 if line == "  };" else scope


def documented(lines, stem):
    out = []
    the_class = re.compile(rf"^(template <.*>\s*)?(class|struct) {stem}\b[^;]*$")
    function = None  # the last one with words of its own
    column = None  # of a comment behind code that may go on in the next line
    after_blank = True
    scope = 2  # members and what is in a namespace; deeper is a function's body
    at = 0
    while at < len(lines):
        line = lines[at]
        scope = scope_after(line, scope)
        if at and not COMMENT.match(lines[at - 1]) and the_class.match(re.sub(r"\s+", " ", " ".join(lines[at : at + 2]))):
            if not lines[at - 1].startswith("template"):
                line = essay(lines) + line
        comment = COMMENT.match(line)
        if comment and column is not None and len(comment[1]) == column:
            out.append(f"{comment[1]}///< {comment[2]}")
            at += 1
            continue
        column = None
        if comment and len(comment[1]) <= scope:
            end = at
            while end < len(lines) and COMMENT.match(lines[end]):
                end += 1
            block = lines[at:end]
            after = lines[end].strip() if end < len(lines) else ""
            documents = after and not after.startswith("#") and not after.startswith("}")
            if at == 0:  # a header's first words
                block[0] = "/** \\file */ " + block[0]
            elif documents:
                block = [m[1] + "/// " + words(m[2]) for m in map(COMMENT.match, block)]
                function = declared(lines, end)
            out += block
            at, after_blank = end, True
            if documents and at:  # the declaration itself, whatever it is
                out.append(lines[at])
                scope = scope_after(lines[at], scope)
                at, after_blank = at + 1, False
            continue
        indent = len(line) - len(line.lstrip())
        behind = BEHIND.match(line)
        if not line.strip():
            after_blank, function = True, None
        elif behind and indent <= scope and not behind[2].startswith(("}", "#", "//", "return")):
            line = f"{behind[1]}{behind[2]}  ///< {behind[3]}"
            column = lines[at].rindex("// " + behind[3])
        elif PLAIN.match(line):
            line = re.sub(r"^  (.*)$", r"  /** \\cond */ \1 /** \\endcond */", line)
        elif indent == scope and function and re.match(r"[\w~]", line.strip()):
            name = declared(lines, at)
            if lines[at - 1].strip().startswith("template"):
                pass  # said before that line
            elif name == function:
                line = "  /** \\overload */ " + line.strip()
            elif name == function + "_async":
                line = f"  /** As {function}, but does not wait. */ " + line.strip()
        out.append(line)
        at += 1
    return out


def main():
    header = pathlib.Path(sys.argv[1])
    text = header.read_text()
    print("\n".join(documented(text.split("\n"), header.stem)), end="")


if __name__ == "__main__":
    main()
