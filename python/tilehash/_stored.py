# SPDX-License-Identifier: Apache-2.0
"""Stored: a map in a folder, for tables larger than memory."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Literal

import numpy as np

from . import _core
from ._analysis import get_threads
from ._errors import added
from ._tables import Words, _as_column, _Words


class Stored:
    """One value for each key, in files of a folder. One part of the keys at a time is a table in memory.

    Use it for tables larger than memory, in few calls of many items: each call reads and writes all parts that its keys
    reach. `append` collects items, so that one call merges many batches; so does `streamed`.

    Keys and values are numbers of up to 8 bytes, and take 16 bytes in the files. A folder that has a table is opened with
    its own number of parts. `bin_bytes` of collected items are kept in memory, then in files.
    """

    def __init__(
        self, folder: str | os.PathLike[str], keys: Any = np.int64, values: Any = np.int64, *, parts: int = 16, bin_bytes: int = 1 << 30
    ) -> None:
        self._k, self._v = _Words(np.dtype(keys), "keys"), _Words(np.dtype(values), "values")
        path = pathlib.Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        types, mine = path / "types", f"{self._k.dtype.str} {self._v.dtype.str}\n"
        if types.exists() and types.read_text() != mine:
            raise ValueError(f"tilehash: the folder has keys and values of {types.read_text().strip()}, not {mine.strip()}")
        self._table = _core.Stored(str(path), parts, bin_bytes, get_threads())
        types.write_text(mine)

    def __len__(self) -> int:
        return self._table.size

    @property
    def parts(self) -> int:
        """The number of parts."""
        return self._table.parts

    @property
    def waiting(self) -> int:
        """Items that were appended and not merged. They are lost with the object."""
        return self._table.waiting

    @property
    def bytes_read(self) -> int:
        """Bytes of parts that this object has read."""
        return self._table.bytes_read

    @property
    def bytes_written(self) -> int:
        """Bytes of parts that this object has written."""
        return self._table.bytes_written

    def append(self, keys: Any, values: Any) -> None:
        """Collects items for the next insert, assign or update."""
        k, v = _as_column(keys, self._k.dtype), _as_column(values, self._v.dtype)
        if k.size != v.size:
            raise ValueError(f"tilehash: {k.size} keys and {v.size} values")
        self._table.append(self._k.keys(k), self._v.words(v))

    def insert(self, keys: Any = (), values: Any = ()) -> int:
        """Adds the collected and these keys that are not present; any one of equal keys. Returns how many were added."""
        self._take(keys, values)
        return added(self._table.insert(), True)

    def assign(self, keys: Any = (), values: Any = ()) -> int:
        """Adds the collected and these keys, and replaces values. Any one of equal keys wins. Returns how many were added."""
        self._take(keys, values)
        return added(self._table.assign(), True)

    def update(self, keys: Any = (), values: Any = (), op: Literal["sum", "min", "max"] = "sum") -> int:
        """Combines the collected and these values with those of present keys. Returns how many keys were added."""
        if op not in ("sum", "min", "max"):
            raise ValueError(f"tilehash: no op {op!r}; there are sum, min and max")
        self._take(keys, values)
        return added(self._table.update(op, self._v.kind), True)

    def find(self, keys: Any, default: Any = 0) -> Any:
        """The value of each key, or the default where it is absent. Collected items are absent until they are merged."""
        c = _as_column(keys, self._k.dtype)
        words: Words = self._table.find(self._k.keys(c), self._v.one(default))
        return c.wrap(self._v.back(words))

    def _take(self, keys: Any, values: Any) -> None:
        if len(keys) or len(values):
            self.append(keys, values)


__all__ = ["Stored"]
