# SPDX-License-Identifier: Apache-2.0
"""Map, Set, MultiMap and Index: tables that stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core, _gpu
from ._analysis import get_threads
from ._arrays import NO_CODE, Array, Column, column, numbers
from ._errors import added

if TYPE_CHECKING:
    from ._gpu_groups import IndexOnGpu, MultiMapOnGpu

Words = npt.NDArray[np.uint64]


class _Words:
    """How keys or values of one type become 64-bit words, and back."""

    def __init__(self, dtype: np.dtype[Any], what: str) -> None:
        if dtype.kind not in "biufmM" or dtype.itemsize > 8 or (dtype.kind == "f" and dtype.itemsize < 4):
            raise TypeError(f"tilehash: {what} of a table are numbers of up to 8 bytes, not {dtype}")
        self.dtype = dtype.newbyteorder("=")
        self.what = what
        self.kind = {"b": "u", "u": "u", "f": "f"}.get(dtype.kind, "i")

    def words(self, c: Column) -> Words:
        if c.values is None or c.values.ndim != 1:
            raise TypeError(f"tilehash: {self.what} of a table are numbers, one a row")
        if c.values.dtype != self.dtype:
            raise TypeError(f"tilehash: this table has {self.what} of {self.dtype}, not {c.values.dtype}")
        if c.valid is not None:
            raise ValueError(f"tilehash: {self.what} of a table cannot be missing")
        view: Any = numbers(c.values)
        wide = np.ascontiguousarray(view, dtype={"u": np.uint64, "f": np.float64, "i": np.int64}[self.kind])
        return wide.view(np.uint64)

    def keys(self, c: Column) -> Words:
        words = self.words(c)
        if self.dtype.kind == "f":
            floats = words.view(np.float64)
            if np.isnan(floats).any():
                raise ValueError("tilehash: NaN is no key")
            words = (floats + 0.0).view(np.uint64)  # one zero
        return words

    def back(self, words: Words) -> Array:
        wide = words.view({"u": np.uint64, "f": np.float64, "i": np.int64}[self.kind])
        if self.dtype.kind in "mM":
            return wide.view(self.dtype)
        return wide.astype(self.dtype, copy=False)

    def one(self, value: Any) -> int:
        return int(self.words(column(np.asarray([value], self.dtype)))[0])


def _as_column(x: Any, dtype: np.dtype[Any] | None) -> Column:
    if np.isscalar(x) or isinstance(x, (list, tuple, range, np.generic)):
        x = np.atleast_1d(np.asarray(x))
        if dtype is not None and x.dtype != dtype and x.dtype.kind in "biuf" and dtype.kind in "biuf":
            cast = x.astype(dtype)
            if not np.array_equal(cast, x):
                raise TypeError(f"tilehash: {x.dtype} numbers do not fit {dtype}")
            x = cast
    return column(x)


def _checked_capacity(capacity: Any, grow: bool) -> int:
    if not isinstance(capacity, (int, np.integer)):
        raise TypeError(f"tilehash: a capacity is an int, not {type(capacity).__name__}")
    if not 0 <= capacity < 2**64:
        raise ValueError(f"tilehash: a capacity is from 0 to 2**64 - 1, not {capacity}")
    if not grow and not capacity:
        raise ValueError("tilehash: grow=False needs a capacity")
    return int(capacity)


class _OnGpu:
    """What Map and Set share: their table may be on a GPU. The first keys decide."""

    _k: _Words | None
    _on_gpu: _gpu.Table | None

    def _moves_to_gpu(self, keys: Any) -> bool:
        """Are the first keys on a GPU?"""
        if self._on_gpu is not None:
            return True
        if not _gpu.on_gpu(keys):
            return False
        if self._k is not None:
            raise TypeError("tilehash: this table is in host memory and the keys are on a GPU")
        return True

    @property
    def device(self) -> str:
        """"cpu", or "cuda:0" for GPU 0."""
        return "cpu" if self._on_gpu is None else f"cuda:{self._on_gpu.device}"


class Map(_OnGpu):
    """One value for each key: numbers of up to 8 bytes. Its types, and its GPU or the CPU, are those of the first
    keys and values.

    Calls of one map may come from several threads: those that change it run one at a time. On a GPU a call works on
    the caller's current stream; lookups do not wait for it. Keys on a GPU are integers of 4 or 8 bytes.

    A map of `grow=False` keeps the capacity for `capacity` keys. Calls that add keys raise TableFull if the map
    refuses some.
    """

    def __init__(self, keys: Any = None, values: Any = None, *, capacity: int = 0, grow: bool = True) -> None:
        self._k: _Words | None = None
        self._v: _Words | None = None
        self._on_gpu: _gpu.Table | None = None
        self._capacity, self._grow = _checked_capacity(capacity, grow), grow
        self._table = _core.Map(0 if _gpu.on_gpu(keys) else self._capacity, grow, get_threads())
        if keys is not None:
            self.insert(keys, values)

    def __len__(self) -> int:
        return self._table.size if self._on_gpu is None else len(self._on_gpu)

    def _of_gpu(self, keys: Any, values: Any) -> _gpu.Table:
        if self._on_gpu is None:
            self._on_gpu = _gpu.Table(keys, values, self._capacity, self._grow)
        return self._on_gpu

    def _items(self, keys: Any, values: Any) -> tuple[Words, Words]:
        k = _as_column(keys, self._k.dtype if self._k else None)
        v = _as_column(values, self._v.dtype if self._v else None)
        if k.size != v.size:
            raise ValueError(f"tilehash: {k.size} keys and {v.size} values")
        if self._k is None or self._v is None:
            if k.values is None or v.values is None:
                raise TypeError("tilehash: keys and values of a table are numbers")
            self._k, self._v = _Words(k.values.dtype, "keys"), _Words(v.values.dtype, "values")
        return self._k.keys(k), self._v.words(v)

    def insert(self, keys: Any, values: Any) -> int:
        """Adds the keys that are not present, the first of equal ones. Returns how many were added."""
        if self._moves_to_gpu(keys):
            return self._of_gpu(keys, values).insert(keys, values)
        return added(self._table.insert(*self._items(keys, values)), self._grow)

    def assign(self, keys: Any, values: Any) -> int:
        """Adds keys and replaces values. Returns how many keys were added.

        The last of equal keys wins; on a GPU any one.
        """
        if self._moves_to_gpu(keys):
            return self._of_gpu(keys, values).assign(keys, values)
        k, v = self._items(keys, values)
        last = _core.codes(_core.numbers(k[::-1], None, False, "uint64"), False, get_threads())[1]
        rows = len(k) - 1 - last.astype(np.int64)
        return added(self._table.assign(k[rows], v[rows]), self._grow)

    def update(self, keys: Any, values: Any, op: Literal["sum", "min", "max"]) -> int:
        """Combines values with those of present keys, and adds the others. Returns how many keys were added."""
        if op not in ("sum", "min", "max"):
            raise ValueError(f"tilehash: no op {op!r}; there are sum, min and max")
        if self._moves_to_gpu(keys):
            return self._of_gpu(keys, values).update(keys, values, op)
        k, v = self._items(keys, values)
        kind = self._v.kind if self._v else "i"
        return added(self._table.update(k, v, op, kind), self._grow)

    def find(self, keys: Any, default: Any = 0) -> Any:
        """The value of each key, or the default where it is absent."""
        if self._moves_to_gpu(keys):
            return _gpu.filled(keys, default, "i", 8) if self._on_gpu is None else self._on_gpu.find(keys, default)
        c = _as_column(keys, self._k.dtype if self._k else None)
        if self._k is None or self._v is None:
            return c.wrap(np.full(c.size, default))
        return c.wrap(self._v.back(self._table.find(self._k.keys(c), self._v.one(default))[0]))

    def contains(self, keys: Any) -> Any:
        """Is each key present?"""
        if self._moves_to_gpu(keys):
            return _gpu.filled(keys, 0, "b", 1) if self._on_gpu is None else self._on_gpu.contains(keys)
        c = _as_column(keys, self._k.dtype if self._k else None)
        if self._k is None:
            return c.wrap(np.zeros(c.size, np.bool_))
        return c.wrap(self._table.find(self._k.keys(c), 0)[1])

    def __contains__(self, key: Any) -> bool:
        return bool(self.contains([key])[0])

    def __getitem__(self, keys: Any) -> Any:
        """The value of each key. Raises KeyError for an absent one; on a GPU it waits to know that."""
        if self._moves_to_gpu(keys):
            if self._on_gpu is None:
                raise KeyError(keys)
            return self._on_gpu.present(keys)
        c = _as_column(keys, self._k.dtype if self._k else None)
        if self._k is None or self._v is None:
            raise KeyError(keys)
        words, found = self._table.find(self._k.keys(c), 0)
        if not found.all():
            raise KeyError(c.values[int(np.argmin(found))] if c.values is not None else keys)
        values = self._v.back(words)
        return values[0] if np.isscalar(keys) or isinstance(keys, np.generic) else c.wrap(values)

    def __setitem__(self, keys: Any, values: Any) -> None:
        self.assign(keys, values)

    def erase(self, keys: Any) -> int:
        """Removes keys. Returns how many were present."""
        if self._moves_to_gpu(keys):
            return 0 if self._on_gpu is None else self._on_gpu.erase(keys)
        c = _as_column(keys, self._k.dtype if self._k else None)
        return 0 if self._k is None else int(self._table.erase(self._k.keys(c)))

    def items(self) -> tuple[Any, Any]:
        """All keys and their values, in no given order."""
        if self._on_gpu is not None:
            return self._on_gpu.items()
        if self._k is None or self._v is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        keys, values = self._table.items()
        return self._k.back(keys), self._v.back(values)

    def to(self, device: str) -> Map:
        """A map of the same items on "cpu" or on a GPU ("cuda", "cuda:1"), or this one if it is on that device already."""
        if device == self.device or (device == "cuda" and self._on_gpu is not None):
            return self
        keys, values = self.items()
        if self._on_gpu is not None:
            keys, values = _gpu.on_host(keys), _gpu.on_host(values)
        if device != "cpu":
            keys, values = _gpu.moved(keys, device), _gpu.moved(values, device)
        return Map(keys, values, capacity=max(len(self), 0 if self._grow else self._capacity), grow=self._grow)


class Set(_OnGpu):
    """A set of numbers of up to 8 bytes; on a GPU, and with `grow=False`, as Map."""

    def __init__(self, keys: Any = None, *, capacity: int = 0, grow: bool = True) -> None:
        self._k: _Words | None = None
        self._on_gpu: _gpu.Table | None = None
        self._capacity, self._grow = _checked_capacity(capacity, grow), grow
        self._table = _core.Set(0 if _gpu.on_gpu(keys) else self._capacity, grow, get_threads())
        if keys is not None:
            self.insert(keys)

    def __len__(self) -> int:
        return self._table.size if self._on_gpu is None else len(self._on_gpu)

    def insert(self, keys: Any) -> int:
        """Adds keys. Returns how many were not present."""
        if self._moves_to_gpu(keys):
            if self._on_gpu is None:
                self._on_gpu = _gpu.Table(keys, None, self._capacity, self._grow)
            return self._on_gpu.insert(keys, None)
        c = _as_column(keys, self._k.dtype if self._k else None)
        if self._k is None:
            if c.values is None:
                raise TypeError("tilehash: keys of a table are numbers")
            self._k = _Words(c.values.dtype, "keys")
        return added(self._table.insert(self._k.keys(c)), self._grow)

    def contains(self, keys: Any) -> Any:
        """Is each key present?"""
        if self._moves_to_gpu(keys):
            return _gpu.filled(keys, 0, "b", 1) if self._on_gpu is None else self._on_gpu.contains(keys)
        c = _as_column(keys, self._k.dtype if self._k else None)
        if self._k is None:
            return c.wrap(np.zeros(c.size, np.bool_))
        return c.wrap(self._table.contains(self._k.keys(c)))

    def __contains__(self, key: Any) -> bool:
        return bool(self.contains([key])[0])

    def erase(self, keys: Any) -> int:
        """Removes keys. Returns how many were present."""
        if self._moves_to_gpu(keys):
            return 0 if self._on_gpu is None else self._on_gpu.erase(keys)
        c = _as_column(keys, self._k.dtype if self._k else None)
        return 0 if self._k is None else int(self._table.erase(self._k.keys(c)))

    def items(self) -> Any:
        """All keys, in no given order."""
        if self._on_gpu is not None:
            return self._on_gpu.items()[0]
        return np.zeros(0, np.int64) if self._k is None else self._k.back(self._table.items())


class MultiMap:
    """All values of each key, built once. Keys are of any type that factorize() takes; values are any array.

    On a GPU both are arrays of that GPU, and so are results.
    """

    def __init__(self, keys: Any, values: Any) -> None:
        self._on_gpu: MultiMapOnGpu | None = None
        if _gpu.on_gpu(keys):
            from ._gpu_groups import MultiMapOnGpu

            self._on_gpu = MultiMapOnGpu(keys, values)
            return
        c, self._values = column(keys), column(values)
        if c.size != self._values.size:
            raise ValueError(f"tilehash: {c.size} keys and {self._values.size} values")
        self._finder = _core.Finder(c.rows(), False, get_threads())
        self._codes = self._finder.codes()
        self._number = len(self._finder.first_rows())

    def __len__(self) -> int:
        return self._values.size if self._on_gpu is None else len(self._on_gpu)

    def retrieve(self, keys: Any) -> tuple[Any, Any]:
        """All values of the keys, in the order of the keys, then of the values.

        Returns (rows, values): value i belongs to keys[rows[i]].
        """
        if self._on_gpu is not None:
            return self._on_gpu.retrieve(keys)
        left = self._finder.find(column(keys).rows())
        rows, right = _core.join(left, self._codes, self._number, False, False, get_threads())
        return rows, self._values.take(right)

    def count(self, keys: Any) -> Any:
        """The number of values of each key."""
        if self._on_gpu is not None:
            return self._on_gpu.count(keys)
        sizes = np.append(_core.sizes(self._codes, self._number, get_threads()), 0)
        left = self._finder.find(column(keys).rows()).astype(np.int64)
        left[left == NO_CODE] = self._number
        result: npt.NDArray[np.int64] = sizes[left]
        return result


class Index:
    """Dense ids 0, 1, 2, ... for keys, in the order in which they first come. Keys are numbers of up to 8 bytes.

    The first keys decide whether the index is on a GPU; keys there are integers of 4 or 8 bytes.
    """

    def __init__(self) -> None:
        self._k: _Words | None = None
        self._on_gpu: IndexOnGpu | None = None
        self._ids = _core.Ids()
        self._keys: list[Words] = []

    def __len__(self) -> int:
        return self._ids.size if self._on_gpu is None else len(self._on_gpu)

    def _rows(self, words: Words) -> _core.Rows:
        return _core.numbers(words, None, False, "uint64")

    def add(self, keys: Any) -> Any:
        """The id of each key; new keys get the next ids."""
        if self._on_gpu is None and self._k is None and _gpu.on_gpu(keys):
            from ._gpu_groups import IndexOnGpu

            self._on_gpu = IndexOnGpu(keys)
        if self._on_gpu is not None:
            return self._on_gpu.add(keys)
        c = _as_column(keys, self._k.dtype if self._k else None)
        if self._k is None:
            if c.values is None:
                raise TypeError("tilehash: keys of a table are numbers")
            self._k = _Words(c.values.dtype, "keys")
        words, before = self._k.keys(c), len(self)
        ids = self._ids.add(self._rows(words))
        new = np.empty(len(self) - before, np.uint64)
        fresh = ids >= before
        new[ids[fresh] - before] = words[fresh]
        self._keys.append(new)
        return c.wrap(ids)

    def find(self, keys: Any, default: int = -1) -> Any:
        """The id of each key, or the default where it is absent."""
        if self._on_gpu is not None:
            return self._on_gpu.find(keys, default)
        if self._k is None and _gpu.on_gpu(keys):
            return _gpu.filled(keys, default, "i", 8)
        c = _as_column(keys, self._k.dtype if self._k else None)
        if self._k is None:
            return c.wrap(np.full(c.size, default, np.int64))
        return c.wrap(self._ids.find(self._rows(self._k.keys(c)), default, get_threads()))

    def keys_of(self, ids: Any) -> Any:
        """The keys of ids. Raises IndexError for an id that is no key's."""
        if self._on_gpu is not None:
            return self._on_gpu.keys_of(ids)
        wanted = np.asarray(ids)
        if wanted.size and (wanted.min() < 0 or wanted.max() >= len(self)):
            raise IndexError(f"tilehash: ids are from 0 to {len(self) - 1}")
        if self._k is None:
            return np.zeros(0, np.int64)
        if len(self._keys) > 1:
            self._keys = [np.concatenate(self._keys)]
        return self._k.back(self._keys[0][wanted])


__all__ = ["Index", "Map", "MultiMap", "Set"]
