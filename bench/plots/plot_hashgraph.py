#!/usr/bin/env python3
"""Plots what `tilehash bench hashgraph/join|updates --json FILE` wrote: how long each way to join takes; how long items
take to be put into a graph and taken out, beside building it anew.

usage: scripts/plot.sh hashgraph FIGURES.json PLOT.png|PLOT.svg
"""

import sys

from plot_coherent import machine_of
from plot_horton import dress, figure_of, finish, legend_beside
from plot_run import COLORS, INK, MUTED, in_order, read_file, thousands

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
        title = f"{thousands(items)} items, {load:g} a row, {slack:g} free entries an item"
        dress(axis, title, "milliseconds", "items that come or go, percent of those there")
    for axis in axes.flat[len(cases) :]:
        axis.set_visible(False)
    legend_beside(figure, axes)
    finish(figure, height, f"Updates of a hash graph, {machine_of(header)}", "pairs of 32 + 32 bits",
           sum(r["wrong"] for r in rows), path)  # fmt: skip


PLOTS = {"hashgraph/join": plot_joins, "hashgraph/updates": plot_updates}


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: scripts/plot.sh hashgraph FIGURES.json PLOT.png|PLOT.svg")
    try:
        header, rows = read_file(sys.argv[1])
        experiment = header.get("experiment")
        if experiment not in PLOTS:
            raise ValueError(f"its experiment is '{experiment}', not one of {', '.join(PLOTS)}")
        PLOTS[experiment](header, rows, sys.argv[2])
    except (OSError, ValueError, KeyError) as error:
        what = f"a row lacks {error}" if isinstance(error, KeyError) else error
        sys.exit(f"error: {sys.argv[1]} cannot be plotted: {what}")


if __name__ == "__main__":
    main()
