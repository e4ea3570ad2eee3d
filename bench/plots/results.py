# SPDX-License-Identifier: Apache-2.0
"""What all plots read: the file that --json wrote (bench/results.schema.json), and who is kin to whom.

Files of older forms are read, too: a list of rows, an object a line, and rows whose seconds are one number.
"""

import contextlib
import json
import pathlib
import sys

OPS = [
    ("build", "build"),
    ("insert", "insert"),
    ("find_hit", "find, all present"),
    ("find_miss", "find, none present"),
    ("find_mix", "find, mixed"),
    ("erase", "erase"),
    ("reinsert", "insert after erase"),
    ("build_raw", "build, all as it comes"),
    ("count", "count of each key"),
]
# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A6FAC", "#8C8C3E", "#5B5B5B"]
# Kin share a colour: the map; probe by probe; rows of a bucket; one slot of several; two buckets; by age; values in
# arrays and records; no hash table or a perfect one. (Colour, its number among a terminal's, names.)
KIN = [
    (COLORS[0], 34, ("tiled",)),
    (COLORS[1], 33, ("linear_probing", "quadratic_probing", "double_hashing")),
    (COLORS[2], 32, ("chained", "chained_by_sort", "hash_graph", "hash_graph_v1", "hash_graph_v2", "hash_graph_segments", "dynamic_hash_graph")),
    (COLORS[5], 31, ("cuckoo", "indexed_cuckoo", "two_level_cuckoo")),
    (COLORS[4], 36, ("bucketed_cuckoo", "bucketed_cuckoo_balanced", "horton", "mega_kv", "dynamic_cuckoo", "dynamic_cuckoo_two")),
    (COLORS[3], 35, ("robin_hood", "robin_hood_random")),
    (COLORS[7], 93, ("indexed", "multi")),
    (COLORS[6], 95, ("sorted_array", "perfect_spatial")),
]
PEER = ("#9A9A9A", 90)
OTHER = (COLORS[8], 37)
THE_MAP = "tiled"  # what `map` and `set` are


def color_of(design):
    """(for matplotlib, for a terminal)"""
    if is_peer(design):
        return PEER
    for color, code, names in KIN:
        if design in names:
            return color, code
    return OTHER


def is_peer(design):
    return "::" in design


def unpacked(data):
    """The rows of a file as objects. Packed files (scripts/check_results.py) have columns instead."""
    if "columns" not in data:
        return data["rows"]
    rows, last = [], {}
    for at, known, *values in data["rows"]:
        last[at] = [*last.get(at, [])[:known], *values]
        row = {}
        for names, value in [*data["same"].items(), *zip(data["columns"][at], last[at], strict=True)]:
            for *outer, field in (name.split(".") for name in names.split(",")):
                inside = row
                for one in outer:
                    inside = inside.setdefault(one, {})
                inside[field] = value
        rows.append(row)
    return rows


def read_file(path):
    """The header and the rows."""
    text = pathlib.Path(path).read_text()
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = [json.loads(line) for line in text.splitlines() if line.strip()]
    header = {}
    if isinstance(data, dict):
        header, data = data.get("header", {}), unpacked(data) if "rows" in data else [data]
    if not data:
        raise ValueError("it holds no rows")
    for row in data:
        seconds = row.get("seconds")
        if isinstance(seconds, (int, float)):
            row["seconds"] = {"min": seconds, "median": seconds, "max": seconds, "runs": [seconds]}
        if row.get("wrong", 0) is None:  # nobody checked
            row["wrong"] = 0
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


def ranked(rows, rank):
    """The designs, the fastest at `rank` first; those that lack it last; as they come where nobody asks."""
    designs = in_order(r["design"] for r in rows)
    if not rank:
        return designs
    if not any(r["op"] == rank for r in rows):
        known = ", ".join(in_order(r["op"] for r in rows))
        raise ValueError(f"no row has the op {rank} to rank by; there are {known}")
    rates = {r["design"]: r["mitems_per_s"] for r in rows if r["op"] == rank}
    return sorted(designs, key=lambda design: -rates.get(design, -1))


def what_was_run(header, rows):
    """(the input, the circumstances, the verdict, is it a good one?), each a line."""
    first = rows[0]
    source = str(first.get("input", ""))
    if source.startswith(("fasta:", "fastq:", "lines:", "binary:")):  # the file's name without its folder
        kind, rest = source.split(":", 1)
        name, comma, options = rest.partition(",")
        source = f"{kind}:{pathlib.PurePath(name).name}{comma}{options}"
    unique = max(r.get("unique", 0) for r in rows)
    loads = [r["load_factor"] for r in rows if r.get("load_factor") and r["op"] == "build" and not is_peer(r["design"])]
    parts = [f"{thousands(unique)} distinct keys of {first.get('key_bytes', '?')} bytes"]
    parts.append(f"values of {first['value_bytes']} bytes" if first.get("value_bytes") else "no values")
    if loads:
        low, high = min(loads), max(loads)
        parts.append(f"load {low:.2f}" if high - low < 0.01 else f"loads {low:.2f} to {high:.2f}")
    machine = header.get("gpu") or header.get("machine")
    if machine:
        parts.append(machine)
    if not header.get("gpu") and header.get("threads"):
        parts.append(f"{header['threads']} thread{'s' if header['threads'] != 1 else ''}")
    if header.get("repeat"):
        parts.append(f"median of {header['repeat']}" if header["repeat"] > 1 else "one run each")
    if header.get("commit"):
        parts.append(f"commit {header['commit']}")
    bad = sum(r.get("failed", 0) + r.get("wrong", 0) for r in rows)
    verdict = "every answer verified"
    if bad:
        verdict = f"{thousands(bad)} ITEMS LOST OR ANSWERS WRONG"
    elif not all(r.get("verified", True) for r in rows):
        verdict = "ANSWERS NOT VERIFIED"
    return source, ", ".join(parts), verdict, not bad


@contextlib.contextmanager
def errors_in_one_line(path):
    """Ends the program with one line where the file `path` cannot be plotted."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        what = f"a row lacks {error}" if isinstance(error, KeyError) else error
        print(f"error: {path} cannot be plotted: {what}", file=sys.stderr)
        sys.exit(2)
