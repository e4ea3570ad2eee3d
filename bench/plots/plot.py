#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `tilehash bench ... --json FILE` wrote, as the experiment demands that the file's header names. Older files name
none: theirs is their name's, as thesis_size.json.

usage: scripts/plot.sh FIGURES.json PLOT.png|PLOT.svg
"""

import pathlib
import sys

import plot_coherent
import plot_dynamic
import plot_hashgraph
import plot_horton
import plot_multiplicity
import plot_sweep
from results import errors_in_one_line, read_file

PLOTS = {
    **dict.fromkeys(plot_sweep.EXPERIMENTS, plot_sweep.plot),
    "thesis/multiplicity": plot_multiplicity.plot,
    **plot_coherent.PLOTS,
    **plot_dynamic.PLOTS,
    **plot_hashgraph.PLOTS,
    **plot_horton.PLOTS,
}


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: scripts/plot.sh FIGURES.json PLOT.png|PLOT.svg")
    figures, picture = sys.argv[1:]
    with errors_in_one_line(figures):
        header, rows = read_file(figures)
        experiment = header.get("experiment") or "/".join(pathlib.Path(figures).stem.split("_"))
        kind = "/".join(experiment.split("/")[:2])  # without what a sweep varies
        if kind not in PLOTS:
            raise ValueError(f"its experiment is '{experiment}', not one of {', '.join(PLOTS)}")
        PLOTS[kind]({**header, "experiment": experiment}, rows, picture)


if __name__ == "__main__":
    main()
