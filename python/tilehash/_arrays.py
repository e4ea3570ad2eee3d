# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as rows of keys, without copies where the memory allows it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _gpu

Array = npt.NDArray[Any]
NO_CODE = 0xFFFFFFFF


@dataclass(frozen=True)
class Column:
    """One column: its values as NumPy sees them, and how results go back to the caller's library."""

    values: Array | None  # None for strings of Arrow
    valid: npt.NDArray[np.bool_] | None
    rows: Callable[[], _core.Rows]
    size: int
    take: Callable[[Array], Any]  # the rows of these numbers, as the caller's kind of array
    wrap: Callable[[Array], Any]  # a NumPy array as the caller's kind of array


def _same(array: Array) -> Any:
    return array


def native(array: Array) -> Array:
    """The array in this machine's byte order."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def numbers(array: Array) -> Array | None:
    """A view as integers or floats that the module takes, or None. Half precision is widened."""
    kind = array.dtype.kind
    if kind == "b":
        return array.view(np.uint8)
    if kind in "mM":
        return native(array).view(np.int64)
    if kind in "iu" or (kind == "f" and array.dtype.itemsize in (4, 8)):
        return native(array)
    if kind == "f" and array.dtype.itemsize == 2:
        return native(array).astype(np.float32)
    return None


def _numpy_rows(array: Array, valid: npt.NDArray[np.bool_] | None) -> _core.Rows:
    words = numbers(array) if array.ndim == 1 else None
    name = str(array.dtype)
    if words is not None:
        return _core.numbers(words, valid, array.dtype.kind in "mM", name)
    if array.dtype.hasobject:
        raise TypeError(f"tilehash: keys of type {name} are Python objects; use a NumPy or Arrow type")
    if array.dtype.kind == "c":
        array = (array + 0).view(array.real.dtype).reshape(*array.shape, 2)  # (0.0 for -0.0)
    elif array.dtype.kind == "f":
        array = array + 0
    flat = np.ascontiguousarray(native(array))
    width = flat.dtype.itemsize * int(np.prod(flat.shape[1:], dtype=np.int64))
    data = flat.reshape(-1).view(np.uint8) if flat.size and width else np.zeros(0, np.uint8)
    return _core.fixed_bytes(data, width, flat.shape[0], valid, name)


def _of_numpy(array: Array, take: Callable[[Array], Any], wrap: Callable[[Array], Any]) -> Column:
    if array.ndim not in (1, 2):
        raise ValueError(f"tilehash: keys are an array of one dimension, or rows of two; this one has {array.ndim}")
    return Column(array, None, lambda: _numpy_rows(array, None), array.shape[0], take, wrap)


def _arrow_buffers(array: Any) -> Column:
    import pyarrow as pa

    original = array
    if "view" in str(original.type):  # (Arrow takes no rows of views)
        original = array = original.cast(pa.large_binary() if "binary" in str(original.type) else pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if isinstance(array, pa.ChunkedArray):  # no chunks
        array = pa.array([], type=original.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind, n = array.type, len(array)

    def take(rows: Array) -> Any:
        return original.take(pa.array(rows.astype(np.int64)))

    valid = None
    if array.null_count:
        bits = np.frombuffer(array.buffers()[0], np.uint8)
        valid = np.unpackbits(bits, count=array.offset + n, bitorder="little")[array.offset :].view(np.bool_)
    t = pa.types
    if t.is_string(kind) or t.is_binary(kind) or t.is_large_string(kind) or t.is_large_binary(kind):
        if not (t.is_large_string(kind) or t.is_large_binary(kind)):
            array = array.cast(pa.large_binary() if "binary" in str(kind) else pa.large_string())
        _, offsets, data = array.buffers()
        ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + n + 1] if offsets else np.zeros(1, np.int64)
        text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
        mask = valid
        return Column(None, valid, lambda: _core.text(text, ends, mask), n, take, pa.array)
    if t.is_boolean(kind):
        values: Array = np.asarray(array.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)
    elif t.is_integer(kind) or t.is_floating(kind) or t.is_temporal(kind):
        dtype: Any = kind.to_pandas_dtype() if not t.is_temporal(kind) else f"i{kind.bit_width // 8}"
        values = np.frombuffer(array.buffers()[1], dtype)[array.offset : array.offset + n] if n else np.zeros(0, dtype)
    else:
        raise TypeError(f"tilehash: keys of the Arrow type {kind} are not supported")
    mask = valid
    return Column(values, valid, lambda: _numpy_rows(values, mask), n, take, pa.array)


def column(x: Any) -> Column:
    """Raises TypeError for arrays on a GPU, and for types that are no keys."""
    if isinstance(x, np.ndarray):
        return _of_numpy(x, lambda rows: x[rows], _same)
    module = type(x).__module__.partition(".")[0]
    if module == "pandas":
        return _of_pandas(x)
    if module == "polars":
        import polars as pl

        if not x.null_count() and x.dtype.is_numeric():
            return _of_numpy(x.to_numpy(), lambda rows: x.gather(rows.astype(np.int64)), lambda a: pl.Series(a))
        made = _arrow_buffers(x.to_arrow())
        return Column(made.values, made.valid, made.rows, made.size, lambda rows: x.gather(rows.astype(np.int64)), lambda a: pl.Series(a))
    if module == "pyarrow":
        return _arrow_buffers(x)
    if _gpu.on_gpu(x):
        raise TypeError("tilehash: this call takes no arrays of a GPU; copy the array to the host first")
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        import pyarrow as pa

        return _arrow_buffers(pa.array(x) if hasattr(x, "__arrow_c_array__") else pa.chunked_array(x))
    if hasattr(x, "__dlpack__"):
        array = np.from_dlpack(x)
        if module == "torch":
            torch = sys.modules["torch"]
            return _of_numpy(array, lambda rows: x[torch.from_numpy(rows.astype(np.int64))], torch.from_numpy)
        return _of_numpy(array, lambda rows: array[rows], _same)
    try:
        array = np.asarray(memoryview(x))
    except TypeError:
        array = np.asarray(x)
    if array.dtype.hasobject:
        raise TypeError(f"tilehash: {type(x).__name__} holds Python objects; use a NumPy or Arrow type")
    return _of_numpy(array, lambda rows: array[rows], _same)


def _of_pandas(x: Any) -> Column:
    import pandas as pd

    def take(rows: Array) -> Any:
        return pd.Index(x.take(rows.astype(np.int64)))

    dtype = x.dtype
    if isinstance(dtype, np.dtype) and not dtype.hasobject:
        return _of_numpy(x.to_numpy(), take, _same)
    import pyarrow as pa

    made = _arrow_buffers(pa.array(x, from_pandas=True))
    return Column(made.values, made.valid, made.rows, made.size, take, _same)
