# SPDX-License-Identifier: Apache-2.0
"""Plots what `tilehash bench coherent/ages|failures|sizes|images|layouts|voxels --json FILE` wrote: how old keys grow in
Robin Hood tables, and rates where keys are the points of sparse pictures and voxel models.
"""

from plot_horton import dress, figure_of, finish, legend_beside
from plot_run import COLORS, INK, MUTED, thousands

# (A colour, a line, its width.) Later ones are drawn over earlier ones.
DESIGNS = {
    "cuckoo": (COLORS[4], "-", 1.4),
    "two_level_cuckoo": (COLORS[8], "--", 1.4),
    "tiled": (COLORS[1], "-", 1.6),
    "boost::unordered_flat_map": ("#8A8A8A", ":", 1.6),
    "robin_hood_random_one_slot": (COLORS[3], "--", 1.8),
    "robin_hood_one_slot": (COLORS[3], "-", 2.4),
    "robin_hood_random": (COLORS[0], "--", 2.2),
    "robin_hood": (COLORS[5], "-", 2.8),
}
SHAPES = {
    "robin_hood, one slot a bucket": (COLORS[3], "s"),
    "robin_hood_random": (COLORS[0], "^"),
    "robin_hood": (COLORS[5], "o"),
}
LAYOUTS = {"row_major": COLORS[5], "morton": COLORS[0], "hilbert": COLORS[1], "bit_reversal": "#8A8A8A"}
ACCESS = {"rows": "row by row", "turned": "turned by 30 degrees", "slices": "random slices"}


def machine_of(header):
    return header.get("gpu") or f"{header.get('machine', '?')}, threads: {header.get('threads', '?')}"


def bad_of(rows):
    return sum(r["failed"] + r["wrong"] for r in rows)


def scale_of(rows):
    """The unit that suits the fastest."""
    if max(r["mitems_per_s"] for r in rows) >= 2000:
        return 1000, "billion a second"
    return 1, "million a second"


def lines_by(axis, rows, x, scale, styles=DESIGNS, by="design"):
    """A line for each design, or layout, that the rows have."""
    names = [n for n in styles if any(r[by] == n for r in rows)]
    names += sorted({r[by] for r in rows} - set(styles))
    for name in names:
        style = styles.get(name, MUTED)
        color, dash, width = style if isinstance(style, tuple) else (style, "-", 2.0)
        points = sorted((r[x], r["mitems_per_s"] / scale) for r in rows if r[by] == name)
        xs, ys = zip(*points)
        if x == "load" and "::" in name:  # another library's, which chooses its own
            axis.axhline(ys[0], color=color, linestyle=dash, linewidth=width, label=name, zorder=2)
        else:
            axis.plot(xs, ys, color=color, linestyle=dash, linewidth=width, marker="o", markersize=3, label=name, zorder=3)
    axis.set_ylim(bottom=0)


# ---- ages, failures ----


def plot_ages(header, rows, path):
    figure, axes, height = figure_of(2, 3, 14.2, 3.5)
    third = {r["table"]: r for r in rows if r["data"] == "figure 3"}
    for axis, (names, title) in zip(
        (axes[0][0], axes[1][0]),
        (
            (["model, open addressing"], "open addressing"),
            (["model, Robin Hood", "robin_hood, one slot a bucket", "robin_hood"], "Robin Hood"),
        ),
    ):
        for i, name in enumerate(names):
            ages = third[name]["ages"][1:]
            places = [age + 1 + (i - (len(names) - 1) / 2) * 0.8 / len(names) for age in range(len(ages))]
            axis.bar(places, ages, width=0.8 / len(names), color=[COLORS[0], COLORS[3], COLORS[5]][i], zorder=2,
                     label=f"{name}: oldest {len(ages)}")  # fmt: skip
        axis.set_yscale("log")
        axis.legend(frameon=False, fontsize=8, labelcolor=INK)
        dress(axis, f"figure 3: {title}", "keys by age", "age")
    shown = [r for r in rows if r["data"] != "figure 3"]
    for axis, (what, title, unit) in zip(
        (axes[0][1], axes[0][2], axes[1][1]),
        (("found", "found", "buckets read"), ("not_found", "not found", "buckets read"), ("oldest", "the oldest key", "age")),
    ):
        for name, (color, marker) in SHAPES.items():
            for data, dash in (("random", "-"), ("structured", ":")):
                here = sorted((r["load"], r[what]) for r in shown if r["table"] == name and r["data"] == data)
                if here:
                    axis.plot(*zip(*here), color=color, linestyle=dash, marker=marker, markersize=4, zorder=3,
                              label=f"{name}, {data} keys")  # fmt: skip
        axis.set_yscale("log", base=2)  # the last slots of a full table cost most
        axis.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        dress(axis, title, unit, "load")
    axes[1][2].set_axis_off()
    handles, names = axes[0][1].get_legend_handles_labels()
    axes[1][2].legend(handles, names, frameon=False, fontsize=9, labelcolor=INK, loc="upper left")
    finish(figure, height, "Ages of keys in Robin Hood tables", f"{thousands(rows[0]['items'])} keys of 32 bits",
           bad_of(rows), path)  # fmt: skip


def plot_failures(header, rows, path):
    figure, axes, height = figure_of(1, 2, 11.6, 3.6)
    for axis, (value, title, unit) in zip(
        axes[0],
        (
            (lambda r: r["oldest"], "the oldest key of all tables", "age"),
            (lambda r: 100 * r["restarted"] / r["tables"], "builds that began anew", "percent"),
        ),
    ):
        for name, (color, marker) in SHAPES.items():
            here = sorted((r["load"], value(r)) for r in rows if r["table"] == name)
            axis.plot(*zip(*here), color=color, marker=marker, markersize=4, label=name, zorder=3)
        axis.set_ylim(bottom=0, top=max(1, 1.05 * axis.get_ylim()[1]))
        dress(axis, title, unit, "load")
    legend_beside(figure, axes)
    finish(figure, height, "Builds of Robin Hood tables", f"{thousands(sum(r['tables'] for r in rows))} tables",
           bad_of(rows), path)  # fmt: skip


# ---- rates ----


def plot_sizes(header, rows, path):
    scale, unit = scale_of(rows)
    figure, axes, height = figure_of(1, 2, 11.6, 3.8)
    for axis, (op, title) in zip(axes[0], (("build", "construction"), ("access", "retrieval, all found"))):
        lines_by(axis, [r for r in rows if r["op"] == op], "n", scale)
        axis.set_xscale("log", base=2)
        dress(axis, title, unit, "keys")
    legend_beside(figure, axes)
    finish(figure, height, f"Random keys, {machine_of(header)}", f"load {rows[0]['load']:g}, shuffled", bad_of(rows), path)


def plot_images(header, rows, path):
    models = sorted({r["model"] for r in rows})
    figure, axes, height = figure_of(len(models), 2, 11.6, 3.4)
    for line, model in zip(axes, models):
        for axis, (op, title) in zip(line, (("build", "construction"), ("access", "every pixel asked for"))):
            here = [r for r in rows if r["model"] == model and r["op"] == op]
            scale, unit = scale_of(here)
            lines_by(axis, here, "load", scale)
            dress(axis, f"{model}: {title}", unit, "load")
    legend_beside(figure, axes)
    finish(figure, height, f"Sparse pictures, {machine_of(header)}",
           f"{rows[0]['side']}^2 pixels in row order", bad_of(rows), path)  # fmt: skip


def plot_angles(header, rows, path):
    """One load, and several angles; row by row is at 0."""
    designs = [d for d in DESIGNS if any(r["design"] == d for r in rows)]
    looked_up = [r | {"degrees": r.get("degrees", 0)} for r in rows if r["op"] == "access"]
    figure, axes, height = figure_of(1, len(designs), 5.2 * len(designs), 3.4)
    for axis, design in zip(axes[0], designs):
        scale, unit = scale_of(looked_up)
        lines_by(axis, [r for r in looked_up if r["design"] == design], "degrees", scale, LAYOUTS, "layout")
        dress(axis, design, unit, "degrees by which the picture is turned")
    legend_beside(figure, axes)
    finish(figure, height, f"Orders in which pixels become keys, {machine_of(header)}",
           f"structured picture of {rows[0]['side']}^2 pixels, load {rows[0]['load']:g}", bad_of(rows), path)  # fmt: skip


def plot_layouts(header, rows, path):
    if len({r["degrees"] for r in rows if "degrees" in r}) > 1 and len({r["load"] for r in rows}) == 1:
        return plot_angles(header, rows, path)
    shown = ("robin_hood_one_slot", "robin_hood_random_one_slot", "robin_hood", "robin_hood_random", "tiled")
    designs = [d for d in shown if any(r["design"] == d for r in rows)]
    accesses = [a for a in ACCESS if any(r["access"] == a for r in rows)]
    figure, axes, height = figure_of(len(designs), len(accesses) + 1, 4.2 + 3.6 * len(accesses), 3.0)
    for line, design in zip(axes, designs):
        own = [r for r in rows if r["design"] == design]
        panels = [("build", accesses[0], "construction"), *(("access", a, ACCESS[a]) for a in accesses)]
        for axis, (op, access, title) in zip(line, panels):
            here = [r for r in own if r["op"] == op and r["access"] == access]
            scale, unit = scale_of([r for r in rows if r["op"] == op])
            lines_by(axis, here, "load", scale, LAYOUTS, "layout")
            axis.set_ylim(0, 1.05 * max(r["mitems_per_s"] for r in rows if r["op"] == op and r["design"] in designs) / scale)
            axis.set_xlim(min(r["load"] for r in rows) - 0.02, max(r["load"] for r in rows) + 0.02)
            dress(axis, design, f"{title}, {unit}", "load")
    legend_beside(figure, axes)
    finish(figure, height, f"Orders in which pixels become keys, {machine_of(header)}",
           f"structured picture of {rows[0]['side']}^2 pixels", bad_of(rows), path)  # fmt: skip


def plot_voxels(header, rows, path):
    models = sorted({r["model"] for r in rows}, reverse=True)
    loads = sorted({r["load"] for r in rows})
    layouts = [name for name in LAYOUTS if any(r["layout"] == name for r in rows)]
    designs = [d for d in DESIGNS if any(r["design"] == d for r in rows)]
    figure, axes, height = figure_of(len(models), 2 * len(loads), 3.4 * 2 * len(loads), 3.4)
    for line, model in zip(axes, models):
        panels = [(load, op) for op in ("build", "access") for load in loads]
        for axis, (load, op) in zip(line, panels):
            all_of_op = [r for r in rows if r["op"] == op]
            scale, unit = scale_of(all_of_op)
            for i, design in enumerate(designs):
                here = {
                    r["layout"]: r["mitems_per_s"] / scale
                    for r in all_of_op
                    if (r["design"], r["model"], r["load"]) == (design, model, load)
                }
                places = [k + (i - (len(designs) - 1) / 2) * 0.8 / len(designs) for k in range(len(layouts))]
                axis.bar(places, [here.get(name, 0) for name in layouts], width=0.8 / len(designs),
                         color=DESIGNS[design][0], label=design, zorder=2)  # fmt: skip
            axis.set_xticks(range(len(layouts)), [name.replace("_", "\n") for name in layouts])
            dress(axis, f"{model}, {load:g}: {'built' if op == 'build' else 'sliced'}", unit, "")
    legend_beside(figure, axes)
    finish(figure, height, f"Sparse voxel models, {machine_of(header)}",
           f"{rows[0]['side']}^3 voxels, sliced at random orientations", bad_of(rows), path)  # fmt: skip


PLOTS = {
    "coherent/ages": plot_ages,
    "coherent/failures": plot_failures,
    "coherent/sizes": plot_sizes,
    "coherent/images": plot_images,
    "coherent/layouts": plot_layouts,
    "coherent/voxels": plot_voxels,
}
