# SPDX-License-Identifier: Apache-2.0
"""merge, group_by and drop_duplicates of Dask DataFrames: partitions by tilehash, the shuffle by Dask.

Rows of equal keys come into one partition by a shuffle, and tilehash works on each partition. What can be combined first
is combined in the partitions before the shuffle.
"""

from __future__ import annotations

import sys
from typing import Any

from ._frames import How
from ._frames import merge as merge_frames
from ._groups import group_by as group_rows

# A reduction by the reductions of partitions, and the one that combines each.
_COMBINED = {
    "sum": [("sum", "sum")],
    "count": [("count", "sum")],
    "size": [("size", "sum")],
    "min": [("min", "min")],
    "max": [("max", "max")],
    "any": [("any", "any")],
    "all": [("all", "all")],
    "mean": [("sum", "sum"), ("count", "sum")],
}
_WHOLE = ("var", "std", "nunique", "median", "quantile")  # need all rows of a group at once


def is_dask_frame(x: Any) -> bool:
    """Is it a Dask DataFrame?"""
    library = sys.modules.get("dask.dataframe")
    return library is not None and isinstance(x, library.DataFrame)


def _require(frame: Any, names: list[str]) -> None:
    if not is_dask_frame(frame):
        raise TypeError(f"tilehash: this call takes Dask DataFrames, not {type(frame).__name__}")
    for name in names:
        if name not in frame.columns:
            raise KeyError(name)


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _applied(f: Any, *frames: Any, **arguments: Any) -> Any:
    """f(partitions, **arguments) for the partitions of equal numbers."""
    import dask.dataframe as dd

    meta = f(*(frame._meta for frame in frames), **arguments)
    return dd.map_partitions(f, *frames, meta=meta, align_dataframes=False, **arguments)


# ---- merge ----


def merge(
    left: Any,
    right: Any,
    *,
    on: str | list[str],
    how: How = "inner",
    suffixes: tuple[str, str] = ("_x", "_y"),
    partitions: int | None = None,
) -> Any:
    """Joins two Dask DataFrames by columns of the same names, as tilehash.merge. The rows are in no given order.

    Both frames are shuffled to so many partitions; by default the larger number of the two. Integers and booleans that a
    join may leave missing become floats and objects in all partitions.
    """
    names = _listed(on)
    for frame in (left, right):
        _require(frame, names)
    for name in names:
        if left[name].dtype != right[name].dtype:
            raise TypeError(f"tilehash: left {name} of {left[name].dtype} and right {name} of {right[name].dtype} are of different types")
    number = partitions or max(left.npartitions, right.npartitions)
    sides = [frame.shuffle(on=names, npartitions=number) for frame in (left, right)]
    return _applied(_merged, *sides, on=names, how=how, suffixes=suffixes)


def _merged(left: Any, right: Any, on: list[str], how: How, suffixes: tuple[str, str]) -> Any:
    if how in ("right", "outer"):
        left = _nullable(left, on)
    if how in ("left", "outer"):
        right = _nullable(right, on)
    return merge_frames(left, right, on=on, how=how, suffixes=suffixes)


def _nullable(frame: Any, on: list[str]) -> Any:
    kinds = {name: getattr(t, "kind", "O") if type(t).__module__.startswith("numpy") else "O" for name, t in frame.dtypes.items()}
    types = {name: "float64" if kind in "iu" else "object" for name, kind in kinds.items() if kind in "iub" and name not in on}
    return frame.astype(types)


# ---- group_by ----


def group_by(frame: Any, by: str | list[str], partitions: int | None = None, **reductions: Any) -> Any:
    """Groups the rows of a Dask DataFrame: `group_by(df, ["shop"], total=("amount", "sum"), n="count")`.

    Returns a Dask DataFrame with the key columns and a column for each reduction, in no given order of rows. The
    reductions are those of tilehash.group_by without first, last, argmin and argmax, which depend on the order of rows.
    Partitions combine their rows before the shuffle, unless var, std, nunique, median or quantile is among the reductions.
    """
    names, how = _listed(by), _reductions(reductions)
    columns = [given[0] for given in how.values() if given[0] is not None]
    _require(frame, names + columns)
    number = partitions or frame.npartitions
    if any(given[1] in _WHOLE for given in how.values()):
        rows = frame[list(dict.fromkeys(names + columns))].shuffle(on=names, npartitions=number)
        return _applied(_grouped, rows, by=names, how=how)
    parts = _applied(_grouped, frame, by=names, how=_of_partitions(how)).shuffle(on=names, npartitions=number)
    return _applied(_combined, parts, by=names, how=how)


def _reductions(given: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    how = {}
    for name, reduction in given.items():
        r = (None, "size") if reduction in ("count", "size") else reduction
        if not isinstance(r, tuple) or len(r) not in (2, 3):
            raise TypeError('tilehash: a reduction is ("column", "name"), ("column", "name", argument) or "count"')
        if r[1] not in _COMBINED and r[1] not in _WHOLE:
            raise ValueError(f"tilehash: no reduction {r[1]!r} of partitions; there are {', '.join(sorted([*_COMBINED, *_WHOLE]))}")
        how[name] = r
    return how


def _of_partitions(how: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {f"{name} {first}": (r[0], first) for name, r in how.items() for first, _ in _COMBINED[r[1]]}


def _grouped(frame: Any, by: list[str], how: dict[str, tuple[Any, ...]]) -> Any:
    import pandas as pd

    g = group_rows(*(frame[name] for name in by))
    results = g.agg(**{name: "count" if r[0] is None else (frame[r[0]], *r[1:]) for name, r in how.items()})
    return pd.DataFrame({**dict(zip(by, g.keys)), **results})


def _combined(parts: Any, by: list[str], how: dict[str, tuple[Any, ...]]) -> Any:
    again = {f"{name} {first}": (f"{name} {first}", then) for name, r in how.items() for first, then in _COMBINED[r[1]]}
    found = _grouped(parts, by, again)
    columns = {}
    for name, r in how.items():
        if r[1] == "mean":
            columns[name] = found[f"{name} sum"] / found[f"{name} count"]
        else:
            columns[name] = found[f"{name} {r[1]}"]
    return found[by].assign(**columns)


# ---- drop_duplicates ----


def drop_duplicates(frame: Any, subset: str | list[str] | None = None, *, partitions: int | None = None) -> Any:
    """Keeps one row of those that have equal values in the columns of `subset`, or in all. Any one of them stays.

    Nulls are equal. Partitions drop their duplicates before the shuffle.
    """
    _require(frame, [])
    names = list(frame.columns) if subset is None else _listed(subset)
    _require(frame, names)
    few = _applied(_first_of_each, frame, by=names).shuffle(on=names, npartitions=partitions or frame.npartitions)
    return _applied(_first_of_each, few, by=names)


def _first_of_each(frame: Any, by: list[str]) -> Any:
    g = group_rows(*(frame[name] for name in by), dropna=False)
    return frame.take(g._first_rows.astype("int64"))


__all__ = ["drop_duplicates", "group_by", "is_dask_frame", "merge"]
