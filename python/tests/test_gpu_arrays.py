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


class Factors:
    def __init__(self, keys, missing_is_key):
        self.keys = keys
        self._codes, _ = th.factorize(keys, use_na_sentinel=not missing_is_key)
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
    def __init__(self, key, value):
        self.key, self.value, self.items_of = key, value, {}

    @property
    def size(self):
        return len(self.items_of)

    def insert(self, stream, keys, values, n):
        before = self.size
        for i, k in enumerate(at(keys, n, self.key).tolist()):
            self.items_of.setdefault(k, at(values, n, self.value)[i] if self.value else None)
        return self.size - before, 0, 0

    def find(self, stream, keys, n, values, missing):
        words = [self.items_of.get(k, missing) for k in at(keys, n, self.key).tolist()]
        at(values, n, self.value)[:] = words

    def contains(self, stream, keys, n, out):
        at(out, n, "?")[:] = [k in self.items_of for k in at(keys, n, self.key).tolist()]

    def erase(self, stream, keys, n):
        return sum(self.items_of.pop(k, self) is not self for k in at(keys, n, self.key).tolist())


class Module:
    """As binding.cpp. It notes the streams of the calls."""

    def __init__(self):
        self.streams = []

    def factorize(self, key, device, stream, keys, n, missing_is_key):
        self.streams.append(stream)
        return Factors(at(keys, n, WORDS[key]), missing_is_key)

    def unique(self, key, device, stream, keys, n):
        return self.factorize(key, device, stream, keys, n, True)

    def isin(self, key, device, stream, keys, n, wanted, m, out):
        at(out, n, "?")[:] = np.isin(at(keys, n, WORDS[key]), at(wanted, m, WORDS[key]))

    def memory(self, device, stream, n, kind, size):
        return Memory(n, f"{kind}{size}" if kind != "b" else "?")

    def table(self, key, value, device, stream, capacity):
        return Table(f"u{key}", f"u{value}" if value else None)


class OnGpu:
    """Host memory that says that it is a GPU's."""

    def __init__(self, values, stream=None):
        self.array = np.asarray(values)
        self.__cuda_array_interface__ = {**self.array.__array_interface__, "version": 3, "stream": stream, "strides": self.array.strides}


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


def test_tables(module):
    k, v = np.array([5, 6, 7]), np.array([50, 60, 70], "f4")
    m = th.Map(OnGpu(k), OnGpu(v))
    assert m.device == "cuda:0" and len(m) == 3
    assert host(m.find(OnGpu([7, 8]), default=-1.5)).tolist() == [70, -1.5]
    assert host(m.contains(OnGpu([7, 8]))).tolist() == [True, False]
    assert m.erase(OnGpu([6, 8])) == 1 and len(m) == 2
    s = th.Set(OnGpu(k))
    assert s.insert(OnGpu([5, 9])) == 1 and host(s.contains(OnGpu([9, 10]))).tolist() == [True, False]


def test_errors(module):
    k = OnGpu(np.arange(4))
    for call, error, words in [
        (lambda: th.factorize(OnGpu(np.arange(8)[::2])), ValueError, "contiguous"),
        (lambda: th.factorize(OnGpu(np.zeros((2, 2)))), ValueError, "one dimension"),
        (lambda: th.factorize(OnGpu(np.zeros(2, "i2"))), TypeError, "int16"),
        (lambda: th.isin(k, OnGpu(np.arange(3, dtype="i4"))), TypeError, "int64.*int32"),
        (lambda: th.isin(k, np.arange(3)), TypeError, "host memory"),
        (lambda: th.group_by(k), TypeError, "GPU"),
        (lambda: th.Map(k, OnGpu(np.arange(3))), ValueError, "4 keys and 3 values"),
        (lambda: th.Map(OnGpu(np.zeros(2)), OnGpu(np.zeros(2))), TypeError, "float64"),
        (lambda: th.Map(k, k).find(np.arange(3)), TypeError, "host memory"),
        (lambda: th.Map(k, k).insert(OnGpu(np.arange(2, dtype="i4")), OnGpu(np.arange(2))), TypeError, "int64.*int32"),
        (lambda: th.Map(k, k).find(k, default=0.5), TypeError, "0.5"),
        (lambda: th.Map(np.arange(2), np.arange(2)).insert(k, k), TypeError, "host memory"),
        (lambda: th.Map(k, k).update(k, k, "sum"), TypeError, "GPU"),
    ]:
        with pytest.raises(error, match=words) as raised:
            call()
        assert "\n" not in str(raised.value)


def test_without_the_gpu_part_the_error_is_one_line(monkeypatch):
    monkeypatch.setattr(_gpu, "_module", None)
    with pytest.raises(RuntimeError, match="not in this build") as raised:
        th.factorize(OnGpu([1]))
    assert "\n" not in str(raised.value)
