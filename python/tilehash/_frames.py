# SPDX-License-Identifier: Apache-2.0
"""join and merge."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core, _gpu
from ._analysis import get_threads
from ._arrays import NO_CODE, Column, column

How = Literal["inner", "left", "right", "outer", "semi", "anti"]
_HOWS = ("inner", "left", "right", "outer", "semi", "anti")
Codes = npt.NDArray[np.uint32]


def _found(left: list[Column], right: list[Column], nulls_equal: bool) -> tuple[Codes, Codes, int]:
    """Codes of both sides' rows among the right ones, and their number."""
    threads = get_threads()
    lefts: Any = None
    rights: Any = None
    number = 1
    for l, r in zip(left, right):
        probe, build = l.rows(), r.rows()
        if probe.type != build.type:
            raise TypeError(f"tilehash: left keys of {probe.type} and right keys of {build.type} are of different types")
        finder = _core.Finder(build, nulls_equal, threads)
        lc, rc, many = finder.find(probe), finder.codes(), len(finder.first_rows())
        if lefts is not None:

            def paired(a: Codes, b: Codes, many: int = many) -> _core.Rows:
                valid = (a != NO_CODE) & (b != NO_CODE)
                return _core.numbers(a.astype(np.uint64) * np.uint64(max(many, 1)) + b, valid, False, "uint64")

            finder = _core.Finder(paired(rights, rc), False, threads)
            lc, rc, many = finder.find(paired(lefts, lc)), finder.codes(), len(finder.first_rows())
        lefts, rights, number = lc, rc, many
    return lefts, rights, number


def join(left: Any, right: Any, *, how: How = "inner", nulls_equal: bool = False) -> Any:
    """Finds the rows of two sides whose keys are equal. A side is a key column, or a tuple or list of them.

    Returns (left rows, right rows) as int64, -1 where there is no row, in the order of the left rows; semi and
    anti give the left rows alone. The rows of a right join are in the order of the right side; an outer join has the
    unmatched right rows last.
    Raises TypeError, which names both types, for sides of different types.
    """
    if how not in _HOWS:
        raise ValueError(f"tilehash: no join {how!r}; there are {', '.join(_HOWS)}")
    if how == "right":
        right_rows, left_rows = join(right, left, how="left", nulls_equal=nulls_equal)
        return left_rows, right_rows
    lefts = list(left) if isinstance(left, (tuple, list)) else [left]
    rights = list(right) if isinstance(right, (tuple, list)) else [right]
    if len(lefts) != len(rights) or not lefts:
        raise ValueError(f"tilehash: {len(lefts)} left key columns and {len(rights)} right ones")
    if _gpu.on_gpu(lefts[0]):
        from ._gpu_groups import join as join_on_gpu

        return join_on_gpu(lefts, rights, how, nulls_equal)
    l, r = [column(k) for k in lefts], [column(k) for k in rights]
    for side in (l, r):
        if len({c.size for c in side}) != 1:
            raise ValueError("tilehash: the key columns of a side differ in length")
    lc, rc, number = _found(l, r, nulls_equal)
    if how in ("semi", "anti"):
        return np.flatnonzero((lc != NO_CODE) == (how == "semi"))
    return _core.join(lc, rc, number, how in ("left", "outer"), how == "outer", get_threads())


def merge(
    left: Any,
    right: Any,
    *,
    on: str | list[str],
    how: How = "inner",
    suffixes: tuple[str, str] = ("_x", "_y"),
) -> Any:
    """Joins two frames by columns of the same names. Returns a frame of the same kind.

    A frame is one of pandas or polars, or a dict of arrays, as PyTorch and CuPy have no frames. All arrays of two dicts
    are of one library, and on one GPU or in host memory. Columns of other names that both sides have get the suffixes.
    A missing value is NaN, NaT or null; it makes floats of a column of integers in pandas and in dicts.
    Raises KeyError for a column that is absent, TypeError for other frames and for sides of different types.
    """
    merged = _merged_frames(left, right)
    names = [on] if isinstance(on, str) else list(on)
    for name in names:
        for frame in (left, right):
            if name not in _columns(frame):
                raise KeyError(name)
    rows = join([left[name] for name in names], [right[name] for name in names], how=how)
    return merged(left, right, names, how, rows, suffixes)


def _columns(frame: Any) -> list[str]:
    return list(frame if isinstance(frame, dict) else frame.columns)


def _merged_frames(left: Any, right: Any) -> Any:
    """The function for frames of this kind."""
    kinds = {"pandas": _merged_pandas, "polars": _merged_polars}
    of = ["dict" if isinstance(x, dict) else type(x).__module__.partition(".")[0] for x in (left, right)]
    if of[0] == of[1] and of[0] in (*kinds, "dict"):
        return kinds.get(of[0], _merged_dicts)
    what = f"{type(left).__module__}.{type(left).__name__} and {type(right).__module__}.{type(right).__name__}"
    raise TypeError(f"tilehash: merge takes two frames of pandas or of polars, or two dicts of arrays, not {what}")


def _names(left: Any, right: Any, on: list[str], suffixes: tuple[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    both = (set(_columns(left)) & set(_columns(right))) - set(on)
    return {n: n + suffixes[0] for n in both}, {n: n + suffixes[1] for n in both}


def _taken(x: Any, at: Any, missing: Any) -> Any:
    """The elements of an array of NumPy, PyTorch or CuPy. Missing ones are NaN or NaT, or 0 in structs and texts."""
    if missing is None:
        return x[at]
    torch = type(x).__module__.partition(".")[0] == "torch"
    if not len(x):
        x = x.new_zeros((1, *x.shape[1:])) if torch else np.zeros_like(x, shape=(1, *x.shape[1:]))
    out = x[at]
    if torch:
        out = out if out.is_floating_point() else out.double()
    elif out.dtype.kind in "biu":
        out = out.astype(np.float64)
    kind = "f" if torch else out.dtype.kind
    out[missing] = np.nan if kind in "fc" else np.array("NaT", out.dtype) if kind in "mM" else np.zeros(1, out.dtype)[0]
    return out


def _merged_dicts(left: Any, right: Any, on: list[str], how: How, rows: Any, suffixes: tuple[str, str]) -> Any:
    if how in ("semi", "anti"):
        return {name: x[rows] for name, x in left.items()}
    l, r = _names(left, right, on, suffixes)
    gone = [at < 0 for at in rows]
    gone = [at if bool(at.any()) else None for at in gone]
    out = {}
    for name, x in left.items():
        if name not in on or gone[0] is None:
            out[l.get(name, name)] = _taken(x, rows[0], gone[0])
        else:  # a key comes from the side that has it
            out[name] = right[name][rows[1]]
            out[name][~gone[0]] = x[rows[0][~gone[0]]]
    for name, x in right.items():
        if name not in on:
            out[r.get(name, name)] = _taken(x, rows[1], gone[1])
    return out


def _merged_pandas(left: Any, right: Any, on: list[str], how: How, rows: Any, suffixes: tuple[str, str]) -> Any:
    import pandas as pd

    if how in ("semi", "anti"):
        return left.take(rows).reset_index(drop=True)
    l, r = _names(left, right, on, suffixes)

    def taken(frame: Any, at: npt.NDArray[np.int64]) -> Any:
        frame = frame.reset_index(drop=True)
        if len(at) and at.min() < 0:
            return frame.reindex(pd.Index(at)).reset_index(drop=True)  # (-1 is no label: missing)
        return frame.take(at).reset_index(drop=True)

    a, b = taken(left, rows[0]), taken(right, rows[1])
    if how in ("right", "outer"):
        missing = rows[0] < 0
        for name in on:
            a[name] = a[name].where(~missing, b[name]).astype(left[name].dtype)
    return pd.concat([a.rename(columns=l), b.drop(columns=on).rename(columns=r)], axis=1)


def _merged_polars(left: Any, right: Any, on: list[str], how: How, rows: Any, suffixes: tuple[str, str]) -> Any:
    import polars as pl

    if how in ("semi", "anti"):
        return left[rows]
    l, r = _names(left, right, on, suffixes)

    def taken(frame: Any, at: npt.NDArray[np.int64]) -> Any:
        if not len(at) or at.min() >= 0:
            return frame[at]
        index = pl.Series(at).cast(pl.Int64)
        return frame.select(pl.all().gather(index.set(index < 0, None).cast(pl.UInt32)))

    a, b = taken(left, rows[0]), taken(right, rows[1])
    if how in ("right", "outer"):
        a = a.with_columns([a[name].fill_null(b[name]) for name in on])
    return pl.concat([a.rename(l), b.drop(on).rename(r)], how="horizontal")


__all__ = ["join", "merge"]
