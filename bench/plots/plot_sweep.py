# SPDX-License-Identifier: Apache-2.0
"""Plots what `tilehash bench thesis/size|space|failed|fill --json FILE` wrote: rates of construction and of retrieval
against the number of items, the size of the table or the share of failed queries, or those of inserts against the fill
of the table; a line for each structure.
"""

import textwrap

from plot_run import COLORS, GRID, INK, MUTED, in_order, plt, save, thousands

# Kin share a colour. (A colour, a dash, a width.)
SORTED = "sorted_array, sorted queries"
STYLES = {
    "linear_probing": (COLORS[1], ":", 1.5),
    "quadratic_probing": (COLORS[1], "-", 1.5),
    "double_hashing": (COLORS[1], "--", 1.5),
    "chained": (COLORS[2], "-", 1.5),
    "hash_graph": (COLORS[2], "--", 1.5),
    "two_level_cuckoo": (COLORS[3], "-", 1.5),
    "cuckoo": (COLORS[5], "-", 1.5),
    "perfect_spatial": (COLORS[6], "-", 1.5),
    "bucketed_cuckoo": (COLORS[4], "-", 1.5),
    "tiled": (COLORS[0], "-", 2.4),
    "sorted_array": (COLORS[8], "-", 1.5),
    SORTED: (COLORS[8], ":", 1.5),
}
EXPERIMENTS = {"thesis/size": "n", "thesis/space": "size", "thesis/failed": "failed_percent", "thesis/fill": "load_factor"}
AXES = {
    "n": "items",
    "size": "size of the table, slots of 8 bytes an item",
    "failed_percent": "queries that fail, percent",
    "load_factor": "share of the slots that are taken",
}


def values_of(rows, name):
    return sorted({row[name] for row in rows if name in row})


def line_name(row):
    return SORTED if row.get("sorted") else row["design"]


def as_large_as_asked(row):
    return abs(row["size_got"] - row["size"]) < 0.02 * row["size"]


def panels_of(rows, x):
    """(line of panels, title, rows) for every panel: construction, then retrieval, at each fixed size or share."""
    shares, sizes, numbers = (values_of(rows, name) for name in ("failed_percent", "size", "n"))
    builds, finds = ([r for r in rows if r["op"] == op] for op in ("build", "find"))

    def retrieval(percent):
        return {0: "retrieval, all found", 100: "retrieval, none found"}.get(percent, f"retrieval, {percent:g} % fail")

    panels = []
    if x == "load_factor":
        return [(0, f"insertion, {thousands(n)} items in all", [r for r in rows if r["n"] == n]) for n in numbers]
    if x == "size":
        for line, n in enumerate(numbers):
            at = f", {thousands(n)} items" if len(numbers) > 1 else ""
            panels.append((line, "construction" + at, [r for r in builds if r["n"] == n]))
            for s in shares:
                panels.append((line, retrieval(s) + at, [r for r in finds if (r["n"], r["failed_percent"]) == (n, s)]))
    elif x == "n":
        for line, size in enumerate(sizes):
            at = f", {size:g} N slots"
            panels.append((line, "construction" + at, [r for r in builds if r["size"] == size]))
            for s in shares:
                here = [r for r in finds if (r["size"], r["failed_percent"]) == (size, s)]
                panels.append((line, retrieval(s) + at, here))
    else:
        for line, n in enumerate(numbers):
            for size in sizes:
                here = [r for r in finds if (r["n"], r["size"]) == (n, size)]
                panels.append((line, f"retrieval, {thousands(n)} items, {size:g} N slots", here))
    return panels


def draw_lines(axis, title, rows, x, scale, unit, others):
    noted = []
    for name in [n for n in STYLES if any(line_name(r) == n for r in rows)] + others:
        color, dash, width = STYLES.get(name, (MUTED, "-", 1.0))
        here = [r for r in rows if line_name(r) == name]
        if not here:
            continue
        if x == "size":  # where it can be had; a table that has one size alone is a level
            reached = [r for r in here if as_large_as_asked(r)]
            if len({round(r["size_got"], 2) for r in here}) == 1:
                axis.axhline(here[0]["mitems_per_s"] / scale, color=color, linestyle=dash, linewidth=width, label=name)
                continue
            here = reached
            points = [(r["size_got"], r["mitems_per_s"] / scale) for r in here]
        else:
            points = [(r[x], r["mitems_per_s"] / scale) for r in here]
            if x != "load_factor" and not as_large_as_asked(here[-1]) and not name.startswith("sorted_array"):
                noted.append(f"{name} at {here[-1]['size_got']:.2f} N")
        points.sort()
        axis.plot(*zip(*points), color=color, linestyle=dash, linewidth=width, label=name, zorder=3)
    if x == "n" and len({r["n"] for r in rows}) > 1:
        axis.set_xscale("log")
    axis.set_ylim(bottom=0)
    notes = textwrap.wrap(", ".join(noted), 62)
    axis.set_title(title, loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=16 + 10 * len(notes))
    axis.text(0, 1.0, "\n".join([unit, *notes]), transform=axis.transAxes, va="bottom", ha="left", fontsize=8,
              color=MUTED).set_in_layout(False)  # fmt: skip
    axis.set_xlabel(AXES[x], fontsize=8.5, color=MUTED)
    axis.grid(color=GRID, linewidth=0.8, zorder=0)
    axis.tick_params(labelsize=8, colors=MUTED, length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def plot(header, rows, path):
    x = EXPERIMENTS[header["experiment"]]
    others = [n for n in in_order(line_name(r) for r in rows) if n not in STYLES]
    panels = panels_of(rows, x)
    lines = max(line for line, _, _ in panels) + 1
    columns = len(panels) // lines
    best = max(r["mitems_per_s"] for r in rows)
    scale, unit = (1000, "billion items a second") if best >= 2000 else (1, "million items a second")

    height = 1.5 + 3.0 * lines
    figure, axes = plt.subplots(lines, columns, figsize=(2.4 + 3.9 * columns, height), squeeze=False, layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.78 / height), h_pad=0.12)
    for axis, (_, title, here) in zip(axes.flat, panels):
        draw_lines(axis, title, here, x, scale, unit, others)
    handles = {}
    for axis in axes.flat:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False, fontsize=9, labelcolor=INK,
                  handlelength=2.6)  # fmt: skip

    bad = sum(r["failed"] + r["wrong"] for r in rows)
    verdict = "every answer verified" if bad == 0 else f"{thousands(bad)} ITEMS LOST OR ANSWERS WRONG"
    machine = header.get("gpu") or f"{header.get('machine', '?')}, threads: {header.get('threads', '?')}"
    against = {
        "n": "number of items",
        "size": "size of the table",
        "failed_percent": "share of failed queries",
        "load_factor": "fill of the table",
    }[x]
    figure.text(0.012, 1 - 0.30 / height, f"Rates against the {against}, {machine}", fontsize=14, fontweight="bold",
                color=INK, va="center")  # fmt: skip
    figure.text(0.012, 1 - 0.58 / height, f"random pairs of 32 + 32 bits; {verdict}", va="center", fontsize=9.5,
                color=MUTED if bad == 0 else "#C00000")  # fmt: skip
    save(figure, path, dpi=100)
