# SPDX-License-Identifier: Apache-2.0
"""python -m tilehash.bench: this package beside pandas, polars, pyarrow, DuckDB and NumPy, on this machine.

usage: python -m tilehash.bench [--gpu] [--rows N] [--rounds N] [--threads N] [--out FILE]

All libraries take the same arrays. They run in turns, round after round, so that other work on the machine meets
all of them; the table has the median of each, in million rows a second, and the spread (fastest to slowest).
The processor time of all threads is compared, too: other work on the machine changes it less.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tilehash as th

Calls = dict[str, Callable[[], Any]]


def _libraries(threads: int) -> dict[str, Any]:
    os.environ.setdefault("POLARS_MAX_THREADS", str(threads))
    found: dict[str, Any] = {}
    for name in ("pandas", "polars", "pyarrow", "duckdb"):
        try:
            found[name] = __import__(name)
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    if "pyarrow" in found:
        found["pyarrow"].set_cpu_count(threads)
        import pyarrow.compute

        found["compute"] = pyarrow.compute
    return found


def _columns(libs: dict[str, Any], table: dict[str, Any], threads: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if "pandas" in libs:
        made["pandas"] = libs["pandas"].DataFrame(table)
    if "polars" in libs:
        made["polars"] = libs["polars"].DataFrame(table)
    if "pyarrow" in libs:
        made["pyarrow"] = libs["pyarrow"].table(table)
    if "duckdb" in libs and "pyarrow" in libs:
        connection = libs["duckdb"].connect(config={"threads": threads})
        connection.register("given", made["pyarrow"])
        connection.execute("create table t as select * from given")
        made["duckdb"] = connection
    return made


def _factorize(libs: dict[str, Any], k: Any, t: dict[str, Any]) -> Calls:
    calls: Calls = {"tilehash": lambda: th.factorize(k)}
    if "pandas" in libs:
        calls["pandas"] = lambda: libs["pandas"].factorize(k)
    if "polars" in libs:
        calls["polars"] = lambda: t["polars"]["k"].rank("dense")
    if "pyarrow" in libs:
        calls["pyarrow"] = lambda: t["pyarrow"]["k"].dictionary_encode()
    return calls


def _factorize_strings(libs: dict[str, Any], k: Any, t: dict[str, Any]) -> Calls:
    """Strings of 18 bytes: two words' digits."""
    if "pyarrow" not in libs:
        return {}
    digits = np.char.zfill((k.view(np.uint64) % np.uint64(10**18)).astype("U18"), 18).astype("S18")
    n = len(digits)
    ends = np.arange(0, 18 * (n + 1), 18, dtype=np.int64)
    strings = libs["pyarrow"].LargeStringArray.from_buffers(n, libs["pyarrow"].py_buffer(ends), libs["pyarrow"].py_buffer(digits.tobytes()))
    calls: Calls = {"tilehash": lambda: th.factorize(strings), "pyarrow": lambda: strings.dictionary_encode()}
    if "pandas" in libs:
        series = libs["pandas"].Series(strings, dtype=libs["pandas"].ArrowDtype(libs["pyarrow"].large_string()))
        calls["pandas"] = lambda: libs["pandas"].factorize(series)
    if "polars" in libs:
        of_polars = libs["polars"].Series(strings)
        calls["polars"] = lambda: of_polars.cast(libs["polars"].Categorical)
    return calls


def _unique(libs: dict[str, Any], k: Any, t: dict[str, Any]) -> Calls:
    calls: Calls = {"tilehash": lambda: th.unique(k), "numpy": lambda: np.unique(k)}
    if "pandas" in libs:
        calls["pandas"] = lambda: libs["pandas"].unique(k)
    if "polars" in libs:
        calls["polars"] = lambda: t["polars"]["k"].unique()
    if "pyarrow" in libs:
        calls["pyarrow"] = lambda: t["pyarrow"]["k"].unique()
    if "duckdb" in t:
        calls["duckdb"] = lambda: t["duckdb"].sql("select distinct k from t").to_arrow_table()
    return calls


def _isin(libs: dict[str, Any], k: Any, t: dict[str, Any]) -> Calls:
    wanted = np.unique(k[: len(k) // 8])
    calls: Calls = {"tilehash": lambda: th.isin(k, wanted), "numpy": lambda: np.isin(k, wanted)}
    if "pandas" in libs:
        calls["pandas"] = lambda: t["pandas"]["k"].isin(wanted)
    if "polars" in libs:
        series = libs["polars"].Series(wanted)
        calls["polars"] = lambda: t["polars"]["k"].is_in(series.implode())
    if "pyarrow" in libs:
        array = libs["pyarrow"].array(wanted)
        calls["pyarrow"] = lambda: libs["compute"].is_in(t["pyarrow"]["k"], array)
    return calls


def _value_counts(libs: dict[str, Any], k: Any, t: dict[str, Any]) -> Calls:
    calls: Calls = {"tilehash": lambda: th.value_counts(k)}
    if "pandas" in libs:
        calls["pandas"] = lambda: t["pandas"]["k"].value_counts(sort=False)
    if "polars" in libs:
        calls["polars"] = lambda: t["polars"]["k"].value_counts()
    if "pyarrow" in libs:
        calls["pyarrow"] = lambda: t["pyarrow"]["k"].value_counts()
    if "duckdb" in t:
        calls["duckdb"] = lambda: t["duckdb"].sql("select k, count(*) from t group by k").to_arrow_table()
    return calls


def _group_sum(libs: dict[str, Any], k: Any, t: dict[str, Any]) -> Calls:
    v = t["pandas"]["v"].to_numpy() if "pandas" in t else np.zeros(len(k))
    calls: Calls = {"tilehash": lambda: (lambda g: (g.keys, g.agg(s=(v, "sum"))))(th.group_by(k))}
    if "pandas" in libs:
        calls["pandas"] = lambda: t["pandas"].groupby("k", sort=False)["v"].sum()
    if "polars" in libs:
        calls["polars"] = lambda: t["polars"].group_by("k").agg(libs["polars"].col("v").sum())
    if "pyarrow" in libs:
        calls["pyarrow"] = lambda: t["pyarrow"].group_by("k").aggregate([("v", "sum")])
    if "duckdb" in t:
        calls["duckdb"] = lambda: t["duckdb"].sql("select k, sum(v) from t group by k").to_arrow_table()
    return calls


def _merge(libs: dict[str, Any], k: Any, t: dict[str, Any]) -> Calls:
    """A left row's key is in the right side once."""
    right = {"k": np.unique(k)[::-1].copy()}
    right["w"] = np.arange(len(right["k"]))
    sides = _columns({n: m for n, m in libs.items() if n != "duckdb"}, right, 1)
    calls: Calls = {"tilehash": lambda: th.join(k, right["k"])}
    if "pandas" in libs:
        calls["pandas"] = lambda: t["pandas"].merge(sides["pandas"], on="k")
    if "polars" in libs:
        calls["polars"] = lambda: t["polars"].join(sides["polars"], on="k")
    if "pyarrow" in libs:
        calls["pyarrow"] = lambda: t["pyarrow"].join(sides["pyarrow"], "k", join_type="inner")
    if "duckdb" in t:
        t["duckdb"].register("given_right", sides["pyarrow"])
        t["duckdb"].execute("create or replace table r as select * from given_right")
        calls["duckdb"] = lambda: t["duckdb"].sql("select k, v, w from t join r using (k)").to_arrow_table()
    return calls


_TASKS = {
    "factorize": _factorize,
    "factorize of strings": _factorize_strings,
    "unique": _unique,
    "isin": _isin,
    "value_counts": _value_counts,
    "group sum": _group_sum,
    "join": _merge,
}


def _measured(calls: Calls, rounds: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """The seconds of each call, and those of the processor on all threads."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    processor: dict[str, list[float]] = {name: [] for name in calls}
    for name, call in calls.items():
        call()  # once for memory and caches
    for _ in range(rounds):
        for name, call in calls.items():
            start, used = time.perf_counter(), time.process_time()
            result = call()
            seconds[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - used)
            del result
    return seconds, processor


def _times_the_best(times: dict[str, list[float]]) -> str:
    ours = statistics.median(times["tilehash"])
    return f"{min(statistics.median(s) for n, s in times.items() if n != 'tilehash') / ours:.2f}"


def main(arguments: list[str] | None = None) -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m tilehash.bench")
    parser.add_argument("--gpu", action="store_true", help="on a GPU, compared with torch")
    parser.add_argument("--rows", type=int, default=0, help="default: 2^22, and 2^26 on a GPU")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
    how = parser.parse_args(arguments)
    if how.gpu:
        from ._bench_gpu import run

        run(how.rows or 1 << 26, how.rounds, how.out)
        return
    how.rows = how.rows or 1 << 22
    th.set_threads(how.threads)
    libs = _libraries(how.threads)
    versions = ", ".join(f"{n} {m.__version__}" for n, m in libs.items() if n != "compute")
    print(f"# {platform.machine()}, {how.threads} threads; {how.rows} rows; numpy {np.__version__}, {versions}", file=how.out)
    print("# million rows a second: the median, and the fastest and slowest of", how.rounds, file=how.out)
    rng = np.random.default_rng(1)
    for distinct in (1 << 10, 1 << 16, how.rows // 4):
        k = (rng.integers(0, distinct, how.rows).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)
        table = _columns(libs, {"k": k, "v": rng.random(how.rows)}, how.threads)
        for task, make in _TASKS.items():
            calls = make(libs, k, table)
            if not calls:
                continue
            seconds, processor = _measured(calls, how.rounds)
            rates = {n: [how.rows / s / 1e6 for s in all_s] for n, all_s in seconds.items()}
            ratio = ""
            if len(rates) > 1:
                ratio = f"  times the best: {_times_the_best(seconds)}, in processor time {_times_the_best(processor)}"
            each = "  ".join(f"{n} {statistics.median(r):.1f} ({max(r):.1f} to {min(r):.1f})" for n, r in rates.items())
            print(f"{task}{'' if 'strings' in task else ', int64'}, {distinct} distinct: {each}{ratio}", file=how.out, flush=True)


if __name__ == "__main__":
    main()
