# SPDX-License-Identifier: Apache-2.0
"""Plots what `tilehash bench dynamic/... --json FILE` wrote: rates by the filled factor, what one resize takes, and
batches of inserts, finds and deletes with the table's memory, and these for several values of a parameter.
"""

from plot_coherent import machine_of
from plot_horton import dress, figure_of, finish, legend_beside
from plot_run import COLORS, in_order, thousands

PARTS = ("insert", "find", "erase", "resize")
DASHES = {"subtables": "-", "automatic": "--", "rehash": ":"}


def wrong_in(rows):
    return sum(r.get("wrong", 0) for r in rows)


def name_of(row):
    return f"{row['input']} {row['design']}, {row['policy']}" if "input" in row else f"{row['design']}, {row['policy']}"


def plot_static(header, rows, path):
    designs = in_order(r["design"] for r in rows)
    inputs = in_order(r.get("input", "") for r in rows)
    figure, axes, height = figure_of(len(inputs), 3, 13, 4 if len(inputs) == 1 else 3)
    for line, given in zip(axes, inputs):
        for axis, (rate, title) in zip(line, (("insert", "insert"), ("find_hit", "found"), ("find_miss", "not found"))):
            for number, design in enumerate(designs):
                its = [r for r in rows if r["design"] == design and r.get("input", "") == given]
                axis.plot([r["load"] for r in its], [r[rate] for r in its], "o-", color=COLORS[number], label=design)
            axis.set_ylim(bottom=0)
            dress(axis, f"{given}: {title}" if given else title, "billion a second", "filled factor")
    legend_beside(figure, axes)
    refused = sum(r["refused_percent"] > 0 for r in rows)
    what = f"{thousands(rows[0]['items'])} pairs" if inputs == [""] else "pairs"
    finish(figure, height, f"Tables filled at once, {machine_of(header)}",
           f"{what} of 32 + 32 bits; rows with refused items: {refused}",
           wrong_in(rows), path)  # fmt: skip


def plot_resize(header, rows, path):
    figure, axes, height = figure_of(1, 1, 8, 1.2 + 0.6 * len(rows))
    axis = axes.flat[0]
    for line, row in enumerate(rows):
        axis.barh(line - 0.2, row["ms"], height=0.36, color=COLORS[0], label="one subtable", zorder=2)
        axis.barh(line + 0.2, row["rehash_ms"], height=0.36, color=COLORS[4], label="all items anew", zorder=2)
    axis.set_yticks(range(len(rows)), [f"{r['design']}, {'doubled' if r['doubles'] else 'halved'} at {r['load']:g}" for r in rows])
    axis.invert_yaxis()
    dress(axis, "One resize", f"{thousands(rows[0]['items'])} pairs", "milliseconds")
    legend_beside(figure, axes)
    finish(figure, height, f"Resizes, {machine_of(header)}", "pairs of 32 + 32 bits", wrong_in(rows), path)


def stack_parts(axis, place, row):
    """One bar of the times of a row's parts."""
    bottom = 0
    for number, part in enumerate(PARTS):
        axis.bar(place, 1e3 * row[part], bottom=bottom, width=0.7, color=COLORS[number], label=part, zorder=2)
        bottom += 1e3 * row[part]


def plot_workload(header, rows, path):
    many = len({r.get("input", "") for r in rows}) > 1  # then the parts alone
    designs = in_order(r["design"] for r in rows)
    columns = 1 if many else max(3, (len(designs) + 3) // 2)
    figure, axes, height = figure_of(1 if many else 2, columns, 12 if many else 5 * columns, max(4, 1 + 0.4 * len(rows)) if many else 4)
    bars = axes.flat[0]
    for line, row in enumerate(rows):
        left = 0
        for number, part in enumerate(PARTS):
            bars.barh(line, 1e3 * row[part], left=left, color=COLORS[number], label=part, zorder=2)
            left += 1e3 * row[part]
    bars.set_yticks(range(len(rows)), [name_of(r) for r in rows])
    bars.invert_yaxis()
    dress(bars, "All batches", "of tables that resize by themselves, resizes are part of inserts and erases", "milliseconds")
    if not many:
        plot_batches(axes.flat[1:], designs, rows)
    legend_beside(figure, axes[:1, :1])
    first = rows[0]
    finish(figure, height, f"Batches of inserts, finds and deletes, {machine_of(header)}",
           f"{'' if many else thousands(first['items']) + ' '}pairs by {thousands(first['batch'])}, r {first['erased']:g}, "
           f"filled {first['alpha']:g} to {first['beta']:g}", wrong_in(rows), path)  # fmt: skip


def plot_batches(axes, designs, rows):
    """Memory after each batch; then the first 100 batches, one panel for each design."""
    sizes, *times = axes
    for row in rows:
        color, dash = COLORS[designs.index(row["design"])], DASHES.get(row["policy"], "-")
        sizes.plot([1e-6 * x for x in row.get("batch_bytes", [])], linewidth=1, linestyle=dash, color=color)
        axis = times[designs.index(row["design"])]
        axis.plot([1e3 * x for x in row.get("batch_seconds", [])[:100]], linewidth=1, linestyle=dash, color=color, label=row["policy"])
    sizes.set_ylim(bottom=0)
    dress(sizes, "Memory after each batch", "million bytes; lines as in the other panels", "batch")
    seconds = [x for r in rows for x in r.get("batch_seconds", [])[:100]] or [1e-3]
    for axis, design in zip(times, designs):
        axis.set_yscale("log")
        axis.set_ylim(800 * min(seconds), 2e3 * max(seconds))
        dress(axis, design, "milliseconds of the first 100 batches", "batch")
        axis.legend(fontsize=7, loc="upper left", frameon=False)
    for axis in times[len(designs):]:
        axis.set_visible(False)


def plot_sweep(header, rows, path):
    varied = header["experiment"].rsplit("/", 1)[1]
    tables = list(dict.fromkeys((r["design"], r["policy"]) for r in rows))
    inputs = in_order(r.get("input", "") for r in rows)
    figure, axes, height = figure_of(len(inputs), len(tables), 2 + 2.6 * len(tables), 3.4)
    for line, given in zip(axes, inputs):
        top = 0
        for axis, (design, policy) in zip(line, tables):
            its = [r for r in rows if (r["design"], r["policy"], r.get("input", "")) == (design, policy, given)]
            for place, row in enumerate(its):
                stack_parts(axis, place, row)
                top = max(top, 1.05e3 * sum(row[part] for part in PARTS))
            axis.set_xticks(range(len(its)), [f"{r[varied]:g}" if varied != "batch" else thousands(r[varied]) for r in its], fontsize=7)
            title = f"{given}: {design}" if given else design
            dress(axis, title, f"{policy}, milliseconds", {"erased": "r, deletes by inserts"}.get(varied, varied))
        for axis in line:
            axis.set_ylim(0, top)
    legend_beside(figure, axes[:, :1])
    finish(figure, height, f"Batches of inserts, finds and deletes, {machine_of(header)}",
           f"{thousands(rows[0]['items'])} pairs of 32 + 32 bits; what tables do by themselves is part of their calls",
           wrong_in(rows), path)  # fmt: skip


PLOTS = {"dynamic/static": plot_static, "dynamic/resize": plot_resize, "dynamic/workload": plot_workload, "dynamic/sweep": plot_sweep}
