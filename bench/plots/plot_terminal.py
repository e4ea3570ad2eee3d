#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bars in the terminal of what `tilehash run --json FILE` wrote, a list an operation; needs nothing but Python.

usage: scripts/plot.sh run RUN.json --terminal [--rank OP]
"""

import os
import shutil
import sys
import textwrap

from results import OPS, THE_MAP, color_of, in_order, is_peer, number, ranked, read_file, what_was_run

EIGHTHS = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588"


def bar(share, width):
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return ("\u2588" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")).ljust(width)


def draw(header, rows, rank, out):
    colour = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in (None, "", "dumb")
    width = shutil.get_terminal_size((80, 24)).columns

    def paint(text, code):
        return f"\x1b[{code}m{text}\x1b[0m" if colour else text

    source, what, verdict, _ = what_was_run(header, rows)
    for line in textwrap.wrap(f"{source}: {what}; {verdict}", width):
        print(line, file=out)
    for space in in_order(r["space"] for r in rows):
        for op, name in OPS:
            here = {r["design"]: r for r in rows if r["space"] == space and r["op"] == op}
            if not here:
                continue
            print(f"\n{paint(name, 1)}, million items a second, {space}", file=out)
            designs = [d for d in ranked(rows, rank or op) if d in here]
            names = max(len(d) for d in designs) + 1
            room = max(width - names - 10, 5)
            top = max(r["mitems_per_s"] for r in here.values()) or 1
            for design in designs:
                rate = here[design]["mitems_per_s"]
                alone = "*" if is_peer(design) and here[design].get("threads") == 1 < header.get("threads", 1) else " "
                label = design.ljust(names)
                if design == THE_MAP:
                    label = paint(label, 1)
                print(f"{label}{paint(bar(rate / top, room), color_of(design)[1])} {number(rate):>7}{alone}".rstrip(), file=out)
    if any(is_peer(r["design"]) and r.get("threads") == 1 for r in rows) and header.get("threads", 1) > 1:
        print("\n* on one thread: this map takes no more for that", file=out)
