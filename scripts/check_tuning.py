#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tuning numbers are in include/tilehash/space/tuning.hpp and nowhere else:

1. launch bounds, block sizes, occupancies and requests in flight have no literals, and other constants have none of 64 or more
   unless FACTS says why they are no tuning numbers. (Not looked at: core/ and papers/; constants named max_..., which bound a
   loop; hexadecimal literals; and the number of values of 16, 31 or 32 bits.)
2. a number that code reads through a space, a block or `here` is in the class of a CPU and in that of a GPU, and none is read
   from `common`, past the classes;
3. each number of tuning.hpp is read.

Prints one line per finding, `file:line: what`, and ends with 1 if there is any.

usage: check_tuning.py [INCLUDE_FOLDER]
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"
TUNING = "tilehash/space/tuning.hpp"
LEAST = 64  # smaller literals are mostly widths and factors
WIDTHS = {1 << 16, 1 << 31, 1 << 32}

# (header, constant) -> why it is no tuning number. One that is no longer needed is a finding.
BOUND = "bounds a loop"
FACTS = {
    ("tilehash/algorithm/join_groups.hpp", "most_steps"): BOUND,
    ("tilehash/several/processes.hpp", "usual_limit"): "milliseconds until a rank is given up",
    ("tilehash/several/nccl.cuh", "usual_limit"): "milliseconds until a rank is given up",
    ("tilehash/several/threads.hpp", "usual_limit"): "milliseconds until a rank is given up",
    ("tilehash/several/files.hpp", "readable_by_all"): "of the system",
    ("tilehash/several/files.hpp", "open_to_all"): "of the system",
    ("tilehash/several/mpi.hpp", "block"): "the bytes that a call of MPI counts",
    ("tilehash/several/traffic.hpp", "alignment"): "of a GPU's memory",
    ("tilehash/several/route_tiles.hpp", "most_bytes"): "of an item, so that a tile fits a block's scratch",
    ("tilehash/several/route_tiles.hpp", "at_once"): "items of a small array on the stack",
    ("tilehash/several/streamed.hpp", "usual_batch"): "the caller may choose another one",
    ("tilehash/several/windows.hpp", "unit"): "the alignment of parts",
    ("tilehash/several/windows.hpp", "slack"): "for parts of few items, whose standard deviation says little",
    ("tilehash/kernel/insert_at_once.hpp", "refused_bit"): "a field of a word",
    ("tilehash/kernel/insert_along_slots.hpp", "at_once"): "the bytes of a sector of a GPU's memory",
    ("tilehash/engine/multi_ranges.hpp", "most_blocks"): "blocks that each read the sums of all, before that costs more than a scan",
    ("tilehash/designs/dynamic_cuckoo.hpp", "preferred_width"): "the bytes of a bucket",
    ("tilehash/designs/dynamic_cuckoo/shape.hpp", "most_base"): "the steps between sizes of a subtable",
    ("tilehash/designs/open_addressing/probe.hpp", "largest_small_table"): "of the thesis",
    ("tilehash/designs/open_addressing/probe.hpp", "most_probes"): BOUND,
    ("tilehash/designs/open_addressing/probe.hpp", "most_growing_jumps"): "of the thesis",
    ("tilehash/designs/robin_hood/counters.hpp", "in_flight"): "a field of a word",
    ("tilehash/designs/robin_hood/homes.hpp", "least_in_groups"): "smaller tables have too few offsets to draw from",
    ("tilehash/designs/robin_hood/homes.hpp", "most_tries"): BOUND,
    ("tilehash/designs/robin_hood/homes.hpp", "most_draws"): BOUND,
    ("tilehash/designs/robin_hood/match.hpp", "most_steps"): BOUND,
    ("tilehash/designs/tiled/build.hpp", "most_slots"): "a number in 14 bits of a word",
    ("tilehash/designs/tiled/merge_region.hpp", "one"): "a field of a word",
    ("tilehash/engine/growth.hpp", "slots_without_growth"): "more slots do not part keys that collide under every seed",
    ("tilehash/engine/multi.hpp", "few_met"): "keys that fit a call's stack where there is no memory",
    ("tilehash/engine/multi_build.hpp", "most_steps"): BOUND,
    ("tilehash/engine/subtable_slots.hpp", "calls_at"): "an offset: the size of a cache line",
    ("tilehash/space/cuda.cuh", "alignment"): "that of cudaMalloc",
    ("tilehash/space/cuda_ranges.cuh", "version"): "of the driver's interface",
    ("tilehash/space/host_memory.hpp", "most_at_least"): "memory that is left to others, as documented",
    ("tilehash/space/host_memory.hpp", "host_alignment"): "a cache line",
    ("tilehash/space/host_memory.hpp", "huge_page"): "of the machine",
}

# These are tuning numbers whatever their value, unless they are 0 or 1.
ALWAYS = r"block_size|resident_blocks|(?:\w+_)?at_once|(?:\w+_)?ahead|grain"
SKIPPED = r"tilehash/(?:core|papers)/.*"
LINES = r"\b64\s*/\s*sizeof"  # slots of a bucket: those of a cache line
CONSTANT = re.compile(r"\bconstexpr\s+(?:u8|u16|u32|u64|int|double)\s+([^;{}()]*?=[^;{}]*?);")
LITERAL = re.compile(r"(?<![\w.'])([0-9][0-9']*)(?:[uU]?[lL]*)(?![\w.])")
SHIFT = re.compile(r"(?:(?<!\w)u(?:32|64)\()?\b(\d+)[uU]?[lL]*\)?\s*<<\s*(\d+)")
READS = re.compile(r"(?:\btuning::|\busing \w+ = tuning::)?\b(of<\w+>|of_block<\w+>|machine|here|gpu_here|gpu|cpu|common|table)::(\w+)")


def code_of(text):
    """Without comments and strings; lines keep their numbers."""
    return re.sub(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL
    )


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def largest_literal(expression):
    expression, largest = re.sub(LINES, " ", expression), 0
    for base, by in SHIFT.findall(expression):
        largest = max(largest, int(base) << int(by))
    for literal in LITERAL.findall(SHIFT.sub(" ", expression)):
        largest = max(largest, int(literal.replace("'", "")))
    return largest


def constants_with_literals(text):
    """(position, name, largest literal) for each name that a declaration gives a number."""
    for declaration in CONSTANT.finditer(text):
        for name, expression in re.findall(r"(\w+)(?:<[^=]*?>)?\s*=\s*((?:[^,<]|<(?!=)[^,]*?>|<<|\([^)]*\))*)", declaration[1]):
            yield declaration.start(), name, largest_literal(expression)


def classes_of(text):
    """The members of each struct of tuning.hpp, with those of its base."""
    classes = {}
    for name, base, body in re.findall(r"^struct (\w+)(?: : (\w+))? \{(.*?)\};", text, flags=re.MULTILINE | re.DOTALL):
        own, body = set(), re.sub(r"\s+", " ", body)
        for declared in re.findall(r"static (?:constexpr )?[\w ]+? (\w+(?:\([^)]*\))?(?: = [^;]*)?)[;{ ]", body):
            own |= set(re.findall(r"(?:^|, )(\w+)(?= =|\()", declared))
        classes[name] = own | classes.get(base, set())
    return classes


def reads_of(text):
    """(position, what it is read through, name) of each number that this code takes from tuning.hpp."""
    for use in READS.finditer(text):
        by, name = use[1].split("<")[0], use[2]
        if use[0].startswith("tuning::") or by == "machine" or (by == "table" and "using detail::tuning::table;" in text):
            yield use.start(), "of" if by in ("machine", "of_block") else by, name


def main(root):
    findings, used_facts, read = [], set(), set()
    classes = classes_of(code_of((root / TUNING).read_text()))
    must_have = {"of": ["cpu", "sm_90"], "here": ["cpu", "sm_90"], "gpu": ["sm_90"], "gpu_here": ["sm_90"]}
    for path in sorted(root.rglob("*.hpp")) + sorted(root.rglob("*.cuh")):
        header, text = path.relative_to(root).as_posix(), code_of(path.read_text())
        if header == TUNING:
            continue
        finding = lambda at, what: findings.append(f"include/{header}:{line_of(text, at)}: {what}")
        for at, name, largest in constants_with_literals(text):
            always = re.fullmatch(ALWAYS, name) and largest > 1
            if re.fullmatch(SKIPPED, header) or not (always or largest >= LEAST):
                continue
            if not always and (name.startswith("max_") or largest in WIDTHS):
                continue
            used_facts.add((header, name))
            if (header, name) not in FACTS:
                finding(at, f"{name} has the number {largest}: put it in {TUNING}, or say in FACTS why it is no tuning number")
        for bounds in re.finditer(r"__launch_bounds__\(((?:[^()]|\([^()]*\))*)\)", text):
            if largest_literal(bounds[1]) > 1:
                finding(bounds.start(), f"launch bounds with a number: take it from {TUNING}")
        for at, by, name in reads_of(text):
            read.add(name)
            if by == "common":
                finding(at, f"reads {name} of common, so that no class can differ: read it through of<Space>, of_block, gpu or here")
            for machine in must_have.get(by, [by]):
                if name not in classes[machine]:
                    finding(at, f"the class {machine} of {TUNING} has no {name}")
    members = set().union(*classes.values())
    findings += [f"include/{TUNING}:1: no header reads {name}" for name in sorted(members - read)]
    for header, name in sorted(set(FACTS) - used_facts):
        findings.append(f"scripts/check_tuning.py:1: FACTS has ({header}, {name}), which is not needed any more")
    print("\n".join(findings) if findings else f"{len(members)} tuning numbers, all of them in {TUNING}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
