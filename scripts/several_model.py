#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts the rates of a table over several GPUs (tilehash::several), and writes them to docs/measured/several.md.

Within a host, GPUs write into each other's windows. Between hosts, items are counted, sorted by owner and copied, in steps that do not
overlap. The time of an item, in ns, of G GPUs, of which g share a host:

  windows  lookup   max(1/P, link(4)) + max(1/L, link(4)) + 1/B + overhead
           build    max(1/Q, link(8)) + 1/D + overhead
  copies   lookup   1/C + 1/P + link(4) + 1/L + link(4) + 1/B + overhead
           build    1/C + 1/Q + link(8) + 1/D + overhead

  link(b)  the longer of the bytes to GPUs of the same host over V and the bytes to other hosts over I
  overhead the steps that synchronize with the host, over the items of a GPU

usage: several_model.py [--fix | --check] [NAME=VALUE ...]     prints the tables; --fix writes them to the page
"""

import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "measured" / "several.md"
BEGIN, END = "<!-- several_model.py begin -->\n", "<!-- several_model.py end -->\n"

# name: (value, unit, meaning)
PARAMETERS = {
    "C": (618.0, "G/s", "count the keys of each owner (4 bytes a key)"),
    "P": (240.0, "G/s", "write the keys in the order of their owners"),
    "Q": (193.0, "G/s", "write keys and values in the order of their owners"),
    "L": (36.6, "G/s", "look keys up in the GPU's own table"),
    "D": (41.5, "G/s", "build the GPU's own table"),
    "B": (200.0, "G/s", "return answers to the order of the keys"),
    "V": (364.0, "GB/s", "NVLink, one direction, all GPUs at once"),
    "I": (47.0, "GB/s", "InfiniBand of 400 Gb/s a GPU, one direction (estimated)"),
    "sync": (35.0, "us", "a step that synchronizes with the host (estimated)"),
    "steps": (5.0, "", "such steps of a call that copies"),
    "waits": (2.0, "", "such steps of a call through windows"),
    "N": (2.0**26, "", "items of a GPU"),
}
SETUPS = [(1, 1), (2, 2), (4, 4), (8, 8), (64, 8), (1024, 8)]  # GPUs, GPUs of a host


def link(p, gpus, host, size):
    """ns an item for `size` bytes."""
    near, far = (host - 1) / gpus, (gpus - host) / gpus
    return max(size * near / p["V"], size * far / p["I"])


def terms(p, gpus, host, what):
    windows, alone = gpus == host, gpus == 1
    rest = 0 if alone else p["waits" if windows else "steps"] * p["sync"] * 1e3 / p["N"]
    rate, size, table = (p["P"], 4, p["L"]) if what == "lookup" else (p["Q"], 8, p["D"])
    near, back = link(p, gpus, host, size), what == "lookup" and not alone
    if alone:
        return {"table": 1 / table, "link": 0, "routing": 0, "host": 0}
    if windows:  # the links' time is hidden, except what the kernels wait for
        hidden = max(0, near - 1 / rate) + (max(0, near - 1 / table) if back else 0)
        return {"table": 1 / table, "link": hidden, "routing": 1 / rate + back / p["B"], "host": rest}
    return {"table": 1 / table, "link": (1 + back) * near, "routing": 1 / p["C"] + 1 / rate + back / p["B"], "host": rest}


def tables(p):
    out = ["| parameter | value | meaning |", "|---|---|---|"]
    out += [f"| {k} | {v[0]:g} {v[1]} | {v[2]} |".replace("  ", " ") for k, v in PARAMETERS.items() if k != "N"]
    out += ["", "| GPUs | GPUs of a host | lookups, G/s a GPU | of all | most time | builds, G/s a GPU | of all | most time |"]
    out += ["|---|---|---|---|---|---|---|---|"]
    for gpus, host in SETUPS:
        cells = [str(gpus), str(host)]
        for what in ("lookup", "build"):
            t = terms(p, gpus, host, what)
            rate, most = 1 / sum(t.values()), max(t, key=t.get)
            cells += [f"{rate:.1f}", f"{gpus * rate:.0f}", f"{most}, {100 * t[most] * rate:.0f} %"]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def main():
    p = {k: v[0] for k, v in PARAMETERS.items()}
    for argument in sys.argv[1:]:
        name, equals, value = argument.partition("=")
        if equals and name in p:
            p[name] = float(value)
        elif argument not in ("--fix", "--check"):
            sys.exit(f"{__doc__}\nunknown: {argument}")
    text = tables(p)
    if not {"--fix", "--check"} & set(sys.argv[1:]):
        print(text, end="")
        return
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = before + BEGIN + "\n" + text + "\n" + END + after
    if "--fix" in sys.argv:
        PAGE.write_text(new)
    elif new != page:
        sys.exit("docs/measured/several.md differs from the model: scripts/several_model.py --fix")


if __name__ == "__main__":
    main()
