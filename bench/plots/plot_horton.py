# SPDX-License-Identifier: Apache-2.0
"""Plots what `tilehash bench horton/accesses|churn|sizes --json FILE` wrote: buckets read by lookups beside the paper's
model, what becomes of them while items go and come, or rates and bytes moved against the size of the table.
"""

from plot_run import COLORS, GRID, INK, MUTED, plt, save, thousands

# (A colour, a marker, a name.) Cuckoo tables are the same in every picture.
SLOTS = {1: (COLORS[5], "v"), 2: (COLORS[1], "^"), 4: (COLORS[2], "s"), 8: (COLORS[0], "o"), 16: (COLORS[3], "D")}
CUCKOO = {
    "bucketed_cuckoo": ("#222222", ":", "cuckoo, first fit"),
    "bucketed_cuckoo_balanced": ("#8A8A8A", "--", "cuckoo, balanced"),
}
BASELINE = "the same by the model: 1.5"
# Later ones are drawn over earlier ones: where lines meet, all are seen.
DESIGNS = {
    "bucketed_cuckoo_balanced": (COLORS[8], "--", 1.5),
    "horton": (COLORS[5], "-", 3.2),
    "bucketed_cuckoo": (COLORS[4], "-", 1.5),
    "tiled": (COLORS[0], ":", 1.8),
}
HOMES = {
    "never": ("nothing comes home", COLORS[5], "-", 1.5),
    "lazy": ("lazy", COLORS[1], "-", 1.8),
    "eager": ("eager", COLORS[0], "-", 1.8),
    "fresh": ("a fresh table of the same items", INK, ":", 1.5),
}


def figure_of(lines, columns, width, panel_height):
    """The figure, its panels and its height, with room for two lines of text on top."""
    height = 1.2 + panel_height * lines
    figure, axes = plt.subplots(lines, columns, figsize=(width, height), squeeze=False, layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.78 / height), h_pad=0.1, w_pad=0.08)
    return figure, axes, height


def dress(axis, title, unit, x_label):
    axis.set_title(title, loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=16)
    axis.text(0, 1.015, unit, transform=axis.transAxes, va="bottom", ha="left", fontsize=8, color=MUTED)
    axis.set_xlabel(x_label, fontsize=8.5, color=MUTED)
    axis.grid(color=GRID, linewidth=0.8, zorder=0)
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=8, colors=MUTED, length=0, which="both")
    for side in axis.spines.values():
        side.set_visible(False)


def legend_beside(figure, axes, order=None):
    handles = {}
    for axis in axes.flat:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels())))
    names = [n for n in order or handles if n in handles]
    figure.legend([handles[n] for n in names], names, loc="outside right center", frameon=False, fontsize=9,
                  labelcolor=INK, handlelength=2.6)  # fmt: skip


def finish(figure, height, title, text, bad, path):
    verdict = "every answer verified" if bad == 0 else f"{thousands(bad)} ITEMS LOST OR ANSWERS WRONG"
    figure.text(0.012, 1 - 0.30 / height, title, fontsize=14, fontweight="bold", color=INK, va="center")
    figure.text(0.012, 1 - 0.58 / height, f"{text}; {verdict}", va="center", fontsize=9.5,
                color=MUTED if bad == 0 else "#C00000")  # fmt: skip
    save(figure, path, dpi=110)


# ---- accesses ----


def draw_homes(axis, row):
    loads = range(len(row["model"]))
    axis.bar(loads, [b / 1000 for b in row["buckets_by_keys"]], width=0.8, color="#B9D6E8", zorder=2)
    axis.plot(loads, [m / 1000 for m in row["model"]], color=COLORS[0], marker=".", markersize=5, linewidth=1.2, zorder=3)
    dress(axis, f"keys of a bucket, load {row['load']:g}", "thousand buckets of 8 slots; the line is equation 3",
          "keys whose primary bucket it is")  # fmt: skip
    axis.set_xlim(-0.7, 20.7)
    axis.locator_params(axis="x", integer=True)


def draw_model(axis, rows, what, scale=1):
    """Lines are the model's, marks are measured."""
    for slots, (color, marker) in SLOTS.items():
        model = sorted((r["load"], scale * r[what]) for r in rows if r["what"] == "model" and r["slots"] == slots)
        axis.plot(*zip(*model), color=color, linewidth=1.2, zorder=2)
        here = sorted((r["load"], scale * r[what]) for r in rows if r.get("design") == "horton" and r["slots"] == slots)
        axis.plot(*zip(*here), color=color, marker=marker, markersize=4, linestyle="none", zorder=4,
                  label=f"horton, {slots} slot" + "s" * (slots > 1))  # fmt: skip
    for design, (color, dash, name) in CUCKOO.items():
        eight = [r for r in rows if r.get("design") == design and r["slots"] == 8 and what in r]
        here = sorted((r["load"], scale * r[what]) for r in eight)
        if here:
            axis.plot(*zip(*here), color=color, linestyle=dash, linewidth=1.8, zorder=3, label=f"{name}, 8 slots")
    axis.set_xlim(0, 1)


def draw_errors(axis, rows):
    for slots, (color, marker) in SLOTS.items():
        here = sorted((r["load"], r) for r in rows if r.get("design") == "horton" and r["slots"] == slots)
        for what, dash in (("found", "-"), ("not_found", ":")):
            axis.plot([load for load, _ in here], [100 * (r[what] / r["model_" + what] - 1) for _, r in here], color=color,
                      linestyle=dash, marker=marker, markersize=3, linewidth=1.2, zorder=3)  # fmt: skip
    axis.axhline(0, color=INK, linewidth=0.8, zorder=2)
    axis.set_xlim(0, 1)
    axis.set_ylim(-1.05, 1.05)
    dress(axis, "measured against the model", "percent more buckets; dotted: not found", "load")


def plot_accesses(_header, rows, path):
    figure, axes, height = figure_of(2, 3, 14.2, 3.6)
    reads = [r for r in rows if r["what"] == "reads"]
    for axis, row in zip(axes[0], [r for r in rows if r["what"] == "homes" and r.get("hash", "murmur") == "murmur"]):
        draw_homes(axis, row)
    draw_model(axes[0][2], rows, "entries", 100)
    dress(axes[0][2], "remap entries (equation 4)", "percent of all slots; lines are the model's", "load")
    draw_model(axes[1][0], rows, "found")
    axes[1][0].axhline(1.5, color=CUCKOO["bucketed_cuckoo_balanced"][0], linewidth=0.9, label=BASELINE)
    dress(axes[1][0], "lookups that find (equation 7)", "buckets read; coloured lines are the model's", "load")
    draw_model(axes[1][1], rows, "not_found")
    dress(axes[1][1], "lookups that do not find (equation 9)", "buckets read; the balanced table's 2 are out of sight", "load")
    axes[1][1].set_ylim(0.99, 1.2)
    draw_errors(axes[1][2], rows)
    order = [f"horton, {s} slot" + "s" * (s > 1) for s in SLOTS]
    order += [*(f"{name}, 8 slots" for _, _, name in CUCKOO.values()), BASELINE]
    legend_beside(figure, axes, order)
    items = max(r["items"] for r in reads)
    finish(figure, height, "What lookups in Horton tables read, and the model",
           f"marks are measured, lines predicted; pairs of 32 + 32 bits, up to {thousands(items)} in a table",
           sum(r["wrong"] for r in reads) + sum(r["failed"] for r in reads if r["slots"] >= 4), path)  # fmt: skip


# ---- churn ----


def plot_churn(_header, rows, path):
    shapes = sorted({(-r["slots"], r["load"]) for r in rows})
    figure, axes, height = figure_of(len(shapes), 3, 14.2, 3.3)
    for line, (slots, load) in zip(axes, shapes):
        here = [r for r in rows if (-r["slots"], r["load"]) == (slots, load)]
        for axis, what, title, unit, scale in (
            (line[0], "found", "found", "buckets read by a lookup", 1),
            (line[1], "not_found", "not found", "buckets read by a lookup", 1),
            (line[2], "type_b", "buckets of type B", "percent of all", 100),
        ):
            for home, (name, color, dash, width) in HOMES.items():
                points = sorted((r["round"], scale * r[what]) for r in here if r["home"] == home)
                axis.plot(*zip(*points), color=color, linestyle=dash, linewidth=width, label=name, zorder=3)
            dress(axis, f"{title}, {-slots} slots at load {load:g}", unit, "rounds")
    legend_beside(figure, axes)
    rounds = max(r["round"] for r in rows)
    unplaced = sum(r["failed"] for r in rows if r["home"] == "never")
    control = f" (where nothing comes home, {thousands(unplaced)} keys find no place)" if unplaced else ""
    finish(figure, height, "Lookups in Horton tables that erase and insert at a constant load",
           f"{rounds} rounds, in each of which a tenth of the items goes and others come{control}",
           sum(r["wrong"] for r in rows) + sum(r["failed"] for r in rows if r["home"] != "never"), path)  # fmt: skip


# ---- sizes ----


def size_name(size):
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{size >> power} {unit}"
    return str(size)


def plot_sizes(header, rows, path):
    finds = [r for r in rows if r["op"] == "find"]
    best = max(r["mitems_per_s"] for r in finds)
    scale, unit = (1000, "billion lookups a second") if best >= 2000 else (1, "million lookups a second")
    figure, axes, height = figure_of(2, 2, 11.6, 3.4)
    sizes = sorted({r["bytes"] for r in finds})
    others = sorted({r["design"] for r in finds} - set(DESIGNS))
    for column, (percent, title) in enumerate(((0, "all found"), (100, "none found"))):
        for line, (what, divisor) in enumerate((("mitems_per_s", scale), ("bytes_per_lookup", 1))):
            axis = axes[line][column]
            for design in [*DESIGNS, *others]:
                color, dash, width = DESIGNS.get(design, (MUTED, "-", 1.0))
                here = [r for r in finds if r["design"] == design and r["failed_percent"] == percent]
                points = sorted((r["bytes"], r[what] / divisor) for r in here)
                if points:
                    axis.plot(*zip(*points), color=color, linestyle=dash, linewidth=width, marker="o", markersize=3,
                              label=design, zorder=3)  # fmt: skip
            dress(axis, title, unit if line == 0 else "bytes moved by a lookup: buckets, key and value", "size of the table")
            axis.set_xscale("log", base=2)
            axis.set_xticks(sizes[::3], [size_name(s) for s in sizes[::3]])
            axis.minorticks_off()
            if line == 0:
                axis.set_ylim(bottom=0)
            else:
                axis.set_ylim(64, 144)
    legend_beside(figure, axes)
    machine = header.get("gpu") or f"{header.get('machine', '?')}, threads: {header.get('threads', '?')}"
    load = round(max(r["load_factor"] for r in finds), 2)
    finish(figure, height, f"Lookups against the size of the table, {machine}",
           f"random pairs of 32 + 32 bits, load {load:g}", sum(r["failed"] + r["wrong"] for r in rows), path)  # fmt: skip


PLOTS = {"horton/accesses": plot_accesses, "horton/churn": plot_churn, "horton/sizes": plot_sizes}
