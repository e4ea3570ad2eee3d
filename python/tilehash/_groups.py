# SPDX-License-Identifier: Apache-2.0
"""group_by: rows grouped once, then any number of reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _gpu
from ._analysis import get_threads
from ._arrays import NO_CODE, Array, Column, column, native, numbers

_PLAIN = {"sum", "min", "max", "mean", "first", "last", "any", "all", "argmin", "argmax", "count", "var", "std"}
_OTHERS = {"size", "nunique", "median", "quantile"}


def _quantile(argument: Any) -> float:
    given = 0.5 if argument is None else float(argument)
    if not 0 <= given <= 1:
        raise ValueError("tilehash: a quantile is between 0 and 1")
    return given


def _ddof(argument: Any) -> float:
    return 1.0 if argument is None else float(argument)


# What the third element of a reduction means.
ARGUMENTS = {"var": _ddof, "std": _ddof, "median": _quantile, "quantile": _quantile}


def _of_each_group(codes: npt.NDArray[np.uint32], number: int, values: Array, reduce: Callable[..., Any]) -> Array:
    """Calls reduce(values) for each group that has values, or the ufunc's reduceat once. Other groups get NaN."""
    order = np.argsort(codes, kind="stable")
    codes, values = codes[order], values[order]
    starts = np.flatnonzero(np.diff(codes, prepend=NO_CODE)) if len(codes) else np.zeros(0, np.int64)
    if isinstance(reduce, np.ufunc):
        made = reduce.reduceat(values, starts) if len(starts) else values[:0]
    else:
        made = np.array([reduce(part) for part in np.split(values, starts[1:])] if len(starts) else [])
    if made.ndim != 1:
        raise TypeError(f"tilehash: a reduction gives one value for a group, not an array of {made.ndim - 1} dimensions")
    if len(starts) == number:
        return made
    if made.dtype.kind in "mM":
        result = np.full(number, np.array("NaT", made.dtype))
    else:
        result = np.full(number, np.nan, made.dtype if made.dtype.kind in "fc" else np.float64)
    result[codes[starts]] = made
    return result


def combined_codes(parts: list[tuple[npt.NDArray[np.uint32], int]]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Codes and first rows of rows whose columns have these codes, each below its number."""
    codes, number = parts[0]
    first_rows: Any = None
    for more, many in parts[1:]:
        missing = (codes == NO_CODE) | (more == NO_CODE)
        pairs = codes.astype(np.uint64) * np.uint64(many) + more
        valid = ~missing if missing.any() else None
        codes, first_rows = _core.codes(_core.numbers(pairs, valid, False, "uint64"), False, get_threads())
        number = len(first_rows)
    return codes, first_rows


class Groups:
    """Rows in groups of equal keys. Groups are in the order of their first rows.

    Concurrent calls are safe. Sums of floating-point numbers do not depend on the number of threads.
    """

    def __init__(self, *keys: Any, dropna: bool = True) -> None:
        if not keys:
            raise ValueError("tilehash: group_by needs a key column")
        self._columns = [column(k) for k in keys]
        sizes = {c.size for c in self._columns}
        if len(sizes) != 1:
            raise ValueError(f"tilehash: the key columns differ in length: {sorted(sizes)}")
        threads = get_threads()
        found = [_core.codes(c.rows(), not dropna, threads) for c in self._columns]
        if len(found) == 1:
            self._codes, self._first_rows = found[0]
        else:
            self._codes, self._first_rows = combined_codes([(codes, len(rows)) for codes, rows in found])

    def __len__(self) -> int:
        return len(self._first_rows)

    @property
    def codes(self) -> Any:
        """The group of each row; -1 if a key is missing."""
        return self._codes.view(np.int32).astype(np.int64) if len(self) < 2**31 else np.where(
            self._codes == NO_CODE, -1, self._codes.astype(np.int64)
        )

    @property
    def keys(self) -> tuple[Any, ...]:
        """The keys of the groups: an array for each key column, in the caller's kind."""
        return tuple(c.take(self._first_rows) for c in self._columns)

    def size(self) -> Any:
        """The rows of each group."""
        return self._columns[0].wrap(_core.sizes(self._codes, len(self), get_threads()))

    def agg(self, **reductions: Any) -> dict[str, Any]:
        """Reduces values: `g.agg(total=(v, "sum"), n="count", q90=(v, "quantile", 0.9))`.

        The reductions are sum, count, min, max, mean, var, std (ddof 1, or the third element), first, last, any,
        all, argmin, argmax (row numbers, -1 for none), nunique, median and quantile. "count" without values
        counts rows. Missing values are left out. Returns an array for each name.

        A ufunc of NumPy with two arguments reduces too, as np.multiply, and so does any function of one array: it is
        called once for each group, with the group's values in the order of their rows. Both sort the rows by group,
        and take no arrays of a GPU.
        """
        return {name: self._reduced(how) for name, how in reductions.items()}

    def sum(self, values: Any, deterministic: bool = False) -> Any:
        """The sum of each group's values.

        deterministic: floats on a GPU are added so that the result has the same bits in each call, and for rows in any
        order. Without it the last bits may differ. In host memory they are added in the order of the rows.
        """
        return self._sum(values) if deterministic else self._reduced((values, "sum"))

    def _sum(self, values: Any) -> Any:
        return self._reduced((values, "sum"))

    def mean(self, values: Any) -> Any:
        """The mean of each group's values."""
        return self._reduced((values, "mean"))

    def min(self, values: Any) -> Any:
        """The least of each group's values."""
        return self._reduced((values, "min"))

    def max(self, values: Any) -> Any:
        """The greatest of each group's values."""
        return self._reduced((values, "max"))

    def _reduced(self, how: Any) -> Any:
        if isinstance(how, str) and how in ("count", "size"):
            return self.size()
        if not isinstance(how, tuple) or len(how) not in (2, 3):
            raise TypeError('tilehash: a reduction is (values, "name"), (values, "name", argument) or "count"')
        values, op = how[0], how[1]
        if callable(op):
            if len(how) == 3:
                raise TypeError("tilehash: a function takes no argument; use a lambda")
            return self._user(values, op)
        if op not in _PLAIN | _OTHERS:
            raise ValueError(f"tilehash: no reduction {op!r}; there are {', '.join(sorted(_PLAIN | _OTHERS))}")
        return self.size() if op == "size" else self._values(values, op, how[2] if len(how) == 3 else None)

    def _values(self, values: Any, op: str, argument: Any) -> Any:
        c = column(values)
        if c.size != len(self._codes):
            raise ValueError(f"tilehash: {c.size} values for {len(self._codes)} rows")
        return c.wrap(self._nunique(c) if op == "nunique" else self._number(c, op, argument))

    def _user(self, values: Any, reduce: Callable[..., Any]) -> Any:
        c = column(values)
        if c.size != len(self._codes):
            raise ValueError(f"tilehash: {c.size} values for {len(self._codes)} rows")
        if c.values is None:
            raise TypeError("tilehash: a function reduces numbers, not str")
        given, kept = native(c.values), self._codes != NO_CODE
        if c.valid is not None:
            kept &= c.valid
        if given.dtype.kind in "fcmM" and given.ndim == 1:
            kept &= given == given
        return c.wrap(_of_each_group(self._codes[kept], len(self), given[kept], reduce))

    def _nunique(self, c: Column) -> Array:
        codes, first_rows = _core.codes(c.rows(), False, get_threads())
        _, rows = combined_codes([(self._codes, len(self)), (codes, max(len(first_rows), 1))])
        return np.bincount(self._codes[rows], minlength=len(self)).astype(np.int64)

    def _number(self, c: Column, op: str, argument: Any) -> Array:
        words = numbers(c.values) if c.values is not None else None
        if words is None or c.values is None:
            raise TypeError(f"tilehash: {op} needs numbers, not {'str' if c.values is None else c.values.dtype}")
        dtype, valid = c.values.dtype, c.valid
        if dtype.kind in "mM":
            valid = ~np.isnat(c.values) if valid is None else valid & ~np.isnat(c.values)
            if op not in ("min", "max", "first", "last", "count", "argmin", "argmax"):
                raise TypeError(f"tilehash: {op} of {dtype} has no meaning")
        name = "quantile" if op == "median" else op
        given = ARGUMENTS[op](argument) if op in ARGUMENTS else 0.0
        result = _core.reduce(self._codes, len(self), words, valid, name, given, get_threads())
        if not isinstance(result, tuple):
            return np.asarray(result)
        chosen, rows = result
        if op.startswith("arg"):
            return np.asarray(rows)
        return _chosen(chosen, rows, dtype)


def _chosen(values: Any, rows: Array, dtype: Any) -> Array:
    """Groups without values give NaN or NaT; integers become floats then."""
    none = rows < 0
    if dtype.kind in "mM":
        result: Array = values.view(np.dtype(dtype).newbyteorder("="))
        result[none] = np.array("NaT", result.dtype)
        return result
    if dtype.kind == "b":
        values = values.view(np.bool_)
    if none.any():
        values = values.astype(np.float64 if values.dtype.kind != "f" else values.dtype)
        values[none] = np.nan
    return np.asarray(values)


def group_by(*keys: Any, dropna: bool = True) -> Groups:
    """Groups rows by one key column or more. Rows with a missing key belong to no group, unless dropna is False.

    Keys on a GPU take values on that GPU, and results are there.
    """
    if keys and _gpu.on_gpu(keys[0]):
        from ._gpu_groups import GroupsOnGpu

        return GroupsOnGpu(*keys, dropna=dropna)
    return Groups(*keys, dropna=dropna)


__all__: list[str] = ["ARGUMENTS", "Groups", "combined_codes", "group_by"]
