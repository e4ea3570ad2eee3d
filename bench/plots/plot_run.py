#!/usr/bin/env python3
"""Plots what `tilehash run --json FILE` wrote: one panel per operation, one bar per design, one row per space.

usage: scripts/plot.sh run RUN.json PLOT.png
"""

import json
import pathlib
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("error: matplotlib not found: use scripts/plot.sh, which brings it along")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

OPS = [
    ("build", "build"),
    ("insert", "insert"),
    ("find_hit", "find, all present"),
    ("find_miss", "find, none present"),
    ("find_mix", "find, mixed"),
    ("erase", "erase"),
]
# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A6FAC", "#8C8C3E", "#5B5B5B"]
INK, MUTED, GRID = "#222222", "#6B6B6B", "#E4E4E4"


def read_file(path):
    """The header and the rows of a run: a JSON list, an object with a list `rows`, or one object per line."""
    text = pathlib.Path(path).read_text()
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = [json.loads(line) for line in text.splitlines() if line.strip()]
    header = {}
    if isinstance(data, dict):
        header, data = data.get("header", {}), data.get("rows", [data])
    if not data:
        raise ValueError("it holds no rows")
    return header, data


def in_order(values):
    return list(dict.fromkeys(values))


def thousands(value):
    return f"{value:,.0f}".replace(",", "\u202f")


def number(value):
    """About three digits: 0.12, 1.23, 12.3, 123, 12 300."""
    if value >= 1000:
        return thousands(value)
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f}"


def draw_bars(axis, title, unit, designs, values, colors, show_names):
    """Horizontal bars, the first design on top. A design without a value says so with a dash."""
    top = max((v for v in values.values()), default=0) or 1
    for place, design in enumerate(designs):
        value = values.get(design)
        if value is None:
            axis.text(top * 0.02, place, "\u2013", va="center", ha="left", color=MUTED, fontsize=10)
            continue
        axis.barh(place, value, height=0.68, color=colors[design], zorder=3)
        axis.text(value + top * 0.02, place, number(value), va="center", ha="left", color=INK, fontsize=8.5, zorder=4)
    axis.set_xlim(0, top * 1.28)
    axis.set_ylim(len(designs) - 0.4, -0.6)
    axis.set_yticks(range(len(designs)))
    axis.set_yticklabels(designs if show_names else [])
    axis.set_title(title, loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=16)
    axis.text(0, 1.0, unit, transform=axis.transAxes, va="bottom", ha="left", fontsize=8, color=MUTED)
    axis.locator_params(axis="x", nbins=4)
    axis.grid(axis="x", color=GRID, linewidth=0.8, zorder=0)
    axis.tick_params(axis="x", labelsize=8, colors=MUTED, length=0)
    axis.tick_params(axis="y", labelsize=9.5, colors=INK, length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def plot(rows, path):
    designs = in_order(r["design"] for r in rows)
    spaces = in_order(r["space"] for r in rows)
    ops = [(op, name) for op, name in OPS if any(r["op"] == op for r in rows)]
    colors = {design: COLORS[i % len(COLORS)] for i, design in enumerate(designs)}

    columns = len(ops) + 1
    height = 1.45 + len(spaces) * (1.0 + 0.34 * len(designs))
    figure, axes = plt.subplots(
        len(spaces), columns, figsize=(2.1 + 1.95 * columns, height), squeeze=False, layout="constrained"
    )
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.78 / height), h_pad=0.12)
    for line, space in zip(axes, spaces):
        here = [r for r in rows if r["space"] == space]
        for axis, (op, name) in zip(line, ops):
            values = {r["design"]: r["mitems_per_s"] for r in here if r["op"] == op}
            draw_bars(axis, name, "million items per second", designs, values, colors, axis is line[0])
        # As built for these items; a table that later restarted may have grown.
        sizes = {r["design"]: r["bytes_per_pair"] for r in reversed(here) if r.get("bytes_per_pair")}
        sizes |= {r["design"]: r["bytes_per_pair"] for r in here if r["op"] == "build" and r.get("bytes_per_pair")}
        draw_bars(line[-1], "memory", "bytes per pair, less is better", designs, sizes, colors, False)
        line[0].set_ylabel(f"on {space}", fontsize=11, fontweight="bold", color=MUTED, labelpad=10)

    first = rows[0]
    unique = max(r.get("unique", 0) for r in rows)
    bad = sum(r.get("failed", 0) + r.get("wrong", 0) for r in rows)
    verdict = "every answer verified" if bad == 0 else f"{thousands(bad)} ITEMS LOST OR ANSWERS WRONG"
    source = str(first.get("input", ""))
    if source.startswith(("fasta:", "lines:", "binary:")):  # the file's name without its folder
        kind, rest = source.split(":", 1)
        name, comma, options = rest.partition(",")
        source = f"{kind}:{pathlib.PurePath(name).name}{comma}{options}"
    keys = f"{thousands(unique)} distinct keys of {first.get('key_bytes', '?')} bytes"
    values = f"values of {first.get('value_bytes', '?')} bytes" if first.get("value_bytes") else "no values"
    figure.text(0.012, 1 - 0.30 / height, f"tilehash on {source}", fontsize=14, fontweight="bold", color=INK, va="center")
    figure.text(
        0.012,
        1 - 0.58 / height,
        f"{keys}, {values}; {verdict}",
        va="center",
        fontsize=9.5,
        color=MUTED if bad == 0 else "#C00000",
    )
    figure.savefig(path, dpi=160, facecolor="white")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: scripts/plot.sh run RUN.json PLOT.png")
    try:
        plot(read_file(sys.argv[1])[1], sys.argv[2])
    except (OSError, ValueError, KeyError) as error:
        what = f"a row lacks {error}" if isinstance(error, KeyError) else error
        sys.exit(f"error: {sys.argv[1]} cannot be plotted: {what}")


if __name__ == "__main__":
    main()
