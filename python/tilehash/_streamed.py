# SPDX-License-Identifier: Apache-2.0
"""streamed: calls of a table whose rows come in batches, of which one at a time is in memory."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np

from ._stored import Stored
from .distributed import Map as DistributedMap

Progress = Callable[[int, int], None]


def _record_batches(source: Any, columns: list[Any]) -> Iterable[Any]:
    """The batches of files, readers, frames, relations, or those of the caller."""
    if isinstance(source, (str, os.PathLike)):
        import pyarrow.dataset

        return pyarrow.dataset.dataset(source, format="parquet").to_batches(  # type: ignore[no-any-return]
            columns=columns if all(isinstance(c, str) for c in columns) else None
        )
    if hasattr(source, "collect_batches"):  # polars.LazyFrame
        return source.collect_batches()  # type: ignore[no-any-return]
    if hasattr(source, "to_batches"):  # tables and datasets of Arrow
        return source.to_batches()  # type: ignore[no-any-return]
    if _is_frame(source):
        return [source]
    if hasattr(source, "__arrow_c_stream__"):  # readers of Arrow, relations of DuckDB
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(source)  # type: ignore[no-any-return]
    return source  # type: ignore[no-any-return]


def _is_frame(x: Any) -> bool:
    """Is it a batch of named columns: a record batch of Arrow, or a frame of pandas or polars?"""
    return type(x).__name__ in ("RecordBatch", "DataFrame") and type(x).__module__.partition(".")[0] in ("pyarrow", "pandas", "polars")


def _column(frame: Any, which: Any) -> Any:
    if not isinstance(which, int):
        return frame[which]
    if type(frame).__module__.startswith("pandas"):
        return frame.iloc[:, which]
    return frame.to_series(which) if hasattr(frame, "to_series") else frame.column(which)


def _bytes(column: Any) -> int:
    size = getattr(column, "nbytes", None)
    if size is None and hasattr(column, "estimated_size"):  # polars
        size = column.estimated_size()
    return int(size or 0)


class Streamed:
    """Calls of a `Map`, `Set`, `Stored` or `distributed.Map` that take batches. Made by `streamed`."""

    def __init__(self, table: Any, keys: Any, values: Any, progress: Progress | None) -> None:
        self._table, self._keys, self._values, self._progress = table, keys, values, progress
        self.rows = 0  #: rows of all batches so far
        self.bytes = 0  #: bytes of their keys and values

    def insert(self, batches: Any) -> int:
        """Adds the keys that are not present. Returns how many were added."""
        return self._added("insert", batches)

    def assign(self, batches: Any) -> int:
        """Adds keys and replaces values; a later batch wins. Returns how many were added."""
        return self._added("assign", batches)

    def update(self, batches: Any, op: Literal["sum", "min", "max"]) -> int:
        """Combines values with those of present keys, and adds the others. Returns how many were added."""
        return self._added("update", batches, op)

    def erase(self, batches: Any) -> int:
        """Removes keys. Returns how many were present."""
        return sum(self._table.erase(keys) for (keys,) in self._batches(batches, [self._keys]))

    def find(self, batches: Any, default: Any = 0) -> Iterator[Any]:
        """The values of each batch's keys, or the default where a key is absent: an array for each batch."""
        return (self._table.find(keys, default) for (keys,) in self._batches(batches, [self._keys]))

    def contains(self, batches: Any) -> Iterator[Any]:
        """Is each key present? An array for each batch."""
        return (self._table.contains(keys) for (keys,) in self._batches(batches, [self._keys]))

    def _added(self, verb: str, batches: Any, *more: Any) -> int:
        columns = [self._keys] if not hasattr(self._table, "find") else [self._keys, self._values]
        if isinstance(self._table, Stored):
            return self._merged(verb, batches, columns, *more)
        call = getattr(self._table, verb)
        return sum(call(*arrays, *more) for arrays in self._batches(batches, columns))

    def _merged(self, verb: str, batches: Any, columns: list[Any], *more: Any) -> int:
        call: Callable[[], int] = functools.partial(getattr(self._table, verb), **({"op": more[0]} if more else {}))
        try:
            for arrays in self._batches(batches, columns):
                self._table.append(*arrays)
        except BaseException:
            call()  # the batches before stay
            raise
        return call()

    def _batches(self, source: Any, columns: list[Any]) -> Iterator[tuple[Any, ...]]:
        of_this_rank = self._arrays(source, columns)
        for arrays in self._of_all_ranks(of_this_rank, len(columns)) if self._several() else of_this_rank:
            yield arrays
            if self._progress is not None:
                self._progress(self.rows, self.bytes)

    def _several(self) -> bool:
        return isinstance(self._table, DistributedMap)

    # Ranks may have different numbers of batches. One that has no more brings empty ones until all are done.
    def _of_all_ranks(self, of_this_rank: Iterator[tuple[Any, ...]], columns: int) -> Iterator[tuple[Any, ...]]:
        m = self._table
        empty = (np.zeros(0, m._k.dtype), np.zeros(0, m._v.dtype))[:columns]
        while True:
            m._agreement.begin("streamed")
            arrays = m._agreement.attempt(lambda: next(of_this_rank, None))
            if not m._agreement.agree(int(arrays is not None))[:, 0].any():
                return
            yield empty if arrays is None else arrays

    def _arrays(self, source: Any, columns: list[Any]) -> Iterator[tuple[Any, ...]]:
        for batch in _record_batches(source, columns):
            if _is_frame(batch):
                arrays = tuple(_column(batch, c) for c in columns)
            elif len(columns) == 1:
                arrays = (batch[0],) if isinstance(batch, tuple) else (batch,)
            elif isinstance(batch, tuple) and len(batch) == len(columns):
                arrays = batch
            else:
                raise TypeError(f"tilehash: a batch is a pair of keys and values or a frame, not {type(batch).__name__}")
            self.rows += len(arrays[0])
            self.bytes += sum(map(_bytes, arrays))
            yield arrays


def streamed(table: Any, keys: str | int = 0, values: str | int = 1, progress: Progress | None = None) -> Streamed:
    """Calls of a table whose rows come in batches, so that they need not fit memory at once.

    th.streamed(m).insert(duckdb.sql("select k, v from 'rows.parquet'"))

    A source of batches is the path of a parquet file or of a folder of them; a reader, table or dataset of Arrow; a frame of
    pandas or polars, a LazyFrame; a relation of DuckDB; or an iterable of such frames, or of pairs (keys, values). `keys`
    and `values` are the columns of frames, by name or number.

    If a batch fails, those before it stay in the table. A `Stored` merges all batches of a call at once. With a `distributed.Map` all ranks make the call, and may have
    different numbers of batches. `progress(rows, bytes)` is called after each batch.
    """
    return Streamed(table, keys, values, progress)


__all__ = ["Streamed", "streamed"]
