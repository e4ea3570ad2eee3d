# SPDX-License-Identifier: Apache-2.0
"""factorize, unique, value_counts, isin."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core, _gpu
from ._arrays import NO_CODE, Array, Column, column

_threads = int(os.environ.get("TILEHASH_THREADS", "0"))


def set_threads(n: int) -> None:
    """Sets how many threads a call may start; 0 means all of the machine. Default: TILEHASH_THREADS, or 0."""
    global _threads
    if n < 0:
        raise ValueError("tilehash: the number of threads is 0 or more")
    _threads = n


def get_threads() -> int:
    """Returns what set_threads() was given last."""
    return _threads


class Unique(NamedTuple):
    """The result of unique() with one of its options; the fields of other options are None."""

    values: Any
    index: Any
    inverse: Any
    counts: Any


def _ascending(c: Column, first_rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """The order of the values; missing ones come last."""
    if c.values is None or c.values.ndim != 1:
        if c.values is not None:
            raise TypeError("tilehash: rows of two dimensions have no order; use sort=False")
        values: Any = np.asarray(c.take(first_rows).to_numpy(zero_copy_only=False), dtype=object)
        missing = np.array([v is None for v in values], dtype=np.bool_)
        values[missing] = ""
    else:
        values = c.values[first_rows]
        missing = np.zeros(len(values), np.bool_) if c.valid is None else ~c.valid[first_rows]
    order = np.argsort(values, kind="stable")
    return np.concatenate([order[~missing[order]], order[missing[order]]]).astype(np.int64)


def _sorted(c: Column, codes: Array, first_rows: npt.NDArray[np.uint32]) -> tuple[Array, npt.NDArray[np.uint32]]:
    order = _ascending(c, first_rows)
    rank = np.empty(len(order) + 1, codes.dtype)
    rank[order] = np.arange(len(order), dtype=codes.dtype)
    rank[-1] = -1  # the code of missing rows is the last element
    return rank[codes], first_rows[order]


def factorize(keys: Any, *, sort: bool = False, use_na_sentinel: bool = True, na_sentinel: int = -1) -> tuple[Any, Any]:
    """Numbers the different keys.

    Parameters
    ----------
    keys: a NumPy array (also with a stride, another byte order, or of two dimensions: then its rows are keys),
        a Series of pandas or polars, an array of Arrow, a tensor of torch, or a buffer. On a GPU: a contiguous
        array of PyTorch, CuPy, or any library with DLPack, of integers or floats of 4 or 8 bytes.
    sort: number the values in ascending order instead of by first appearance.
    use_na_sentinel: missing keys (NaN, NaT, nulls) get `na_sentinel`; otherwise all of them are one value.

    Returns (codes, uniques): int64 codes, and the values in the caller's kind of array.
    Raises TypeError for keys that are Python objects, ValueError for more than 2**32 - 2 rows.
    """
    if _gpu.on_gpu(keys):
        return _gpu.factorize(keys, sort, use_na_sentinel, na_sentinel)
    c = column(keys)
    codes, first_rows = _core.factorize(c.rows(), not use_na_sentinel, _threads)
    if sort:
        codes, first_rows = _sorted(c, codes, first_rows)
    if na_sentinel != -1 and use_na_sentinel:
        codes[codes == -1] = na_sentinel
    return c.wrap(codes), c.take(first_rows)


def unique(
    keys: Any,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    sort: bool = False,
) -> Any:
    """Finds the different keys, by first appearance or ascending. Missing keys are one value.

    Returns the values, or a named tuple (values, index, inverse, counts) if one of these is asked for: the row
    where each value is first, the number of each row's value, the rows of each value.
    """
    if _gpu.on_gpu(keys):
        found = _gpu.unique(keys, return_index, return_inverse, return_counts, sort)
        return Unique(*found) if return_index or return_inverse or return_counts else found[0]
    c = column(keys)
    if not return_inverse and not return_counts and not sort:
        first_rows = _core.codes(c.rows(), True, _threads)[1]
        if not return_index:
            return c.take(first_rows)
        return Unique(c.take(first_rows), c.wrap(first_rows.astype(np.int64)), None, None)
    codes, first_rows = _core.factorize(c.rows(), True, _threads)
    if sort:
        codes, first_rows = _sorted(c, codes, first_rows)
    values = c.take(first_rows)
    if not (return_index or return_inverse or return_counts):
        return values
    counts = None
    if return_counts:
        counts = c.wrap(np.bincount(codes, minlength=len(first_rows)).astype(np.int64))
    return Unique(
        values,
        c.wrap(first_rows.astype(np.int64)) if return_index else None,
        c.wrap(codes) if return_inverse else None,
        counts,
    )


def value_counts(keys: Any, *, sort: bool = False, dropna: bool = True) -> tuple[Any, Any]:
    """Counts the rows of each key.

    Returns (values, counts), by first appearance, or with the most frequent value first if `sort`.
    """
    if _gpu.on_gpu(keys):
        return _gpu.value_counts(keys, sort, dropna)
    c = column(keys)
    codes, first_rows = _core.codes(c.rows(), not dropna, _threads)
    counts = _core.sizes(codes, len(first_rows), _threads)
    if sort:
        order = np.argsort(-counts, kind="stable")
        counts, first_rows = counts[order], first_rows[order]
    return c.take(first_rows), c.wrap(counts)


def isin(keys: Any, values: Any) -> Any:
    """Tells for each key whether it is among the values. A missing key is among none.

    Raises TypeError, which names both types, for keys and values of different types.
    """
    if _gpu.on_gpu(keys):
        return _gpu.isin(keys, values)
    c, among = column(keys), column(_like(keys, values))
    probe, wanted = c.rows(), among.rows()
    if probe.type != wanted.type:
        raise TypeError(f"tilehash: keys of {probe.type} cannot be among values of {wanted.type}")
    return c.wrap(_core.Finder(wanted, False, _threads).contains(probe))


def _like(keys: Any, values: Any) -> Any:
    """A list of Python numbers takes the type of the keys."""
    dtype = getattr(keys, "dtype", None)
    if isinstance(values, (list, tuple, set, frozenset, range)) and isinstance(dtype, np.dtype):
        given = np.asarray(list(values))
        if given.size == 0:
            return given.astype(dtype)
        if given.dtype.kind in "biuf" and dtype.kind in "biuf":
            cast = given.astype(dtype)
            return cast[cast == given]  # a number that the keys' type does not have is no key
        return given
    return values


__all__ = ["NO_CODE", "Unique", "factorize", "get_threads", "isin", "set_threads", "unique", "value_counts"]
