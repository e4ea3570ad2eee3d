#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks tables of docs/ against the results that they quote.

A table has results if a comment is above it, on a line of its own:

  <!-- cells: {"file": "h200/x.json", "rows": [...], "columns": [...], "values": [...]} -->

`file`: under bench/results. `where`, and the items of `rows` and `columns`: conditions on a result row, field and value;
one item of `rows` a line of the table, of `columns` a column after the first; null where the cells are not from the file.
`values`: the fields of the numbers of a cell, in their order, as a path (seconds.build.median) or as conditions with a
path under "value" (those of the line come first). `scale`: a factor. `only`: which numbers of a cell are ours, counted from
0; all if absent. A line or a column may have its own "values", "file", "only" and "scale".
A number is right if it is the field's, rounded to the digits that the page has.

usage: check_pages.py [--fix] [PAGE...]     --fix: puts the right numbers in; default: docs/**/*.md
"""

import functools
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "plots"))
from results import unpacked  # noqa: E402

MARK = re.compile(r"^<!-- cells: (\{.*\}) -->$")
# In bold too, but not in italics.
NUMBER = re.compile(r"(?<![\w.^])(?:(?<!\*)|(?<=\*\*))\d+(?:\.(\d+))?(?:e(-?\d+))?(?![\w^])(?!\*(?!\*))")


@functools.cache
def rows_of(name):
    data = json.loads((ROOT / "bench" / "results" / name).read_text())
    return unpacked(data) if isinstance(data, dict) else data


def field(row, path):
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else row[int(name)] if isinstance(row, list) else None
    return row


def meets(row, conditions):
    def same(value, wanted):
        if isinstance(value, float) or isinstance(wanted, float):
            return isinstance(value, (int, float)) and abs(value - wanted) <= 2e-2 * abs(wanted)
        return value == wanted

    return all(same(field(row, name), wanted) for name, wanted in conditions.items())


def value_of(rows, conditions, value):
    conditions = dict(conditions)
    if isinstance(value, dict):
        conditions = {k: v for k, v in value.items() if k != "value"} | conditions
        value = value["value"]
    found = [row for row in rows if meets(row, conditions)]
    wanted = {name: one for name, one in conditions.items() if isinstance(one, float)}
    near = [sum(abs(field(row, name) - one) for name, one in wanted.items()) for row in found]
    return field(found[near.index(min(near))], value) if found else None


def rounded(number, like):
    """The number with the digits of a match of NUMBER."""
    if like[2] is None:
        return f"{number:.{len(like[1] or '')}f}"
    digits, _, exponent = f"{number:.{len(like[1] or '')}e}".partition("e")
    return f"{digits}e{int(exponent)}"


class Table:
    def __init__(self, spec):
        self.spec, self.line = spec, 0

    def cell(self, text, line, column):
        """The text with the right numbers, and what was wrong."""
        spec = self.spec
        if spec["rows"][line] is None or spec["columns"][column] is None or not text.strip():
            return text, []
        conditions = spec.get("where", {}) | spec["rows"][line] | spec["columns"][column]
        values, file, only, scale = (conditions.pop(name, spec.get(name)) for name in ("values", "file", "only", "scale"))
        scale = scale or 1
        wrong, new, numbers = [], text, list(NUMBER.finditer(text))
        ours = [numbers[i] for i in only or range(len(numbers)) if i < len(numbers)]
        for at, value in reversed(list(zip(ours, values))):
            got = value_of(rows_of(file), conditions, value)
            digits = len(at[1] or "") - int(at[2] or 0)
            if got is None or abs(float(at[0]) - got * scale) > 0.5001 * 10**-digits:
                right = "nothing" if got is None else rounded(got * scale, at)
                wrong.append(f"{at[0]}, {file} has {right}")
                new = new[: at.start()] + right + new[at.end() :] if got is not None else new
        return new, wrong


def check(path, fix):
    lines, table, found, cells = path.read_text().split("\n"), None, [], 0
    for i, line in enumerate(lines):
        if mark := MARK.match(line):
            table = Table(json.loads(mark[1]))
        elif table and line.startswith("|") and not lines[i - 1].startswith("|--") and not line.startswith("|--"):
            if not lines[i - 1].startswith("|"):
                continue  # the head
        if not table or not line.startswith("|") or line.startswith("|--") or not lines[i - 1].startswith("|"):
            table = None if table and table.line and not line.startswith("|") else table
            continue
        parts = line.split("|")
        for column in range(len(table.spec["columns"])):
            parts[column + 2], wrong = table.cell(parts[column + 2], table.line, column)
            cells += None not in (table.spec["rows"][table.line], table.spec["columns"][column])
            found += [f"{path.relative_to(ROOT)}:{i + 1}: column {column + 2}: {one}" for one in wrong]
        table.line += 1
        lines[i] = "|".join(parts)
    if fix:
        path.write_text("\n".join(lines))
    return cells, found


def main():
    fix = "--fix" in sys.argv[1:]
    names = [name for name in sys.argv[1:] if name != "--fix"]
    pages = [pathlib.Path(name).resolve() for name in names] or sorted((ROOT / "docs").rglob("*.md"))
    results = [check(page, fix) for page in pages]
    wrong = [one for _, found in results for one in found]
    print("\n".join(wrong) if wrong else f"{sum(cells for cells, _ in results)} cells of tables are as recorded")
    return 1 if wrong and not fix else 0


if __name__ == "__main__":
    sys.exit(main())
