#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks papers/*.json, the tables and figures of the documents as data (papers/schema.json describes the fields):

keys, types and words of the schema; unique ids; values in the shape of series and axes; a command that begins with
`tilehash `, or the reason why none exists; files that exist; states and counts of docs/measured/papers/audit.md, and
a reason for each of its items that is not done. Prints the number of entries by document and state, then one line per
fault, and ends with 1 if there is any.

usage: check_papers.py [--fix] [FILE...]      default: papers/*.json; --fix: puts the states and counts into audit.md
"""

import json
import pathlib
import re
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "papers" / "schema.json").read_text())
STATES = SCHEMA["$defs"]["entry"]["properties"]["state"]["enum"]
AUDIT = ROOT / "docs" / "measured" / "papers" / "audit.md"
AUDITED = ("done", "partial", "cannot be had")
ENTRY = r"`([a-z]+:[a-z]+[0-9.]*[a-z]?)`"
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int}


def is_type(value, name):
    if isinstance(value, bool) or value is None:
        return name == ("null" if value is None else "boolean")
    return isinstance(value, TYPES.get(name, ()))


def faults(value, schema, at):
    """Where a value breaks the schema, by the keywords that papers/schema.json uses."""
    if "$ref" in schema:
        yield from faults(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], at)
    if "anyOf" in schema:
        tries = [list(faults(value, one, at)) for one in schema["anyOf"]]
        if all(tries):
            yield from tries[-1]
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if kinds and not any(is_type(value, kind) for kind in kinds):
        yield f"{at}: {json.dumps(value)[:40]} is not of type {' or '.join(kinds)}"
        return
    allowed = [schema["const"]] if "const" in schema else schema.get("enum", [value])
    if value not in allowed:
        yield f"{at}: {json.dumps(value)[:40]} is none of {json.dumps(allowed)}"
    if isinstance(value, str):
        if not re.search(schema.get("pattern", ""), value):
            yield f"{at}: '{value[:40]}' does not match {schema['pattern']}"
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{at}: has no items"
        for i, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), f"{at}[{i}]")
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{at}: '{key}' is missing" for key in schema.get("required", []) if key not in value)
        for key, item in value.items():
            if key in known:
                yield from faults(item, known[key], f"{at}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{at}: '{key}' is unknown"
    elif is_type(value, "number") and value < schema.get("minimum", value):
        yield f"{at}: {value} is below {schema['minimum']}"


def misshapen(values, lengths, at):
    items, wanted = len(values) if isinstance(values, list) else 0, lengths[0] if lengths else 0
    if items != wanted:
        yield f"{at}: is a list of {items} items, not {wanted} (0 is a cell)"
    for i, part in enumerate(values if items == wanted != 0 else []):
        yield from misshapen(part, lengths[1:], f"{at}[{i}]")


def ours_faults(entry, at):
    """Places for all axes; conditions for each value of a series or an axis."""
    ours = entry["ours"]
    if len(ours["axes"]) != len(entry["axes"]):
        yield f"{at}: has places for {len(ours['axes'])} axes, not {len(entry['axes'])}"
        return
    wanted = [("series", ours.get("series", {"field": "design"}), len(entry["series"]))]
    wanted += [(a["name"], p, len(a["values"] or [])) for a, p in zip(entry["axes"], ours["axes"])]
    for name, place, length in wanted:
        if len(place) != 1 or len(place.get("cells", [None] * length)) != length:
            yield f"{at}: '{name}' needs a field or {length} cells"


def entry_faults(entry):
    at = entry["id"]
    yield from ours_faults(entry, f"{at}.ours") if "ours" in entry else ()
    if entry["values"] is None and entry["digitised"]:
        yield f"{at}: is digitised, but has no values"
    elif entry["values"] is not None:
        missing = [axis["name"] for axis in entry["axes"] if axis["values"] is None]
        yield from (f"{at}: has values, but axis '{name}' has none" for name in missing)
        if not missing:
            lengths = [len(entry["series"]), *(len(axis["values"]) for axis in entry["axes"])]
            yield from misshapen(entry["values"], lengths, f"{at}.values")
    has = entry["command"] is not None
    if has == ("no_command" in entry):
        yield f"{at}: either a command or no_command, not both"
    yield from (f"{at}: '{key}' needs a command" for key in ("full", "quick") if has != (entry[key] is not None))
    files = [*(entry["recorded"] or []), *([entry["prepare"]] if "prepare" in entry else [])]
    yield from (f"{at}: no file {name}" for name in files if not (ROOT / name).is_file())


def file_faults(path, data):
    found = list(faults(data, SCHEMA, path.stem))
    if found:  # the rest relies on the structure
        return found
    ids = Counter(entry["id"] for entry in data["entries"])
    found += [f"entries: id '{one}' comes {n} times" for one, n in ids.items() if n > 1]
    if data["document"]["key"] != path.stem or not (ROOT / data["document"]["page"]).is_file():
        found.append("document: its key is not the file's name, or its page does not exist")
    return found + [fault for one in data["entries"] for fault in entry_faults(one)]


def audited_state(line, states):
    """The state of an item of the audit by its entries; as the line says where it has none."""
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    its = [states.get(one) for one in re.findall(ENTRY, cells[2])]
    return "cannot be had" if "missing" in its else "partial" if "partial" in its else "done" if its else cells[1]


def audit_as_it_should_be(lines, states):
    """docs/measured/papers/audit.md with the states of its items by those of the entries, and its counts by its items."""
    name, counts = "", Counter()
    for i, line in enumerate(lines):
        name = line[3:] if line.startswith("## ") else name
        cells = line.strip("|").split("|")
        if len(cells) == 3 and cells[1].strip() in AUDITED:
            state = audited_state(line, states)
            lines[i] = f"|{cells[0]}| {state} |{cells[2]}|"
            counts.update([(name, state), ("all", state)])
    for i, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[1].isdigit():
            numbers = [counts[re.sub(r"\W.*", "", cells[0].strip("[")), state] for state in AUDITED]
            lines[i] = f"| {cells[0]} | " + " | ".join(map(str, [*numbers, sum(numbers)])) + " |"
    return lines


def audit_faults(states, fix):
    """Items whose state or count is another one, or that are not done without a reason."""
    text = AUDIT.read_text()
    new = audit_as_it_should_be(text.split("\n"), states)
    if fix:
        AUDIT.write_text("\n".join(new))
    for i, (old, right) in enumerate(zip(text.split("\n"), new)):
        where = f"audit.md:{i + 1}"
        yield from (f"{where}: no entry {one}" for one in re.findall(ENTRY, right) if right[:1] == "|" and one not in states)
        if old != right and not fix:
            yield f"{where}: should be '{right}' (--fix)"
        cells = right.strip("|").split("|")
        is_open = len(cells) == 3 and cells[1].strip() in AUDITED[1:]
        if is_open and len(re.sub(ENTRY, "", cells[2]).split()) < 5:
            yield f"{where}: no sentence says what cannot be had, and why"


def main():
    names = [name for name in sys.argv[1:] if name != "--fix"]
    paths = [pathlib.Path(name) for name in names] or sorted((ROOT / "papers").glob("*.json"))
    wrong, all_states, print_row = [], {}, "{:<12} {:>7} " + " {:>12}" * len(STATES)
    print(print_row.format("document", "entries", *STATES))
    for path in (p for p in paths if p.name != "schema.json"):
        try:
            data = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            wrong.append(f"{path.name}: {error}")
            continue
        found = file_faults(path, data)
        wrong += [f"{path.name}: {fault}" for fault in found]
        states = Counter() if found else Counter(entry["state"] for entry in data["entries"])
        all_states |= {} if found else {f"{path.stem}:{entry['id']}": entry["state"] for entry in data["entries"]}
        print(print_row.format(path.stem, sum(states.values()), *(states[s] for s in STATES)))
    wrong += audit_faults(all_states, "--fix" in sys.argv) if not names and not wrong else []
    print("\n".join(wrong) if wrong else "no faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
