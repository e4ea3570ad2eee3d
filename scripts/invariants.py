#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows which test catches each of the small wrong changes in tests/invariants.txt.

All changes are compiled in at once, each behind its number: the environment's TILEHASH_WRONG chooses one, and 0 or nothing
none. So the tests are built once, from a copy of the tree with the changes, and run once for every change.

usage: scripts/invariants.py [--check | --list] [--only 3,7-12] [--tests PATTERN] [--jobs N] [--seconds N] [--compiler C]
  --check     finds entries whose lines their file no longer has exactly once, and ends
  --list      prints the changes and ends
  --only      runs those numbers alone
  --tests     runs the tests alone of which "PRESET TARGET" matches this regular expression
  --jobs      compilers, and tests, that run concurrently (default: one for each core)
  --seconds   limit for one test under one change (default: 120, at least five times what it takes without one); a test that
              does not end in time has caught it
  --compiler  compiles the presets cpu and asan (default: clang++-16)
Exit code 1 where a change is caught by no test, or where a test fails without any change.

An entry of tests/invariants.txt:

    [7] designs/tiled/merge.hpp
    a merge forgets the overflow bit of a key that it moved
    tests: cpu contract_tiled_cpu *merge*; asan emulated_tiled *
    < mark_overflow(bucket, tag);
    > if (!WRONG) mark_overflow(bucket, tag);

The lines after `<` are text of the file, which has it exactly once; those after `>` take their place. WRONG is true where this
change is chosen. A test is a preset, a target of that preset and a filter of GoogleTest's; the first that fails has caught it.
It has the sizes of the tier quick; where none fails, the sizes of full.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / "tests/invariants.txt"
BUILD = ROOT / "build/invariants"
TREE = BUILD / "tree"
SELECTOR = """
#pragma once
#include <cstdlib>
#include <exception>
#include <type_traits>
inline const int tilehash_wrong_number = [] {
  const char* number = std::getenv("TILEHASH_WRONG");
  return number == nullptr ? 0 : std::atoi(number);
}();
constexpr bool tilehash_wrong(int number) {
  if (std::is_constant_evaluated()) return false;
  return tilehash_wrong_number == number;
}
"""


class Change:
    def __init__(self, number, file, line):
        self.number, self.file, self.line = number, file, line
        self.title, self.tests, self.before, self.after = "", [], [], []


def read_changes(text):
    changes = []
    for at, line in enumerate(text.splitlines(), 1):
        head = re.fullmatch(r"\[(\d+)\] (\S+)", line)
        if head:
            changes.append(Change(int(head[1]), head[2], at))
        elif line.startswith("#") or not line.strip():
            continue
        elif not changes:
            sys.exit(f"error: {LIST}:{at}: text before the first entry")
        elif line.startswith("tests: "):
            for test in line.removeprefix("tests: ").split(";"):
                words = test.split()
                if len(words) != 3:
                    sys.exit(f"error: {LIST}:{at}: a test is PRESET TARGET FILTER, not '{test.strip()}'")
                changes[-1].tests.append(tuple(words))
        elif line.startswith("<"):
            changes[-1].before.append(line[2:])
        elif line.startswith(">"):
            changes[-1].after.append(line[2:])
        else:
            changes[-1].title = (changes[-1].title + " " + line.strip()).strip()
    numbers = [c.number for c in changes]
    for c in changes:
        if numbers.count(c.number) != 1 or not (c.title and c.tests and c.before and c.after):
            sys.exit(f"error: {LIST}:{c.line}: entry {c.number} lacks a part, or its number comes twice")
    return changes


def apply(change, tree=None, texts=None):
    """None, or why the change does not apply to the copy; with `texts` (by file) only these change."""
    file = (tree or TREE) / "include/tilehash" / change.file
    if not file.exists():
        return f"no file {change.file}"
    text = file.read_text() if texts is None else texts.setdefault(file, file.read_text())
    # Indentation may differ: lines are compared without it.
    pattern = r"\s*\n\s*".join(re.escape(line.strip()) for line in change.before)
    found = re.findall(pattern, text)
    if len(found) != 1:
        return f"{change.file} has its text {len(found)} times, not once"
    after = "\n".join(change.after).replace("WRONG", f"::tilehash_wrong({change.number})")
    text = re.sub(pattern, lambda _: after, text, count=1)
    if '"tilehash_wrong.hpp"' not in text:
        text = text.replace("#pragma once\n", '#pragma once\n#include "tilehash_wrong.hpp"\n', 1)
    if texts is None:
        file.write_text(text)
    else:
        texts[file] = text
    return None


def check(changes):
    texts = {}
    problems = [(c, why) for c in changes if (why := apply(c, ROOT, texts))]
    for c, why in problems:
        print(f"{LIST.relative_to(ROOT)}:{c.line}: change {c.number}: {why}")
    return 1 if problems else 0


def make_tree(changes):
    # Only files that differ are written anew, so that a second run compiles what has changed.
    fresh = BUILD / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    global TREE
    kept, TREE = TREE, fresh
    for name in filter(None, map(os.fsdecode, names)):
        if name.startswith("bench/results/") or not (ROOT / name).is_file():
            continue
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, fresh / name)
    (fresh / "include/tilehash_wrong.hpp").write_text(SELECTOR)
    problems = [(c, why) for c in changes if (why := apply(c))]
    TREE = kept
    for c, why in problems:
        print(f"error: {LIST}:{c.line}: change {c.number}: {why}", file=sys.stderr)
    if problems:
        sys.exit(1)
    for file in fresh.rglob("*"):
        if file.is_file():
            target = kept / file.relative_to(fresh)
            if not target.exists() or target.read_bytes() != file.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
    shutil.rmtree(fresh)


def build(tests, jobs, compiler):
    for preset in sorted({t[0] for t in tests}):
        targets = sorted({t[1] for t in tests if t[0] == preset})
        options = [f"-DCMAKE_CXX_COMPILER={compiler}"] if preset in ("cpu", "asan") else []
        options += [f"-DTILEHASH_{part}=OFF" for part in ("BUILD_CLI", "BUILD_BENCH", "BUILD_EXAMPLES", "CUDA", "WERROR")]
        print(f"== building {preset}: {', '.join(targets)}", flush=True)
        subprocess.run(["cmake", "--preset", preset, *options], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", f"build/{preset}", "--parallel", str(jobs), "--target", *targets],
                       cwd=TREE, check=True)  # fmt: skip


def environments(presets):
    """What ctest sets for each test of a preset: sizes, and options of sanitizers."""
    found = {}
    for preset in presets:
        listed = subprocess.run(["ctest", "--test-dir", f"build/{preset}", "--show-only=json-v1"],
                                cwd=TREE, check=True, stdout=subprocess.PIPE)  # fmt: skip
        for test in json.loads(listed.stdout)["tests"]:
            for entry in test.get("properties", []):
                if entry["name"] == "ENVIRONMENT":
                    found[preset, test["name"]] = dict(setting.split("=", 1) for setting in entry["value"])
    return found


def fails(test, number, seconds, environment, sizes=None):
    """None, or how the test fails; `sizes` replaces what ctest sets (TILEHASH_SIZES)."""
    preset, target, filter_ = test
    program = TREE / "build" / preset / "bin" / target
    settings = {**os.environ, "TILEHASH_SIZES": "small", **environment.get((preset, target), {}), "TILEHASH_WRONG": str(number)}
    if sizes is not None:
        settings["TILEHASH_SIZES"] = sizes
    try:
        done = subprocess.run([program, f"--gtest_filter={filter_}", "--gtest_fail_fast"], env=settings, timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", text=True)  # fmt: skip
    except subprocess.TimeoutExpired:
        return "does not end"
    if number == 0 and "Running 0 tests" in done.stdout:
        return "runs no test"
    if done.returncode == 0:
        return None
    named = re.search(r"^\[  FAILED  \] (\S+)|^\[ RUN      \] (\S+)(?!.*^\[ RUN)", done.stdout, re.M | re.S)
    return (named[1] or named[2]).rstrip(",") if named else f"ends with {done.returncode}"


def chosen(changes, only):
    if not only:
        return changes
    numbers = set()
    for part in only.split(","):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return [c for c in changes if c.number in numbers]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--tests", default="")
    arguments.add_argument("--compiler", default="clang++-16")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--seconds", type=float, default=120)
    given = arguments.parse_args()
    if given.check:
        return check(read_changes(LIST.read_text()))
    changes = chosen(read_changes(LIST.read_text()), given.only)
    if given.list:
        for c in changes:
            print(f"{c.number:3} {c.file}: {c.title}")
        return 0
    for c in changes:
        c.tests = [t for t in c.tests if re.search(given.tests, f"{t[0]} {t[1]}")]
    changes = [c for c in changes if c.tests]
    if not changes:
        sys.exit("error: no change has such a number and such a test")
    make_tree(read_changes(LIST.read_text()))
    tests = sorted({t for c in changes for t in c.tests})
    build(tests, given.jobs, given.compiler)
    environment = environments({t[0] for t in tests})
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        limits = {}

        def unchanged(test):
            start = time.monotonic()
            why = fails(test, 0, 10 * given.seconds, environment)
            limits[test] = max(given.seconds, 5 * (time.monotonic() - start))
            return why

        broken = [(t, why) for t, why in zip(tests, pool.map(unchanged, tests)) if why]
        for test, why in broken:
            print(f"error: {' '.join(test)} fails without any change: {why}")
        if broken:
            return 1

        def catcher(change):
            for test in change.tests:
                if why := fails(test, change.number, limits[test], environment):
                    return f"{test[1]}: {why}"
            for test in change.tests:  # a quick run has small sizes, a full one those
                if why := fails(test, change.number, 5 * limits[test], environment, "usual"):
                    return f"{test[1]} with the usual sizes: {why}"
            return None

        survivors = 0
        for change, caught in zip(changes, pool.map(catcher, changes)):
            survivors += caught is None
            print(f"{change.number:3} {'caught by ' + caught if caught else 'NOT CAUGHT'}: {change.title}", flush=True)
    print(f"{len(changes) - survivors} passed, {survivors} failed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
