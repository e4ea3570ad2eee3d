# SPDX-License-Identifier: Apache-2.0
"""Groups and joins of arrays on a GPU, and the tables that are made of their codes."""

from __future__ import annotations

from typing import Any

from ._errors import added
from ._gpu import Array, Factors, array, columns, given_back, module, on_gpu, same_gpu, taken, words
from ._groups import ARGUMENTS, Groups

_NUMBERS = {"mean", "var", "std", "median", "quantile"}
_NO_CODE = 0xFFFFFFFF
_TOGETHER = {"sum", "min", "max", "count", "mean"}  # reductions that one pass over the rows makes of several columns


def _read_columns(x: Any, what: str, like: Array | None) -> list[Array]:
    """The columns of keys that are of one dimension, or rows of two."""
    if not on_gpu(x):
        raise TypeError(f"tilehash: the first keys are on a GPU and {what} in host memory")
    found = columns(x)
    for a in found:
        if a.kind not in "biuf" or a.bytes > 8:
            raise TypeError(f"tilehash: arrays of {a.name} on a GPU are not supported")
        if like is not None:
            same_gpu(like, a, what)
    return found


def _read(x: Any, what: str, like: Array | None) -> Array:
    found = _read_columns(x, what, like)
    if found[0].of_row:
        raise ValueError(f"tilehash: this call takes arrays of one dimension on a GPU; {what} of two")
    return found[0]


class _Codes:
    """The codes of rows of several columns, as words of 32 bits in memory of the caller's library."""

    def __init__(self, columns: list[Array], missing_is_key: bool) -> None:
        a = columns[0]
        self.a, self.size = a, a.size
        self._made: Any = None
        if len(columns) > 1 and all(c.kind in "iub" for c in columns):
            out = a.library.empty(a, a.size, "i", 4)
            given = [c.column for c in columns]
            made = module().group_columns(a.device, a.stream, given, a.size, a.library.address(out))
            if made is not None:
                self._made, self.words = made, out
                return
        self._of(Factors(a, missing_is_key or a.of_row))
        for column in columns[1:]:
            self._combine(Factors(column, missing_is_key or column.of_row))

    def _of(self, f: Factors) -> None:
        self._made, self.words = f.made, f.words

    def _combine(self, f: Factors) -> None:
        a, codes = self.a, self.words
        out = a.library.empty(a, a.size, "i", 4)
        self._made = module().combine(
            a.device,
            a.stream,
            a.library.address(codes),
            a.library.address(f.words),
            a.size,
            max(len(f), 1),
            a.library.address(out),
        )
        self.words = out

    def __len__(self) -> int:
        return int(self._made.size)

    @property
    def address(self) -> int:
        return int(self.a.library.address(self.words))

    def combined(self, f: Factors) -> Any:
        """The first rows of the pairs of these codes and those of `f`, as int64."""
        both = _Codes.__new__(_Codes)
        both.a, both.size, both.words = self.a, self.size, self.words
        both._combine(f)
        return both.first_rows()

    def first_rows(self) -> Any:
        out = self.a.library.empty(self.a, len(self), "i", 8)
        self._made.first_rows(self.a.library.address(out))
        return out

    def codes(self) -> Any:
        out = self.a.library.empty(self.a, self.size, "i", 8)
        self._made.codes(self.a.library.address(out))
        return out

    def reduced(self, column: tuple[int, int, str, int], op: str, argument: float, kind: str, size: int) -> Any:
        a, groups = self.a, len(self)
        out = a.library.empty(a, groups, kind, size)
        module().reduce(
            a.device, a.stream, self.address, self.size, groups, column, op, argument, a.library.address(out)
        )
        return out

    def reduced_together(self, wanted: list[tuple[Array, str, str, int]]) -> list[Any]:
        """The reductions (column, op, kind, size) of one pass."""
        a, groups = self.a, len(self)
        out = [a.library.empty(a, groups, kind, size) for _, _, kind, size in wanted]
        module().reduce_many(
            a.device,
            a.stream,
            self.address,
            self.size,
            groups,
            [column.column for column, _, _, _ in wanted],
            [op for _, op, _, _ in wanted],
            [a.library.address(o) for o in out],
        )
        return out

    def sizes(self) -> Any:
        return self.reduced((0, 0, "i", 8), "count", 0.0, "i", 8)


class RowFactors:
    """As Factors, of the rows of an array of two dimensions. NaN is a value."""

    def __init__(self, x: Any, parts: list[Array]) -> None:
        self.a, self._x, self._all = parts[0], x, _Codes(parts, True)
        self._rows = self._all.first_rows()

    def __len__(self) -> int:
        return len(self._all)

    def codes(self) -> Any:
        return self._all.codes()

    def first_rows(self) -> Any:
        return self._rows

    def values(self) -> Any:
        return self._x[self._rows]

    def counts(self) -> Any:
        return self._all.sizes()

    def order(self, values: Any) -> tuple[Any, Any]:
        raise TypeError("tilehash: rows of two dimensions have no order; use sort=False")


def rows_among(keys: list[Array], values: Any) -> Any:
    """isin() of rows."""
    a, wanted = keys[0], _read_columns(values, "the values are", keys[0])
    codes = _Codes(_stacked(keys, wanted), True)
    out = a.library.empty(a, a.size, "b", 1)
    module().isin(
        "u32", a.device, a.stream, codes.address, a.size, codes.address + 4 * a.size, wanted[0].size, a.library.address(out)
    )
    return given_back(a, out)


class GroupsOnGpu(Groups):
    """Groups of rows whose keys are on a GPU."""

    def __init__(self, *keys: Any, dropna: bool = True) -> None:
        first = columns(keys[0])[0]
        self._keys = [(k, _read_columns(k, "another key column is", first if i else None)) for i, k in enumerate(keys)]
        parts = [a for _, found in self._keys for a in found]
        sizes = {a.size for a in parts}
        if len(sizes) != 1:
            raise ValueError(f"tilehash: the key columns differ in length: {sorted(sizes)}")
        self._all = _Codes(parts, not dropna)
        self._rows = self._all.first_rows()

    def __len__(self) -> int:
        return len(self._all)

    @property
    def codes(self) -> Any:
        """The group of each row; -1 if a key is missing."""
        return given_back(self._all.a, self._all.codes())

    @property
    def keys(self) -> tuple[Any, ...]:
        """The keys of the groups: an array for each key column, in the caller's kind."""
        return tuple(k[self._rows] if a[0].of_row else given_back(a[0], taken(a[0], self._rows)) for k, a in self._keys)

    def size(self) -> Any:
        """The rows of each group."""
        return given_back(self._all.a, self._all.sizes())

    def _user(self, values: Any, reduce: Any) -> Any:
        raise TypeError("tilehash: a function reduces arrays in host memory; use g.codes with the GPU library's own operations")

    def _column(self, values: Any) -> Array:
        a = _read(values, "the values are", self._all.a)
        if a.size != self._all.size:
            raise ValueError(f"tilehash: {a.size} values for {self._all.size} rows")
        return a

    @staticmethod
    def _result(a: Array, op: str) -> tuple[str, int]:
        """The kind of the op's results, and their bytes."""
        if op == "sum":
            return ("f" if a.kind == "f" else "i" if a.kind == "i" else a.library.sums), 8
        if op in _NUMBERS:
            return "f", 8
        if op in ("any", "all"):
            return "b", 1
        return ("i", 8) if op in ("count", "argmin", "argmax") else (a.kind, a.bytes)

    def agg(self, **reductions: Any) -> dict[str, Any]:
        together = {
            name: how
            for name, how in reductions.items()
            if isinstance(how, tuple) and len(how) == 2 and isinstance(how[1], str) and how[1] in _TOGETHER
        }
        wanted = []
        for values, op in together.values():
            a = self._column(values)
            wanted.append((a, op, *self._result(a, op)))
        made = dict(zip(together, self._all.reduced_together(wanted) if wanted else []))
        return {
            name: given_back(self._all.a, made[name]) if name in made else self._reduced(how)
            for name, how in reductions.items()
        }

    def _sum(self, values: Any) -> Any:
        a = self._column(values)
        if a.kind != "f":
            return self._reduced((values, "sum"))
        return given_back(self._all.a, self._all.reduced(a.column, "reproducible_sum", 0.0, "f", 8))

    def _values(self, values: Any, op: str, argument: Any) -> Any:
        like = self._all.a
        a = self._column(values)
        if op == "nunique":
            rows = self._all.combined(Factors(a, False))
            return given_back(like, self._of_rows(rows))
        if op in _TOGETHER:
            return given_back(like, self._all.reduced_together([(a, op, *self._result(a, op))])[0])
        kind, size = self._result(a, op)
        name = "quantile" if op == "median" else op
        given = ARGUMENTS[op](argument) if op in ARGUMENTS else 0.0
        return given_back(like, self._all.reduced(a.column, name, given, kind, size))

    def _of_rows(self, rows: Any) -> Any:
        """How many of these rows each group has."""
        a = self._all.a
        codes = Array(self._all.address, self._all.size, "i", 4, a.device, a.library, self._all.words)
        of = taken(codes, rows)
        out = a.library.empty(a, len(self), "i", 8)
        address = a.library.address
        module().reduce(
            a.device, a.stream, address(of), len(rows), len(self), (0, 0, "i", 8), "count", 0.0, address(out)
        )
        return out


def _both(left: Array, right: Array) -> Array:
    """The keys of both sides in one array."""
    if (left.kind, left.bytes) != (right.kind, right.bytes):
        raise TypeError(f"tilehash: left keys of {left.name} and right keys of {right.name} are of different types")
    kind, size = "u" if left.kind == "b" else left.kind, max(left.bytes, 4)
    out = left.library.empty(left, left.size + right.size, "i" if kind == "u" else kind, size)
    address = left.library.address(out)
    module().widen(left.device, left.stream, left.column, left.size, address, size)
    module().widen(left.device, left.stream, right.column, right.size, address + left.size * size, size)
    return Array(address, left.size + right.size, kind, size, left.device, left.library, out)


def _stacked(left: list[Array], right: list[Array]) -> list[Array]:
    """Each column of both sides in one array."""
    if len(left) != len(right):
        raise TypeError(f"tilehash: rows of {len(left)} and of {len(right)} columns are of different types")
    return [_both(l, r)._replace(of_row=l.of_row) for l, r in zip(left, right)]


def _joined(a: Array, left: int, n: int, right: int, m: int, number: int, how: str) -> Any:
    made = module().join(a.device, a.stream, left, n, right, m, max(number, 1), how)
    lefts = a.library.empty(a, made.size, "i", 8)
    made.left(a.library.address(lefts))
    if how in ("semi", "anti"):
        return lefts
    rights = a.library.empty(a, made.size, "i", 8)
    made.right(a.library.address(rights))
    return lefts, rights


def join(left: list[Any], right: list[Any], how: str, nulls_equal: bool) -> Any:
    """As join() for columns that have been counted; how is not "right"."""
    first = columns(left[0])[0]
    sides = [[a for k in side for a in _read_columns(k, "other keys are", first)] for side in (left, right)]
    for side in sides:
        if len({a.size for a in side}) != 1:
            raise ValueError("tilehash: the key columns of a side differ in length")
    n, m = sides[0][0].size, sides[1][0].size
    codes = _Codes(_stacked(*sides), nulls_equal)
    rows = _joined(first, codes.address, n, codes.address + 4 * n, m, len(codes), how)
    if isinstance(rows, tuple):
        return given_back(first, rows[0]), given_back(first, rows[1])
    return given_back(first, rows)


class MultiMapOnGpu:
    """The codes of keys, a table from keys to codes, and the values."""

    def __init__(self, keys: Any, values: Any) -> None:
        a = array(keys)
        self._values = _read(values, "the values are", a)
        if a.size != self._values.size:
            raise ValueError(f"tilehash: {a.size} keys and {self._values.size} values")
        self._type, self._like = (a.kind, a.bytes), a
        self._codes = _Codes([a], False)
        w = self._words(a)
        self._table = module().table(w.bytes, 4, a.device, a.stream, len(self._codes), True)
        added(self._table.insert(a.stream, w.address, self._codes.address, a.size), True)

    def __len__(self) -> int:
        return self._values.size

    @staticmethod
    def _words(a: Array) -> Array:
        """Equal keys have equal bits: floats are copied, which makes one zero of two."""
        return words(a._replace(stride=a.column[1]) if a.kind == "f" else a)

    def _found(self, keys: Any) -> tuple[Array, Any]:
        a = _read(keys, "the keys are", self._like)
        if (a.kind, a.bytes) != self._type:
            raise TypeError(f"tilehash: this table has keys of {self._like.name}, not {a.name}")
        w = self._words(a)
        found = a.library.empty(a, a.size, "i", 4)
        self._table.find(a.stream, w.address, a.size, a.library.address(found), _NO_CODE)
        return a, found

    def retrieve(self, keys: Any) -> tuple[Any, Any]:
        a, found = self._found(keys)
        address = a.library.address(found)
        rows, right = _joined(a, address, a.size, self._codes.address, self._codes.size, len(self._codes), "inner")
        return given_back(a, rows), given_back(self._values, taken(self._values, right))

    def count(self, keys: Any) -> Any:
        a, found = self._found(keys)
        sizes = self._codes.sizes()
        rows = a.library.empty(a, a.size, "i", 8)
        address = a.library.address
        module().widen(a.device, a.stream, (address(found), 4, "i", 4), a.size, address(rows), 8)
        of = Array(address(sizes), len(self._codes), "i", 8, a.device, a.library, sizes)
        return given_back(a, taken(of, rows))


class IndexOnGpu:
    """Ids of keys on a GPU."""

    def __init__(self, keys: Any) -> None:
        a = array(keys)
        if a.kind not in "iu" or a.bytes < 4:
            raise TypeError(f"tilehash: keys of an Index on a GPU are integers of 4 or 8 bytes, not {a.name}")
        self._like, self._type = a, (a.kind, a.bytes)
        self._index = module().index(a.device, a.stream, a.bytes)

    def __len__(self) -> int:
        return int(self._index.size)

    def _keys(self, keys: Any) -> Array:
        a = _read(keys, "the keys are", self._like)
        if (a.kind, a.bytes) != self._type:
            raise TypeError(f"tilehash: this table has keys of {self._like.name}, not {a.name}")
        return words(a)

    def add(self, keys: Any) -> Any:
        a = self._keys(keys)
        ids = a.library.empty(a, a.size, "i", 8)
        self._index.add(a.stream, a.address, a.size, a.library.address(ids))
        return given_back(a, ids)

    def find(self, keys: Any, default: int) -> Any:
        a = self._keys(keys)
        ids = a.library.empty(a, a.size, "i", 8)
        self._index.find(a.stream, a.address, a.size, a.library.address(ids), default)
        return given_back(a, ids)

    def keys_of(self, ids: Any) -> Any:
        given = _read(ids, "the ids are", self._like)
        if given.kind != "i":
            raise TypeError(f"tilehash: ids are signed integers, not {given.name}")
        a = given
        if a.bytes != 8 or a.stride is not None:
            out = a.library.empty(a, a.size, "i", 8)
            module().widen(a.device, a.stream, a.column, a.size, a.library.address(out), 8)
            a = Array(a.library.address(out), a.size, "i", 8, a.device, a.library, out)
        keys = a.library.empty(a, a.size, *self._type)
        if not self._index.keys_of(a.stream, a.address, a.size, a.library.address(keys)):
            raise IndexError(f"tilehash: ids are from 0 to {len(self) - 1}")
        return given_back(a, keys)


__all__ = ["GroupsOnGpu", "IndexOnGpu", "MultiMapOnGpu", "join"]
