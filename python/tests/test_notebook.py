# SPDX-License-Identifier: Apache-2.0
"""Runs the code of examples/analysis.ipynb. It needs matplotlib and networkx, but no Jupyter."""

import importlib.util
import json
import os
import pathlib

NOTEBOOK = pathlib.Path(__file__).parent.parent / "examples" / "analysis.ipynb"


def test_the_notebook():
    for module in ("matplotlib", "networkx"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: no {module}, for")
            return
    os.environ["MPLBACKEND"] = "Agg"
    names = {}
    for number, cell in enumerate(json.loads(NOTEBOOK.read_text())["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, cell {number}", "exec"), names)
    # What the recorded plots show: errors make rare k-mers, and most nodes are connected.
    np, counts, true = names["np"], names["counts"], names["true"]
    assert np.median(counts[true]) > 15 and np.median(counts[~true]) == 1 and true.sum() > 34_000
    assert names["components"][0] > len(names["nodes"]) * 0.8
    assert len(names["groups"]) == 3 and names["result"]["lines"].sum() == len(names["key"])
    np.testing.assert_allclose(names["revenue"].sum(), (names["price"] * (1 - names["discount"])).sum())
