# SPDX-License-Identifier: Apache-2.0
"""The Python side of arrays on a GPU, with a module of NumPy in the place of tilehash._cuda.

tests/check_gpu.py has the tests that need a GPU.
"""

import ctypes

import numpy as np
import pytest

import tilehash as th
from tilehash import _gpu

WORDS = {"u32": "u4", "u64": "u8", "f32": "f4", "f64": "f8"}


def at(address, n, dtype):
    if n == 0:
        return np.zeros(0, dtype)
    size = n * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype)


def column(given, n):
    address, stride, kind, size = given
    dtype = np.dtype("?" if kind == "b" else f"{kind}{size}")
    if n == 0:
        return np.zeros(0, dtype)
    first = address + min(0, stride * (n - 1))
    memory = (ctypes.c_char * (abs(stride) * (n - 1) + size)).from_address(first)
    return np.ndarray((n,), dtype, memory, address - first, (stride,))


class Factors:
    def __init__(self, keys, missing_is_key, codes=0):
        self.keys = keys
        self._codes, _ = th.factorize(keys, use_na_sentinel=not missing_is_key)
        if codes:
            at(codes, len(keys), "i4")[:] = self._codes
        self._first = np.array([np.flatnonzero(self._codes == c)[0] for c in range(self._codes.max(initial=-1) + 1)], "i8")
        self.size = len(self._first)

    def codes(self, out):
        at(out, len(self._codes), "i8")[:] = self._codes

    def first_rows(self, out):
        at(out, self.size, "i8")[:] = self._first

    def values(self, out):
        at(out, self.size, self.keys.dtype)[:] = self.keys[self._first]

    def counts(self, out):
        at(out, self.size, "i8")[:] = np.bincount(self._codes[self._codes >= 0], minlength=self.size)


class Memory:
    def __init__(self, n, dtype):
        self.array = np.zeros(n, dtype)
        self.address = self.array.ctypes.data


class Table:
    def __init__(self, key, value, limit):
        self.key, self.value, self.limit, self.items_of = key, value, limit, {}

    @property
    def size(self):
        return len(self.items_of)

    def update(self, device, stream, key_bytes, keys, values, n, op):
        before, combine = self.size, {"sum": np.add, "min": np.minimum, "max": np.maximum}[op]
        given = column(values, n)
        of = given.dtype
        for k, v in zip(at(keys, n, self.key).tolist(), given):
            if k in self.items_of:
                v = combine(np.array(self.items_of[k], self.value).view(of)[()], v)
            self.items_of[k] = np.array(v, of).view(self.value)[()]
        return self.size - before, 0, 0

    def insert(self, stream, keys, values, n):
        before, refused = self.size, 0
        for i, k in enumerate(at(keys, n, self.key).tolist()):
            if self.size == self.limit and k not in self.items_of:
                refused += 1
            else:
                self.items_of.setdefault(k, at(values, n, self.value)[i] if self.value else None)
        return self.size - before, n - refused - (self.size - before), refused

    def find(self, stream, keys, n, values, missing):
        words = [self.items_of.get(k, missing) for k in at(keys, n, self.key).tolist()]
        at(values, n, self.value)[:] = words

    def contains(self, stream, keys, n, out):
        at(out, n, "?")[:] = [k in self.items_of for k in at(keys, n, self.key).tolist()]

    def erase(self, stream, keys, n):
        return sum(self.items_of.pop(k, self) is not self for k in at(keys, n, self.key).tolist())


class Joined:
    def __init__(self, rows):
        self.rows = rows if isinstance(rows, tuple) else (rows,)
        self.size = len(self.rows[0])

    def left(self, out):
        at(out, self.size, "i8")[:] = self.rows[0]

    def right(self, out):
        at(out, self.size, "i8")[:] = self.rows[1]


class Index:
    def __init__(self, size):
        self.of, self.dtype = th.Index(), f"u{size}"

    @property
    def size(self):
        return len(self.of)

    def add(self, stream, keys, n, ids):
        at(ids, n, "i8")[:] = self.of.add(at(keys, n, self.dtype))

    def find(self, stream, keys, n, ids, missing):
        at(ids, n, "i8")[:] = self.of.find(at(keys, n, self.dtype), missing)

    def keys_of(self, stream, ids, n, keys):
        ids = at(ids, n, "i8")
        if ids.min(initial=0) < 0 or ids.max(initial=-1) >= self.size:
            return False
        at(keys, n, self.dtype)[:] = self.of.keys_of(ids)
        return True


class Module:
    """As binding.cpp. It notes the streams of the calls."""

    packed_bits = 64

    def __init__(self):
        self.streams = []

    def factorize(self, key, device, stream, keys, n, missing_is_key, codes):
        self.streams.append(stream)
        return Factors(at(keys, n, WORDS[key]), missing_is_key, codes)

    def unique(self, key, device, stream, keys, n):
        return self.factorize(key, device, stream, keys, n, True, 0)

    def fill(self, device, stream, out, n, word, size):
        at(out, n, f"u{size}")[:] = word

    def widen(self, device, stream, given, n, out, size):
        given_column = column(given, n)
        kind = {"b": "u"}.get(given[2], given[2])
        at(out, n, f"{kind}{size}")[:] = given_column + 0.0 if kind == "f" else given_column

    def gather(self, device, stream, given, rows, n, out):
        rows = at(rows, n, "i8")
        all_rows = column(given, int(rows.max(initial=-1)) + 1)
        at(out, n, all_rows.dtype)[:] = [all_rows[r] if r >= 0 else 0 for r in rows]

    def group_columns(self, device, stream, columns, n, out):
        parts = [np.unique(column(c, n), return_inverse=True)[1].astype("u8") for c in columns]
        bits = [int(p.max(initial=0)).bit_length() for p in parts]
        if sum(bits) > self.packed_bits:
            return None
        key = np.zeros(n, "u8")
        for part, shift in zip(parts, np.cumsum([0, *bits[:-1]])):
            key |= part << np.uint64(shift)
        return Factors(key, False, out)

    def combine(self, device, stream, codes, more, n, number, out):
        a, b = at(codes, n, "i4"), at(more, n, "i4")
        assert b.max(initial=-1) < number
        pairs = np.where((a < 0) | (b < 0), np.nan, a.astype("f8") * number + b)
        return Factors(pairs, False, out)

    def reduce(self, device, stream, codes, n, groups, given, op, argument, out):
        codes = at(codes, n, "i4")
        if given[0] == 0:
            at(out, groups, "i8")[:] = np.bincount(codes[codes >= 0], minlength=groups)
            return
        op = {"reproducible_sum": "sum"}.get(op, op)
        g = th.group_by(np.where(codes < 0, np.nan, codes))
        result = g.agg(x=(column(given, n), op, argument) if op in ("var", "std", "quantile") else (column(given, n), op))["x"]
        order = g.keys[0].astype("i8")
        wanted = at(out, groups, result.dtype)
        wanted[order] = result

    def reduce_many(self, device, stream, codes, n, groups, columns, ops, outs):
        for given, op, out in zip(columns, ops, outs):
            self.reduce(device, stream, codes, n, groups, given, op, 0.0, out)

    def join(self, device, stream, left, n, right, m, number, kind):
        l, r = (np.where(c < 0, np.nan, c) for c in (at(left, n, "i4"), at(right, m, "i4")))
        return Joined(th.join(l, r, how=kind))

    def index(self, device, stream, size):
        return Index(size)

    def isin(self, key, device, stream, keys, n, wanted, m, out):
        at(out, n, "?")[:] = np.isin(at(keys, n, WORDS[key]), at(wanted, m, WORDS[key]))

    def memory(self, device, stream, n, kind, size):
        return Memory(n, f"{kind}{size}" if kind != "b" else "?")

    def table(self, key, value, device, stream, capacity, grow):
        return Table(f"u{key}", f"u{value}" if value else None, None if grow else capacity)


class OnGpu:
    """Host memory that says that it is a GPU's."""

    def __init__(self, values, stream=None):
        self.array = np.asarray(values)
        self.__cuda_array_interface__ = {**self.array.__array_interface__, "version": 3, "stream": stream, "strides": self.array.strides}


class CuPyArray(np.ndarray):
    """Host memory that passes for an array of CuPy."""

    __cuda_array_interface__ = {}


CuPyArray.__module__ = "cupy"


class CuPy:
    """The place of _gpu._CuPy."""

    sums = "u"

    def stream(self, device):
        return 5

    def read(self, x):
        _gpu._checked(x.ndim)
        return _gpu.Array(x.ctypes.data, x.size, x.dtype.kind, x.dtype.itemsize, 0, self, x, None if x.flags.c_contiguous else x.strides[0])

    def empty(self, a, n, kind, size):
        return np.empty(n, f"{kind}{size}" if kind != "b" else "?").view(CuPyArray)

    def address(self, x):
        return x.ctypes.data

    def given(self, a, values):
        return np.asarray(values).view(CuPyArray)


def host(x):
    return x._memory.array if isinstance(x, _gpu.DeviceArray) else x


@pytest.fixture
def module(monkeypatch):
    made = Module()
    monkeypatch.setattr(_gpu, "_module", made)
    return made


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_results_are_written_to_arrays_of_the_keys_type(module, dtype):
    k = np.array([7, 4, 7, 9, 4], dtype)
    codes, values = th.factorize(OnGpu(k))
    assert host(codes).tolist() == [0, 1, 0, 2, 1] and host(values).tolist() == [7, 4, 9] and host(values).dtype == dtype
    r = th.unique(OnGpu(k), return_index=True, return_inverse=True, return_counts=True)
    assert [host(x).tolist() for x in r] == [[7, 4, 9], [0, 1, 3], [0, 1, 0, 2, 1], [2, 2, 1]]
    assert host(th.isin(OnGpu(k), OnGpu(k[:2]))).tolist() == [True, True, True, False, True]
    assert [host(x).tolist() for x in th.value_counts(OnGpu(k))] == [[7, 4, 9], [2, 2, 1]]
    assert th.unique(OnGpu(k[:0])).shape == (0,)


def test_missing_keys(module):
    k = OnGpu(np.array([1.0, np.nan, 1.0, np.nan]))
    assert host(th.factorize(k)[0]).tolist() == [0, -1, 0, -1]
    assert host(th.factorize(k, use_na_sentinel=False)[0]).tolist() == [0, 1, 0, 1]


def test_calls_work_on_the_stream_of_the_array(module):
    th.factorize(OnGpu([1, 2], stream=77))
    th.factorize(OnGpu([1, 2]))
    assert module.streams == [77, 1]  # 1 is the legacy default stream


@pytest.fixture
def cupy(module, monkeypatch):
    monkeypatch.setitem(_gpu._libraries, "cupy", CuPy())
    return lambda x: np.asarray(x).view(CuPyArray)


@pytest.mark.parametrize("bits", [64, 0])
@pytest.mark.parametrize("dtype,n,width", [("i4", 300, 2), ("i8", 300, 1), ("u1", 300, 3), ("f8", 300, 2), ("?", 300, 2), ("i4", 0, 2)])
def test_rows_of_two_dimensions_are_keys(module, cupy, bits, dtype, n, width):
    module.packed_bits = bits
    rng = np.random.default_rng(4)
    rows, other = (rng.integers(0, 4, (m, width)).astype(dtype) for m in (n, 40))
    if dtype == "f8":
        rows[::7, 0], other[::5, 1] = np.nan, np.nan
    v = np.arange(n) / 2
    for x, y in ((rows, other), (rows[::2], other[:1]), (np.asfortranarray(rows), other)):
        w = v[: len(x)]
        for ours, theirs in zip(th.factorize(cupy(x)), th.factorize(x)):
            assert type(ours) is CuPyArray
            np.testing.assert_array_equal(ours, theirs)
        ours, theirs = (th.unique(k, return_index=True, return_inverse=True, return_counts=True) for k in (cupy(x), x))
        for a, b in zip([*ours, *th.value_counts(cupy(x))], [*theirs, *th.value_counts(x)]):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(th.isin(cupy(x), cupy(y)), th.isin(x, y))
        ours, theirs = th.group_by(cupy(x), cupy(w)), th.group_by(x, w)
        assert len(ours) == len(theirs) and ours.keys[0].shape == theirs.keys[0].shape
        for a, b in zip([*ours.keys, ours.codes, ours.sum(cupy(w))], [*theirs.keys, theirs.codes, theirs.sum(w)]):
            np.testing.assert_array_equal(a, b)
        for how in ("inner", "outer"):
            for a, b in zip(th.join(cupy(x), cupy(y), how=how), th.join(x, y, how=how)):
                np.testing.assert_array_equal(a, b)


def test_refused_rows_of_two_dimensions(cupy):
    rows, k = cupy(np.zeros((3, 2), "i4")), cupy(np.arange(3))
    for call, error, words in [
        (lambda: th.factorize(rows, sort=True), TypeError, "no order"),
        (lambda: th.isin(rows, cupy(np.zeros((3, 1), "i4"))), TypeError, "2 and of 1 columns"),
        (lambda: th.isin(rows, cupy(np.zeros((3, 2)))), TypeError, "int32.*float64"),
        (lambda: th.isin(rows, np.zeros((3, 2), "i4")), TypeError, "host memory"),
        (lambda: th.join(rows, k), TypeError, "2 and of 1 columns"),
        (lambda: th.group_by(k).sum(rows), ValueError, "one dimension"),
        (lambda: th.MultiMap(rows, k), ValueError, "one dimension"),
        (lambda: th.Map(rows, k), ValueError, "one dimension"),
        (lambda: th.Index().add(rows), ValueError, "one dimension"),
        (lambda: th.unique(cupy(np.zeros((3, 0)))), ValueError, r"\(3, 0\)"),
        (lambda: th.unique(cupy(np.zeros((3, 2, 2)))), ValueError, r"\(3, 2, 2\)"),
        (lambda: th.group_by(k).agg(x=(k, np.multiply)), TypeError, "host memory"),
    ]:
        with pytest.raises(error, match=words) as raised:
            call()
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
def test_merges_of_dicts(cupy, how):
    left = {"id": np.array([3, 1, 3, 7]), "v": np.arange(4), "x": np.arange(4.0)}
    right = {"v": np.array([5, 6, 7], "f4"), "id": np.array([3, 9, 3])}
    ours = th.merge(*[{n: cupy(x) for n, x in frame.items()} for frame in (left, right)], on="id", how=how)
    wanted = th.merge(left, right, on="id", how=how)
    assert list(ours) == list(wanted)
    for name in wanted:
        assert type(ours[name]) is CuPyArray and ours[name].dtype == wanted[name].dtype
        np.testing.assert_array_equal(ours[name], wanted[name])


class Masked(OnGpu):
    def __init__(self, values):
        super().__init__(values)
        self.__cuda_array_interface__["mask"] = OnGpu([1])


class Strings:
    """A column of cuDF that is no array of numbers."""

    @property
    def __cuda_array_interface__(self):
        raise NotImplementedError("strings")


Strings.__module__ = "cudf.core.series"


def test_other_columns_are_refused_in_one_line(module):
    for x, words in [
        (OnGpu(np.array(["2026-01-01"], "M8[D]").view("i8")), None),
        (OnGpu(np.zeros(1, "S4")), "S|V"),
        (Masked([1]), "mask"),
        (Strings(), "copy strings"),
    ]:
        for call in (th.factorize, th.unique, th.group_by, lambda k: th.join(k, k), lambda k: th.isin(k, k), th.Set):
            if words is None:
                call(x)
                continue
            with pytest.raises(TypeError, match=words) as raised:
                call(x)
            assert "\n" not in str(raised.value)
    dates = OnGpu([1])
    dates.__cuda_array_interface__["typestr"] = "<M8[ns]"
    with pytest.raises(TypeError, match="datetime64.*view it as int64"):
        th.factorize(dates)


def test_tables(module):
    k, v = np.array([5, 6, 7]), np.array([50, 60, 70], "f4")
    m = th.Map(OnGpu(k), OnGpu(v))
    assert m.device == "cuda:0" and len(m) == 3
    assert host(m.find(OnGpu([7, 8]), default=-1.5)).tolist() == [70, -1.5]
    assert host(m.contains(OnGpu([7, 8]))).tolist() == [True, False]
    assert m.erase(OnGpu([6, 8])) == 1 and len(m) == 2
    s = th.Set(OnGpu(k))
    assert s.insert(OnGpu([5, 9])) == 1 and host(s.contains(OnGpu([9, 10]))).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "?", "f2"])
def test_narrow_keys_are_widened(module, dtype):
    k = np.array([1, 0, 1, 1, 0], dtype)
    codes, values = th.factorize(OnGpu(k))
    assert host(codes).tolist() == [0, 1, 0, 0, 1] and host(values).tolist() == [1, 0] and host(values).dtype == dtype
    assert host(th.isin(OnGpu(k), OnGpu(k[1:2]))).tolist() == (k == 0).tolist()


@pytest.mark.parametrize("step", [2, 3, -1])
def test_strided_arrays(module, step):
    k, v = np.array([7, 4, 7, 9, 4, 9, 1])[::step], np.arange(14.0)[::2][::step]
    for ours, theirs in zip(th.factorize(OnGpu(k)), th.factorize(k)):
        assert host(ours).tolist() == theirs.tolist()
    assert host(th.group_by(OnGpu(k)).sum(OnGpu(v))).tolist() == th.group_by(k).sum(v).tolist()
    m = th.Map(OnGpu(np.unique(k)), OnGpu(np.unique(k)))
    assert host(m.find(OnGpu(k))).tolist() == k.tolist()


@pytest.mark.parametrize("bits", [64, 0])
def test_groups(module, bits):
    module.packed_bits = bits
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 5, 300, "i4"), rng.integers(-2, 3, 300, "i8")
    f = rng.integers(0, 4, 300) / 2
    f[rng.random(300) < 0.2] = np.nan
    v = rng.normal(size=300).astype("f4")
    v[rng.random(300) < 0.1] = np.nan
    for by in ([a], [a, b], [f], [a, f], [f, b, a]):
        for dropna in (True, False):
            ours, wanted = th.group_by(*map(OnGpu, by), dropna=dropna), th.group_by(*by, dropna=dropna)
            assert len(ours) == len(wanted)
            np.testing.assert_array_equal(host(ours.codes), wanted.codes)
            np.testing.assert_array_equal(host(ours.size()), wanted.size())
            for x, y in zip(ours.keys, wanted.keys):
                np.testing.assert_array_equal(host(x), y)
            for values in (v, a, b):
                for op in ("sum", "mean", "var", "std", "min", "max", "first", "last", "count", "argmin", "argmax", "any", "all", "median", "nunique"):
                    x, y = (g.agg(x=(values if g is wanted else OnGpu(values), op))["x"] for g in (ours, wanted))
                    np.testing.assert_allclose(host(x), y, err_msg=op)
                    assert host(x).dtype == y.dtype or op in ("min", "max", "first", "last"), op
            for values in (v, a):
                np.testing.assert_allclose(host(ours.sum(OnGpu(values), deterministic=True)), wanted.sum(values, deterministic=True))
            several = {"most": (v, "max"), "n": "count", "all": (a, "sum"), "rows": "size", "var": (v, "var", 0), "least": (b, "min")}
            on_gpu = {k: how if isinstance(how, str) else (OnGpu(how[0]), *how[1:]) for k, how in several.items()}
            x, y = ours.agg(**on_gpu), wanted.agg(**several)
            assert list(x) == list(several)
            for name in several:
                np.testing.assert_allclose(host(x[name]), y[name], err_msg=name)


def test_joins(module):
    left, right = np.array([7, 4, 9, 7]), np.array([9, 7, 7, 5])
    for how in ("inner", "left", "right", "outer"):
        for ours, theirs in zip(th.join(OnGpu(left), OnGpu(right), how=how), th.join(left, right, how=how)):
            np.testing.assert_array_equal(host(ours), theirs)
    for how in ("semi", "anti"):
        np.testing.assert_array_equal(host(th.join(OnGpu(left), OnGpu(right), how=how)), th.join(left, right, how=how))
    sides = [left, left % 2], [right, right % 2]
    for ours, theirs in zip(th.join(*[list(map(OnGpu, s)) for s in sides]), th.join(*sides)):
        np.testing.assert_array_equal(host(ours), theirs)
    nan = np.array([1.0, np.nan])
    assert len(th.join(OnGpu(nan), OnGpu(nan))[0]) == 1
    assert len(th.join(OnGpu(nan), OnGpu(nan), nulls_equal=True)[0]) == 2


def test_multimaps(module):
    k, v, q = np.array([7, 4, 7, 9]), np.array([1, 2, 3, 4], "f4"), np.array([4, 7, 5, 7])
    m, wanted = th.MultiMap(OnGpu(k), OnGpu(v)), th.MultiMap(k, v)
    assert len(m) == 4
    for ours, theirs in zip(m.retrieve(OnGpu(q)), wanted.retrieve(q)):
        np.testing.assert_array_equal(host(ours), theirs)
    np.testing.assert_array_equal(host(m.count(OnGpu(q))), [1, 2, 0, 2])
    zero = th.MultiMap(OnGpu(np.array([0.0, np.nan])), OnGpu(v[:2]))
    np.testing.assert_array_equal(host(zero.count(OnGpu(np.array([-0.0, 0.0, np.nan])))), [1, 1, 0])


def test_indices(module):
    x = th.Index()
    assert host(x.find(OnGpu([1]), default=5)).tolist() == [5]
    assert host(x.add(OnGpu([7, 4, 7]))).tolist() == [0, 1, 0] and host(x.add(OnGpu([9, 4]))).tolist() == [2, 1]
    assert len(x) == 3 and host(x.find(OnGpu([9, 5, 7]))).tolist() == [2, -1, 0]
    assert host(x.keys_of(OnGpu([2, 0]))).tolist() == [9, 7]
    with pytest.raises(IndexError, match="from 0 to 2"):
        x.keys_of(OnGpu([3]))


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_updates(module, dtype):
    k, v = np.array([5, 6]), np.array([50, 60], dtype)
    for op, wanted in (("sum", [53, 62, 9]), ("min", [1, 2, 4]), ("max", [50, 60, 5])):
        m = th.Map(OnGpu(k), OnGpu(v))
        assert m.update(OnGpu([5, 6, 7, 5, 7]), OnGpu(np.array([1, 2, 4, 2, 5], dtype)), op) == 1
        assert host(m.find(OnGpu([5, 6, 7]))).tolist() == wanted


def test_a_full_table_reports_what_it_refused(module):
    k = OnGpu([5, 6, 7, 6])
    for table, more in ((th.Map, (k,)), (th.Set, ())):
        made = table(OnGpu([4]), *[OnGpu([1])] * len(more), capacity=2, grow=False)
        with pytest.raises(th.TableFull, match="3 of 4") as raised:
            made.insert(k, *more)
        assert (raised.value.inserted, raised.value.present, raised.value.refused) == (1, 0, 3) and len(made) == 2


def test_errors(module):
    k = OnGpu(np.arange(4))
    for call, error, words in [
        (lambda: th.factorize(OnGpu(np.zeros((2, 2)))), ValueError, "one dimension"),
        (lambda: th.factorize(OnGpu(np.zeros(2, ">i4"))), TypeError, "byte order"),
        (lambda: th.factorize(OnGpu(np.zeros(2, "c8"))), TypeError, "c64"),
        (lambda: th.isin(k, OnGpu(np.arange(3, dtype="i4"))), TypeError, "int64.*int32"),
        (lambda: th.isin(k, np.arange(3)), TypeError, "host memory"),
        (lambda: th.group_by(k, np.arange(4)), TypeError, "host memory"),
        (lambda: th.group_by(k, OnGpu(np.arange(3))), ValueError, "differ in length"),
        (lambda: th.group_by(k).sum(np.arange(4)), TypeError, "host memory"),
        (lambda: th.group_by(k).sum(OnGpu(np.arange(3))), ValueError, "3 values for 4 rows"),
        (lambda: th.join(k, OnGpu(np.arange(3, dtype="i4"))), TypeError, "int64.*int32"),
        (lambda: th.join(k, np.arange(3)), TypeError, "host memory"),
        (lambda: th.MultiMap(k, OnGpu(np.arange(3))), ValueError, "4 keys and 3 values"),
        (lambda: th.MultiMap(k, k).count(OnGpu(np.arange(3, dtype="i4"))), TypeError, "int64.*int32"),
        (lambda: th.Index().add(OnGpu(np.zeros(2))), TypeError, "float64"),
        (lambda: th.Map(k, OnGpu(np.arange(3))), ValueError, "4 keys and 3 values"),
        (lambda: th.Map(OnGpu(np.zeros(2)), OnGpu(np.zeros(2))), TypeError, "float64"),
        (lambda: th.Map(k, k).find(np.arange(3)), TypeError, "host memory"),
        (lambda: th.Map(k, k).insert(OnGpu(np.arange(2, dtype="i4")), OnGpu(np.arange(2))), TypeError, "int64.*int32"),
        (lambda: th.Map(k, k).find(k, default=0.5), TypeError, "0.5"),
        (lambda: th.Map(np.arange(2), np.arange(2)).insert(k, k), TypeError, "host memory"),
        (lambda: th.Map(k, k).update(k, k, "product"), ValueError, "no op"),
    ]:
        with pytest.raises(error, match=words) as raised:
            call()
        assert "\n" not in str(raised.value)


def test_without_the_gpu_part_the_error_is_one_line(monkeypatch):
    monkeypatch.setattr(_gpu, "_module", None)
    with pytest.raises(RuntimeError, match="not in this build") as raised:
        th.factorize(OnGpu([1]))
    assert "\n" not in str(raised.value)
