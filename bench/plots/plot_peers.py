#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/measured/peers_gpu.svg and peers_cpu.svg: tilehash and other libraries, from recorded runs.

usage: plot_peers.py [FOLDER]      default: docs/measured. Needs no matplotlib.
"""

import pathlib
import re
import sys

import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU_RUN = "bench/results/h200/gpu_peers.txt"  # of tilehash_gpu_peers
GPU_NAMES = {"tilehash::map": "tilehash::map", "BGHT bcht": "BGHT", "CUB radix sort": "CUB's sort of the pairs"}
OPS = [("insert", "insert"), ("find_hit", "find, present"), ("find_miss", "find, absent"), ("find_mix", "find, half present"), ("erase", "erase")]
STYLE = """<style>text{font:13px system-ui,sans-serif;fill:#222}.t{font-weight:600}.n{font-size:11px;fill:#555}
.b0{fill:#0072b2}.b1{fill:#b0b0b0}.b2{fill:#d9a441}
@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.n{fill:#aaa}.b0{fill:#56b4e9}.b1{fill:#8a8a8a}}</style>"""


def of_gpu(n, load):
    """(label, [a rate or None for each of GPU_NAMES]) of the rows in which another library takes part, in billion items a second."""
    rows, ours = {}, False
    for line in (ROOT / GPU_RUN).read_text().splitlines():
        if head := re.search(r", (\d+) pairs of 32 \+ 32 bits, load factor ([\d.]+);", line):
            ours = (int(head[1]), float(head[2])) == (n, load)
        elif ours and (row := re.match(r"(\w.*), \d+ items$", line)):
            label = row[1].replace(" into an", ",").replace("insert the", "insert,")
            rates = rows[label] = {}
        elif ours and (rate := re.match(r"  (\S.*?) +([\d.]+) \(", line)):
            rates[rate[1]] = float(rate[2])
    return ((label, [rates.get(name) for name in GPU_NAMES]) for label, rates in rows.items() if len(rates) > 1)


def of_cpu(names, n):
    _, rows = results.read_file(ROOT / "bench/results/cpu/yardstick_one_thread_epyc.json")
    rate = {(r["design"], r["op"]): r["mitems_per_s"] for r in rows if r["n"] == n}
    for op, label in OPS:
        yield label, [rate[name, op] for name in names]


def draw(path, title, unit, names, groups):
    groups, bar, left, wide = list(groups), 13, 150, 700
    most, y, out = max(x for _, v in groups for x in v if x), 66, []
    for label, values in groups:
        present = [(i, value) for i, value in enumerate(values) if value]
        out.append(f'<text x="{left - 8}" y="{y + bar * len(present) / 2 + 4:.0f}" text-anchor="end">{label}</text>')
        for i, value in present:
            width = (wide - left - 50) * value / most
            out.append(f'<rect class="b{i}" x="{left}" y="{y}" width="{width:.1f}" height="{bar - 2}"/>')
            out.append(f'<text class="n" x="{left + width + 5:.0f}" y="{y + bar - 3}">{value:.1f}</text>')
            y += bar
        y += 9
    keys = [f'<rect class="b{i}" x="{left + 190 * i}" y="38" width="12" height="12"/>' f'<text x="{left + 18 + 190 * i}" y="49">{name}</text>'
            for i, name in enumerate(names)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {y}" role="img" aria-label="{title}">{STYLE}'
    text = f'<text class="t" x="4" y="20">{title}</text><text class="n" x="{wide - 4}" y="20" text-anchor="end">{unit}</text>'
    path.write_text("\n".join([head, text, *keys, *out, "</svg>"]) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "measured"
    draw(folder / "peers_gpu.svg", "One NVIDIA H200, 2^26 pairs of 32 + 32 bits, load 0.8", "billion items/s",
         list(GPU_NAMES.values()), of_gpu(1 << 26, 0.8))
    names = ["tiled", "boost::unordered_flat_map", "absl::flat_hash_map"]
    for n, name in ((1 << 22, "peers_cpu.svg"), (1 << 16, "peers_cpu_in_cache.svg")):
        draw(folder / name, f"One thread of an AMD EPYC, 2^{n.bit_length() - 1} pairs of 32 + 32 bits", "million items/s",
             ["tilehash::map", *names[1:]], of_cpu(names, n))


if __name__ == "__main__":
    main()
