# SPDX-License-Identifier: Apache-2.0
"""Plots what `tilehash bench hashgraph/join|updates|cells|meshes|probes --json FILE` wrote: how long each way to join
takes; how long items take to be put into a graph and taken out, beside building it anew; seconds to build sets of cells
and to ask them, against the number of cells or of those that are asked for.
"""

from plot_coherent import machine_of
from plot_horton import dress, figure_of, finish, legend_beside
from plot_run import COLORS, INK, MUTED, in_order, thousands

CASE = ("kind", "left", "right", "copies", "skew", "found")


def title_of(case):
    kind, _, _, copies, skew, found = case
    words = [kind, f"{copies} of a key" if copies > 1 else "one of a key"]
    if skew != "none":
        words.append(f"{skew} side skewed")
    if found < 1:
        words.append(f"{found:.0%} found")
    return ", ".join(words)


def draw_case(axis, rows, designs):
    """Bars of milliseconds, of which a part is the right side's; beside them, rows that come out."""
    for line, design in enumerate(designs):
        for row in (r for r in rows if r["design"] == design):
            if "obstacle" in row:
                axis.text(0, line, " there is not the memory", va="center", fontsize=8, color=MUTED)
                continue
            build, both = (1e3 * row["seconds"][part]["median"] for part in ("build", "both"))
            axis.barh(line, build, color=COLORS[4], label="what knows the right side alone", zorder=2)
            axis.barh(line, both - build, left=build, color=COLORS[0], label="the join itself", zorder=2)
            low, high = (1e3 * row["seconds"]["both"][end] for end in ("min", "max"))
            axis.plot([low, high], [line, line], color=INK, linewidth=1, zorder=3)
            axis.text(max(both, high), line, f" {row['grows_per_s']['out']:.3g}", va="center", fontsize=8, color=INK)
    axis.set_yticks(range(len(designs)), designs)
    axis.invert_yaxis()
    axis.margins(x=0.14)
    axis.set_xlim(left=0)


def plot_joins(header, rows, path):
    cases = in_order(tuple(r[part] for part in CASE) for r in rows)
    designs = in_order(r["design"] for r in rows)
    columns = min(2, len(cases))
    figure, axes, height = figure_of(-(-len(cases) // columns), columns, 6.4 * columns, 0.9 + 0.32 * len(designs))
    for axis, case in zip(axes.flat, cases):
        draw_case(axis, [r for r in rows if tuple(r[part] for part in CASE) == case], designs)
        sides = f"{thousands(case[1])} and {thousands(case[2])} rows"
        dress(axis, title_of(case), f"{sides}; beside the bars: billion rows that come out, a second", "milliseconds")
    for axis in axes.flat[len(cases) :]:
        axis.set_visible(False)
    legend_beside(figure, axes)
    finish(figure, height, f"Joins, {machine_of(header)}", "keys of 32 bits; sides of random order",
           sum(r.get("wrong", 0) for r in rows), path)  # fmt: skip


# (A row's name of it, a colour, a line.)
UPDATES = {
    "insert so many": ("insert", COLORS[0], "-"),
    "erase so many": ("erase", COLORS[5], "-"),
    "build a hash_graph of all": ("build", INK, ":"),
}


def plot_updates(header, rows, path):
    rows = [r for r in rows if "obstacle" not in r and r["share"] > 0]
    cases = in_order((r["items"], r["load_factor"], r["slack"]) for r in rows)
    columns = min(2, len(cases))
    figure, axes, height = figure_of(-(-len(cases) // columns), columns, 5.4 * columns, 3.6)
    for axis, case in zip(axes.flat, cases):
        mine = [r for r in rows if (r["items"], r["load_factor"], r["slack"]) == case]
        shares = [100 * r["share"] for r in mine]
        for label, (name, color, line) in UPDATES.items():
            axis.plot(shares, [1e3 * r["seconds"][name]["median"] for r in mine], color=color, linestyle=line,
                      marker="o", markersize=4, linewidth=1.8, label=label, zorder=3)  # fmt: skip
        anew = [r for r in mine if r["built_anew"]]
        axis.plot([100 * r["share"] for r in anew], [1e3 * r["seconds"]["insert"]["median"] for r in anew], "o", color="white",
                  markeredgecolor=COLORS[0], markersize=8, label="no room was left: built anew", zorder=2)  # fmt: skip
        axis.set_xscale("log")
        axis.set_yscale("log")
        items, load, slack = case
        title = f"{thousands(items)} items, {load:g} a row, {slack:g} free an item"
        dress(axis, title, "milliseconds", "items that come or go, percent of those there")
    for axis in axes.flat[len(cases) :]:
        axis.set_visible(False)
    legend_beside(figure, axes)
    finish(figure, height, f"Updates of a hash graph, {machine_of(header)}", "pairs of 32 + 32 bits",
           sum(r["wrong"] for r in rows), path)  # fmt: skip



# (A colour, a dash, a mark.) Kin share a colour.
SETS = {
    "hash_graph": (COLORS[0], "-", "o"),
    "hash_graph_v1": (COLORS[2], "-", "s"),
    "hash_graph_v2": (COLORS[2], "--", "D"),
    "hash_graph_segments": (COLORS[2], ":", "v"),
    "indexed_cuckoo": (COLORS[3], "-", "^"),
    "std::unordered_set": (COLORS[5], "-", "x"),
    "boost::unordered_flat_set": (COLORS[1], "-", "+"),
    "contains": (COLORS[0], "-", "o"),
    "join_standard": (COLORS[4], "--", "s"),
    "join_intersect": (COLORS[5], "-", "^"),
}
PARTS = (("build", "build"), ("found", "correct query"), ("not_found", "wrong query"))


def threads_name(threads):
    return {0: "", 1: ", one thread"}.get(threads, f", {threads} threads")


def draw_sets(axis, rows, part, x, scale):
    for design in (d for d in SETS if any(r["design"] == d for r in rows)):
        color, dash, mark = SETS[design]
        here = sorted((r for r in rows if r["design"] == design), key=lambda r: r[x])
        at = [r[x] for r in here]
        median, least, most = ([scale * r["seconds"][part][of] for r in here] for of in ("median", "min", "max"))
        axis.plot(at, median, dash, color=color, marker=mark, markersize=4, label=design, zorder=3)
        axis.fill_between(at, least, most, color=color, alpha=0.15, linewidth=0)


def plot_sets(header, rows, path):
    """A line of panels for each number of threads. Axes of meshes are logarithmic, as their sizes are."""
    bad = sum(r.get("wrong", 0) + r.get("lost", 0) for r in rows)
    rows = [r for r in rows if "obstacle" not in r]
    probes, meshes = (header["experiment"] == f"hashgraph/{name}" for name in ("probes", "meshes"))
    x, parts = ("queries", PARTS[1:]) if probes else ("cells", PARTS)
    lines = in_order(r["threads"] for r in rows)
    slowest = max(r["seconds"][part]["median"] for r in rows for part, _ in parts)
    scale, unit = (1, "seconds") if meshes or slowest > 1 else (1000, "milliseconds")
    figure, axes, height = figure_of(len(lines), len(parts), 1.8 + 3.9 * len(parts), 3.3)
    for line, threads in zip(axes, lines):
        for axis, (part, title) in zip(line, parts):
            draw_sets(axis, [r for r in rows if r["threads"] == threads], part, x, scale)
            if meshes:
                axis.set_xscale("log")
                axis.set_yscale("log")
            else:
                axis.set_ylim(bottom=0)
            dress(axis, title + threads_name(threads), f"{unit}; the shade: from the least to the most", x)
            axis.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k")
    legend_beside(figure, axes, list(SETS))
    what = "cells of tetrahedral meshes" if meshes else "random cells of four integers"
    if probes:
        what += f", {thousands(rows[0]['cells'])} in the graph"
    finish(figure, height, f"{'Probes' if probes else 'Sets'} of cells, {machine_of(header)}", what, bad, path)


PLOTS = {
    "hashgraph/join": plot_joins,
    "hashgraph/updates": plot_updates,
    "hashgraph/cells": plot_sets,
    "hashgraph/meshes": plot_sets,
    "hashgraph/probes": plot_sets,
}
