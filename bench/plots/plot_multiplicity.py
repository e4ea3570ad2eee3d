# SPDX-License-Identifier: Apache-2.0
"""Plots what `tilehash bench thesis/multiplicity --json FILE` wrote: rates of builds and of lookups against the copies of a
key (Alcantara's figures 5.10, 5.11, 6.13 and 6.14).
"""

from plot_coherent import machine_of
from plot_horton import dress, figure_of, finish, legend_beside
from plot_run import COLORS, thousands

BUILDS = {  # (the legend's name, a color, a dash)
    "automatic": ("multimap", COLORS[0], "-"),
    "by sort": ("multimap by sort", COLORS[4], "-"),
    "by counting": ("multimap by counting", COLORS[4], "--"),
    "hash_graph": ("hash_graph", COLORS[2], "-"),
    "compacting": ("compacting table", COLORS[5], "-"),
    "sorted list": ("sorted list of keys", COLORS[8], "-"),
    "single-level values": ("single-level multi-value table", COLORS[5], ":"),
    "two-level values": ("two-level multi-value table", COLORS[3], ":"),
    "sort": ("sort of the pairs", COLORS[8], ":"),
}
LOOKUPS = {
    "look up": ("multimap, key of each item", COLORS[0], "-"),
    "retrieve": ("multimap, all values", COLORS[0], "--"),
    "hash_graph count": ("hash_graph, count", COLORS[2], "--"),
    "compacting ids": ("compacting table, ids", COLORS[5], "--"),
    "sorted list ids": ("sorted list, ids", COLORS[8], "--"),
}


def plot(header, rows, path):
    rows = [r for r in rows if "copies" in r]
    if not rows:
        raise ValueError("it has no rows of thesis/multiplicity")
    best = max(max(r["mitems_per_s"].values()) for r in rows)
    scale, unit = (1000, "billion items a second") if best >= 5000 else (1, "million items a second")
    figure, axes, height = figure_of(1, 2, 11.6, 3.6)
    for axis, title, lines in ((axes[0][0], "builds", BUILDS), (axes[0][1], "lookups", LOOKUPS)):
        for field, (name, color, dash) in lines.items():
            points = sorted((r["copies"], r["mitems_per_s"][field] / scale) for r in rows if field in r["mitems_per_s"])
            if points:
                axis.plot(*zip(*points), color=color, linestyle=dash, linewidth=1.5, marker="o", markersize=3, label=name, zorder=3)
        dress(axis, title, unit, "copies of a key")
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
    legend_beside(figure, axes)
    finish(figure, height, f"Rates against the copies of a key, {machine_of(header)}",
           f"{thousands(rows[0]['items'])} pairs of 32 + 32 bits", sum(r["wrong"] for r in rows), path)  # fmt: skip
