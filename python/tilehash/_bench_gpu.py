# SPDX-License-Identifier: Apache-2.0
"""python -m tilehash.bench --gpu: calls on a GPU, compared with those of torch, on random keys in its memory."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import tilehash as th

Call = Callable[[], Any]


def _rates(torch: Any, n: int, call: Call, rounds: int) -> list[float]:
    call()  # once for memory
    rates = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = call()
        torch.cuda.synchronize()
        rates.append(n / (time.perf_counter() - start) / 1e9)
        del result
    return rates


def _sums_by_torch(torch: Any, k: Any, v: Any) -> Any:
    values, inverse = torch.unique(k, return_inverse=True)
    return torch.zeros(len(values), device="cuda", dtype=torch.float64).index_add_(0, inverse, v)


def _tasks(torch: Any, k: Any, wanted: Any) -> dict[str, tuple[Call, Call]]:
    v = torch.rand(len(k), device="cuda", dtype=torch.float64)
    return {
        "factorize": (lambda: th.factorize(k), lambda: torch.unique(k, return_inverse=True)),
        "unique": (lambda: th.unique(k), lambda: torch.unique(k)),
        "isin": (lambda: th.isin(k, wanted), lambda: torch.isin(k, wanted)),
        "group_by and a sum": (lambda: th.group_by(k).sum(v), lambda: _sums_by_torch(torch, k, v)),
        "value_counts": (lambda: th.value_counts(k), lambda: torch.unique(k, return_counts=True)),
    }


def _small_calls(torch: Any, out: Any) -> None:
    keys = torch.arange(1 << 20, device="cuda")
    m, q = th.Map(keys, keys), keys[:1000].clone()
    for _ in range(100):
        m.find(q)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(1000):
        m.find(q)
    print(f"Map.find of 1000 keys: {(time.perf_counter() - start) * 1e3:.1f} us a call", file=out)
    torch.cuda.synchronize()


def run(rows: int, rounds: int, out: Any) -> None:
    """Prints the table. Needs torch."""
    torch = importlib.import_module("torch")
    print(f"# {torch.cuda.get_device_name()}, torch {torch.__version__}; {rows} rows", file=out)
    print(f"# 10^9 rows a second: the median, and the fastest and slowest of {rounds}", file=out)
    for bits in (32, 64):
        for distinct, dense in ((rows // 4, False), (1 << 16, False), (1 << 16, True)):
            k = torch.randint(0, distinct, (rows,), device="cuda", dtype=torch.int64)
            if dense:
                k = k.to(torch.int32 if bits == 32 else torch.int64)
            elif bits == 32:
                k = (k * 2654435761 % (1 << 32) - (1 << 31)).to(torch.int32)
            else:
                k *= 0x9E3779B97F4A7C15 - (1 << 64)
            wanted = k[: rows // 8].clone() if distinct > 1 << 16 else torch.unique(k)
            for task, calls in _tasks(torch, k, wanted).items():
                ours, theirs = (_rates(torch, rows, call, rounds) for call in calls)
                each = "  ".join(
                    f"{name} {statistics.median(r):.1f} ({max(r):.1f} to {min(r):.1f})"
                    for name, r in (("tilehash", ours), ("torch", theirs))
                )
                ratio = statistics.median(ours) / statistics.median(theirs)
                kind = f"{distinct} distinct" + (" in a range" if dense else "")
                print(f"{task}, int{bits}, {kind}: {each}  times torch: {ratio:.2f}", file=out, flush=True)
    _small_calls(torch, out)


__all__ = ["run"]
