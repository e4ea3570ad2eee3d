#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks bench/results: at most 2 MB, every file cited by a page, an entry of papers/ or a script and packed, every JSON file of a
clean commit and in the folder of its machine. A release's folder (MACHINE/VERSION, scripts/record.sh) needs no citation, as
`tilehash report` reads all of it. Its files have one commit, and no later commit changes them.

A file is cited by its name, alone or with folders (h200/thesis_size.json). A packed file has numbers of
five digits and no single runs, and names each field once: "same" has the fields that are the same in all rows, "columns" lists
of the others ("seconds.median" is the field of an object, "a,b" two fields that are equal in all rows), those that change least
first. A row is the number of its list, how many of its first values are those of the last row of this list, and the other values. A
packed profile names kernels and metrics once and has a line a launch, a packed text one space between columns.
packaging/results_archive.sh has the whole files.

usage: check_results.py                    checks
       check_results.py --pack FILE...     packs files that --json or ncu wrote, and texts, in place
       check_results.py --share FILE...    makes files of the same runs links to the first of them
       check_results.py --origin MACHINE FOLDER
                                           prints version and commit of what `tilehash reproduce` wrote there, and the files to
                                           record as MACHINE's: of a GPU those that a GPU measured
       check_results.py --uncited          lists the files that nothing cites
"""

import csv
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
MOST_BYTES = 2_000_000
DIGITS = 5
READERS = ("README.md", "docs/**/*.md", "python/README.md", "papers/*.json", "bench/plots/*.py", "scripts/check_bare.sh")
RELEASE = re.compile(r"\d+\.\d+\.\d+")
# What the header of a file has of the machine that its folder is named after.
MACHINES = {"cpu": "AMD EPYC", "xeon": "Intel", "h100": "H100", "h200": "H200"}
# Recorded before the rule, in trees with changes.
WITH_CHANGES = {"thesis_failed", "thesis_hashes", "thesis_multiplicity", "yardstick_one_thread_epyc", "yardstick_one_thread_epyc_2",
                "kmers_one_thread"}  # fmt: skip
NAME = re.compile(r"[\w./-]+\.(?:json|txt|csv)\b")


def short(value):
    if isinstance(value, float):
        value = float(f"{value:.{DIGITS}g}")
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return [short(one) for one in value] if isinstance(value, list) else value


def flat(row, outer=""):
    fields = {}
    for name, value in row.items():
        if isinstance(value, dict) and value:
            fields |= flat(value, f"{outer}{name}.")
        elif name != "runs":
            fields[outer + name] = short(value)
    return fields


def differ(value, other):
    return json.dumps(value) != json.dumps(other)  # 1, 1.0 and true are equal in Python


def in_columns(names, lines):
    """The names and the lines with equal columns in one, and the columns that change least from line to line first."""
    equal = {}
    for name, values in zip(names, zip(*lines)):
        equal.setdefault(json.dumps(values), []).append(name)
    columns = [(",".join(its), json.loads(values)) for values, its in equal.items()]
    columns.sort(key=lambda one: sum(map(differ, one[1], one[1][1:])))
    return [name for name, _ in columns], list(zip(*(values for _, values in columns))) or lines


def shortened(lines):
    """How many of a line's first values are those of the line before, then the others."""
    last = []
    for line in lines:
        known = next((i for i, pair in enumerate(zip(line, last)) if differ(*pair)), len(last))
        yield [known, *line[known:]]
        last = line


def packed(data):
    if isinstance(data, list):  # as older commits wrote it
        data = {"header": {}, "rows": data}
    if "columns" in data:
        return data
    rows, lines, columns = [flat(row) for row in data["rows"]], {}, []
    same = {name: value for name, value in rows[0].items() if all(name in r and r[name] == value for r in rows)}
    rows = [{name: value for name, value in row.items() if name not in same} for row in rows]
    for row in rows:
        lines.setdefault(tuple(row), []).append(list(row.values()))
    for names, its in lines.items():
        joined, its = in_columns(names, its)
        columns.append(joined)
        lines[names] = shortened(its)
    at = {names: number for number, names in enumerate(lines)}
    values = [[at[tuple(row)], *next(lines[tuple(row)])] for row in rows]
    return {"header": data["header"], "same": same, "columns": columns, "rows": values}


def text_of(data):
    def dump(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    head = ",\n".join(f'"{name}": {dump(data[name])}' for name in ("header", "same", "columns"))
    return "{" + head + ',\n"rows": [\n' + ",\n".join(map(dump, data["rows"])) + "\n]}\n"


def short_columns(text):
    """A text with one space between columns."""
    return "\n".join(re.sub(r"(?<=\S) {2,}", " ", line).rstrip() for line in text.split("\n"))


def short_profile(text):
    """ncu's CSV: the metrics with their units, a kernel when it comes first, and a launch as kernel, block, grid and values."""
    lines, kernels, launches = [], [], {}
    for line in text.splitlines():
        if not line.startswith('"'):
            lines.append(short_columns(line))
        elif not line.startswith('"ID"'):
            at, _, _, _, kernel, _, _, block, grid, _, _, _, metric, unit, value = next(csv.reader([line]))
            launches.setdefault((int(at), kernel, block, grid), {})[f"{metric} {unit}"] = value.replace(",", "")
    metrics = None
    for (_, kernel, block, grid), values in launches.items():
        if list(values) != metrics:
            metrics = list(values)
            lines.append(f"metrics: {', '.join(metrics)}")
        if kernel not in kernels:
            lines.append(f"kernel {len(kernels)}: {kernel}")
            kernels.append(kernel)
        lines.append(" ".join([str(kernels.index(kernel)), *(x.replace(" ", "") for x in (block, grid)), *values.values()]))
    return "\n".join(lines) + "\n"


PACKERS = {".csv": short_profile, ".txt": short_columns, ".json": lambda text: text_of(packed(json.loads(text)))}


def share(paths):
    """Replaces files by links: their runs, and so their rows, are those of a file before them."""
    first = {}
    for path in sorted(paths):
        runs = json.dumps(json.loads(path.read_text())["header"].get("runs"))
        if first.setdefault(runs, path) != path and runs != "null":
            path.unlink()
            path.symlink_to(first[runs].name)


def origin(machine, folder):
    """Version and commit of the files that `tilehash reproduce` wrote, and those that this machine measured."""
    headers = {path: json.loads(path.read_text()).get("header", {}) for path in sorted(folder.glob("*.json"))}
    headers = {path: header for path, header in headers.items() if "entry" in header}
    made = {f"{header['version']} {header['commit']}" for header in headers.values()}
    its = [str(path) for path, header in headers.items() if MACHINES[machine] in (header["gpu"] or header["machine"])]
    if len(made) != 1 or not its:
        sys.exit(f"error: {folder}: {len(its)} files of {machine}, made by {', '.join(sorted(made)) or 'nobody'}; one commit is needed")
    return [*made, *its]


def origin_faults(path, commits):
    """Of a JSON file: what is wrong with its machine and its commit. `commits`: of each release's folder, added to."""
    header, name = json.loads(path.read_text())["header"], path.relative_to(ROOT)
    if not header:  # the oldest have none
        return
    folder, commit = path.relative_to(RESULTS).parts[0], str(header.get("commit"))
    machine = header.get("gpu") or header.get("machine") or ""
    if folder not in MACHINES:
        yield f"{name}: {folder} is no machine of scripts/check_results.py"
    elif machine and MACHINES[folder] not in machine:
        yield f"{name}: measured on {machine}, so it belongs to another folder"
    if commit.endswith("-dirty") and path.stem not in WITH_CHANGES:
        yield f"{name}: of {commit}; measure it at a clean commit"
    if RELEASE.fullmatch(path.parent.name):
        commits.setdefault(path.parent, commit)
        if commit != commits[path.parent]:
            yield f"{name}: of {commit}, others of this release of {commits[path.parent]}"


def changed_since_added(folder):
    git = ["git", "-C", str(ROOT), "log", "--diff-filter=M", "--name-only", "--format=", "--", str(folder)]
    run = subprocess.run(git, capture_output=True, text=True)  # fails in a copy without .git, which has no changes
    return sorted(set(run.stdout.split()))


def uncited(files):
    names = {one for pattern in READERS for path in ROOT.glob(pattern) for one in NAME.findall(path.read_text())}
    ends = {name.rpartition("results/")[2].lstrip("./") for name in names}
    for path in files:
        parts = path.relative_to(RESULTS).parts
        if path.name == "README.md" or RELEASE.fullmatch(path.parent.name):
            continue
        if not any("/".join(parts[i:]) in ends for i in range(len(parts))):
            yield path


def main():
    if sys.argv[1:2] == ["--pack"]:
        for path in map(pathlib.Path, sys.argv[2:]):
            text = path.read_text()
            path.write_text(PACKERS[path.suffix](text))
        return 0
    if sys.argv[1:2] == ["--share"]:
        share(map(pathlib.Path, sys.argv[2:]))
        return 0
    if sys.argv[1:2] == ["--origin"]:
        print("\n".join(origin(sys.argv[2], pathlib.Path(sys.argv[3]))))
        return 0
    files = sorted(path for path in RESULTS.rglob("*") if path.is_file())
    left = [str(path.relative_to(ROOT)) for path in uncited(files)]
    if "--uncited" in sys.argv:
        print("\n".join(left))
        return 0
    wrong = [f"{name}: no page, entry of papers/ or script cites it" for name in left]
    releases = {}
    for path in files:
        text = path.read_text()
        if path.suffix in (".json", ".txt") and PACKERS[path.suffix](text) != text:
            wrong.append(f"{path.relative_to(ROOT)}: scripts/check_results.py --pack makes it smaller")
        wrong += origin_faults(path, releases) if path.suffix == ".json" else []
    for folder in releases:
        wrong += [f"{name}: a release's results stay as they are" for name in changed_since_added(folder)]
    size = sum(path.lstat().st_size for path in files)
    if size > MOST_BYTES:
        wrong.append(f"bench/results: {size} bytes, more than {MOST_BYTES}: move what no page needs to the archive")
    print("\n".join(wrong) if wrong else f"bench/results: {len(files)} files, {size / 1e6:.2f} of {MOST_BYTES / 1e6:.0f} MB")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
