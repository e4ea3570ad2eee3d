#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plots what `tilehash run --json FILE` wrote: one panel per operation, one bar per design, one row per space; a whisker
from the slowest run to the fastest.

usage: scripts/plot.sh run RUN.json PLOT.png [--rank OP]      PLOT.svg comes beside it
       scripts/plot.sh run RUN.json --terminal [--rank OP]    bars in the terminal
"""

import argparse
import pathlib
import sys

import plot_terminal
from results import (  # (what other plots take from here)
    COLORS,  # noqa: F401
    OPS,
    THE_MAP,
    color_of,
    errors_in_one_line,
    in_order,
    is_peer,
    number,
    ranked,
    read_file,
    thousands,  # noqa: F401
    what_was_run,
)

try:
    import matplotlib
except ImportError:
    plt = None
else:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: E402
    import PIL.Image  # noqa: E402

INK, MUTED, GRID = "#222222", "#6B6B6B", "#E4E4E4"
SHADES = 256  # of a PNG's palette, which makes it a third as large


def save(figure, path, dpi):
    figure.savefig(path, dpi=dpi, facecolor="white")
    if pathlib.Path(path).suffix == ".png":
        with PIL.Image.open(path) as drawn:
            small = drawn.convert("RGB").quantize(SHADES, PIL.Image.Quantize.MEDIANCUT, dither=PIL.Image.Dither.NONE)
        small.save(path, optimize=True)


def draw_bars(axis, title, unit, designs, values, show_names, whiskers, alone):
    """Horizontal bars, the first design on top. A design without a value says so with a dash."""
    top = max((v for v in values.values()), default=0) or 1
    for place, design in enumerate(designs):
        value = values.get(design)
        if value is None:
            axis.text(top * 0.02, place, "\u2013", va="center", ha="left", color=MUTED, fontsize=10)
            continue
        face = "none" if is_peer(design) else color_of(design)[0]
        axis.barh(place, value, height=0.68, color=face, edgecolor=color_of(design)[0], linewidth=1.2,
                  hatch="////" if is_peer(design) else None, zorder=3)  # fmt: skip
        low, high = whiskers.get(design, (value, value))
        low, high = max(low, 0), min(high, 1.15 * top)  # (one slow run may be off the panel)
        if high > low:
            axis.plot([low, high], [place, place], color=INK, linewidth=1, zorder=5, solid_capstyle="butt")
        label = number(value) + ("*" if design in alone else "")
        axis.text(max(value, high) + top * 0.02, place, label, va="center", ha="left", color=INK, fontsize=8.5, zorder=4,
                  fontweight="bold" if design == THE_MAP else "normal")  # fmt: skip
    axis.set_xlim(0, top * 1.34)
    axis.set_ylim(len(designs) - 0.4, -0.6)
    axis.set_yticks(range(len(designs)))
    axis.set_yticklabels(designs if show_names else [])
    for label, design in zip(axis.get_yticklabels(), designs):
        label.set_fontweight("bold" if design == THE_MAP else "normal")
        label.set_fontstyle("italic" if is_peer(design) else "normal")
    axis.set_title(title, loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=16)
    axis.text(0, 1.0, unit, transform=axis.transAxes, va="bottom", ha="left", fontsize=8, color=MUTED)
    axis.locator_params(axis="x", nbins=4)
    axis.grid(axis="x", color=GRID, linewidth=0.8, zorder=0)
    axis.tick_params(axis="x", labelsize=8, colors=MUTED, length=0)
    axis.tick_params(axis="y", labelsize=9.5, colors=INK, length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def plot(header, rows, rank, paths):
    designs = ranked(rows, rank)
    spaces = in_order(r["space"] for r in rows)
    ops = [(op, name) for op, name in OPS if any(r["op"] == op for r in rows)]

    columns = len(ops) + 1
    height = 1.6 + len(spaces) * (1.0 + 0.34 * len(designs))
    figure, axes = plt.subplots(
        len(spaces), columns, figsize=(2.4 + 1.95 * columns, height), squeeze=False, layout="constrained"
    )
    figure.get_layout_engine().set(rect=(0, 0.22 / height, 1, 1 - 1.0 / height), h_pad=0.12)
    one_thread = False
    for line, space in zip(axes, spaces):
        here = [r for r in rows if r["space"] == space]
        for axis, (op, name) in zip(line, ops):
            its = {r["design"]: r for r in here if r["op"] == op}
            values = {design: r["mitems_per_s"] for design, r in its.items()}
            whiskers = {
                design: (r["items"] / r["seconds"]["max"] / 1e6, r["items"] / r["seconds"]["min"] / 1e6)
                for design, r in its.items()
                if r["seconds"]["min"] > 0
            }
            alone = {design for design, r in its.items() if r.get("threads") == 1 and (header.get("threads") or 1) > 1}
            one_thread = one_thread or bool(alone)
            title = name + (" \u25be" if op == rank else "")
            draw_bars(axis, title, "million items per second", designs, values, axis is line[0], whiskers, alone)
        # As built for these items; a table that later restarted may have grown.
        sizes = {r["design"]: r["bytes_per_pair"] for r in reversed(here) if r.get("bytes_per_pair")}
        sizes |= {r["design"]: r["bytes_per_pair"] for r in here if r["op"] == "build" and r.get("bytes_per_pair")}
        draw_bars(line[-1], "memory", "bytes per pair, less is better", designs, sizes, False, {}, set())
        line[0].set_ylabel(f"on {space}", fontsize=11, fontweight="bold", color=MUTED, labelpad=10)

    source, what, verdict, good = what_was_run(header, rows)
    lines = [
        (0.28, f"tilehash on {source}", 14, "bold", INK),
        (0.54, what, 9.5, "normal", MUTED),
        (0.76, verdict, 9.5, "normal", MUTED if good else "#C00000"),
    ]
    for down, text, size, weight, color in lines:
        figure.text(0.012, 1 - down / height, text, fontsize=size, fontweight=weight, color=color, va="center")
    key = f"\u25be the designs' order; " if rank else ""
    key += "bold: the map; kin share a colour; hatched: other libraries"
    key += "; * on one thread, as that map takes no more" if one_thread else ""
    figure.text(0.012, 0.13 / height, key, fontsize=8, color=MUTED, va="center")
    for path in paths:
        save(figure, path, dpi=160)


def main():
    parser = argparse.ArgumentParser(prog="scripts/plot.sh run", description="Plots what `tilehash run --json` wrote.")
    parser.add_argument("figures", help="RUN.json")
    parser.add_argument("plot", nargs="?", help="PLOT.png; PLOT.svg comes beside it, and the other way round")
    parser.add_argument("--rank", metavar="OP", default=None, help="order the designs by an op, such as find_hit")
    parser.add_argument("--terminal", action="store_true", help="draw bars in the terminal")
    options = parser.parse_args()
    if not options.terminal and options.plot is None:
        parser.error("say where to draw it: PLOT.png, or --terminal")
    with errors_in_one_line(options.figures):
        header, rows = read_file(options.figures)
        if options.terminal:
            plot_terminal.draw(header, rows, options.rank, sys.stdout)
        if options.plot is not None:
            if plt is None:
                sys.exit("error: matplotlib not found: use scripts/plot.sh, which brings it along")
            path = pathlib.Path(options.plot)
            other = {".png": ".svg", ".svg": ".png"}.get(path.suffix)
            plot(header, rows, options.rank, [path, path.with_suffix(other)] if other else [path])


if __name__ == "__main__":
    main()
