# SPDX-License-Identifier: Apache-2.0
"""factorize and its like against pandas and NumPy, over types, strides, byte orders and threads."""

import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tilehash as th

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?", "M8[s]", "m8[ns]", ">i4", ">f8", ">M8[ms]"]


def few(dtype):
    """Elements of which many are equal."""
    d = np.dtype(dtype)
    if d.kind == "b":
        return st.booleans()
    if d.kind in "mM":
        return hnp.from_dtype(d) | st.sampled_from([d.type(i, np.datetime_data(d)[0]) for i in range(4)])
    if d.kind == "f":
        return st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf")]) | hnp.from_dtype(d)
    return st.integers(0, 5) | hnp.from_dtype(d)


@st.composite
def keys(draw):
    dtype = draw(st.sampled_from(DTYPES))
    array = draw(hnp.arrays(dtype, st.integers(0, 200), elements=few(dtype)))
    array = array[:: draw(st.sampled_from([1, 2, -1, -3]))]
    array.setflags(write=False)
    return array


def native(a):
    return a.astype(a.dtype.newbyteorder("="))


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@given(keys(), st.booleans(), st.booleans())
def test_factorize_is_that_of_pandas(k, sort, sentinel):
    codes, values = th.factorize(k, sort=sort, use_na_sentinel=sentinel)
    wanted, uniques = pd.factorize(native(k), sort=sort, use_na_sentinel=sentinel)
    assert codes.dtype == np.int64
    same(codes, wanted)
    same(values, uniques)
    assert values.dtype == k.dtype


@given(keys())
def test_unique_is_that_of_numpy(k):
    found = th.unique(k, return_index=True, return_inverse=True, return_counts=True, sort=True)
    values, index, inverse, counts = np.unique(native(k), return_index=True, return_inverse=True, return_counts=True)
    same(native(found.values), values)
    same(found.index, index)
    same(found.inverse, inverse)
    same(found.counts, counts)
    same(native(th.unique(k)), pd.unique(native(k)))


@given(keys(), st.data())
def test_isin(k, data):
    values = data.draw(hnp.arrays(k.dtype, st.integers(0, 20), elements=few(k.dtype)))
    same(th.isin(k, values), np.isin(native(k), native(values)))


@given(keys(), st.booleans())
def test_value_counts(k, dropna):
    values, counts = th.value_counts(k, dropna=dropna)
    wanted = pd.Series(native(k)).value_counts(sort=False, dropna=dropna)
    same(native(values), wanted.index.to_numpy())
    same(counts, wanted.to_numpy())


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["i8", "i4", "f8"])
@pytest.mark.parametrize("distinct", [3, 5_000, 10**9])
def test_many_rows_and_threads(threads, dtype, distinct):
    rng = np.random.default_rng(distinct)
    k = (rng.integers(0, distinct, 150_000) * 0x9E3779B9).astype(dtype)
    if dtype == "f8":
        k[::7] = np.nan
    th.set_threads(threads)
    try:
        codes, values = th.factorize(k)
        wanted, uniques = pd.factorize(k)
        same(codes, wanted)
        same(values, uniques)
        same(th.isin(k, values[::2]), np.isin(k, uniques[::2]))
    finally:
        th.set_threads(0)


def test_fixed_bytes_rows_and_structs():
    rng = np.random.default_rng(1)
    for k in (
        rng.integers(0, 30, 500).astype("S6"),
        rng.integers(0, 30, 500).astype("U3"),
        rng.integers(0, 3, (500, 4)),
        rng.integers(0, 30, 500).astype("c16"),
        np.array([(i % 7, i % 3) for i in range(500)], "i4,i8"),
    ):
        codes, values = th.factorize(k)
        wanted = pd.factorize(np.array([str(x) for x in k.tolist()], object))[0]
        same(codes, wanted)
        same(values[codes], k)


def test_arrow_strings_nulls_and_dictionaries():
    text = ["b", None, "a", "", "b", "a long string of more than sixteen bytes", None, ""]
    wanted, uniques = pd.factorize(np.array(text, object))
    for k in (
        pa.array(text),
        pa.array(text, pa.large_string()),
        pa.array(text, pa.string_view()),
        pa.array(["x", *text, "y"])[1:-1],
        pa.array(text).dictionary_encode(),
        pa.chunked_array([text[:3], text[3:]]),
        pl.Series(text),
        pd.Series(text),
    ):
        codes, values = th.factorize(k)
        same(codes, wanted)
        assert list(values) == list(uniques) or values.to_pylist() == list(uniques)
    k = pa.array([3, None, 3, 4])
    same(th.factorize(k)[0], [0, -1, 0, 1])
    same(th.isin(pa.array(["a", "q"]), pa.array(text)), [True, False])
    codes, values = th.factorize(pl.Series([5, 5, None, 6]))
    assert isinstance(codes, pl.Series) and codes.to_list() == [0, 0, -1, 1] and values.to_list() == [5, 6]


def test_buffers_and_dlpack():
    class Exchanged:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **how):
            return self.array.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    same(th.factorize(memoryview(b"abca"))[0], [0, 1, 2, 0])
    same(th.factorize(Exchanged(np.array([7, 8, 7])))[0], [0, 1, 0])
    same(th.factorize([3, 3, 1])[0], [0, 0, 1])


def test_no_copy_of_contiguous_keys():
    import tracemalloc

    k = np.arange(1_000_000) % 10
    th.factorize(k)
    tracemalloc.start()
    th.isin(k, np.arange(3))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000  # (the results are the module's own memory)


def test_errors_are_those_of_python():
    with pytest.raises(TypeError, match="int64.*float64"):
        th.isin(np.arange(3), np.arange(3.0))
    with pytest.raises(TypeError, match="Python objects"):
        th.factorize(np.array([1, "a"], object))
    with pytest.raises(ValueError, match="dimension"):
        th.factorize(np.zeros((2, 2, 2)))

    class OnGpu:
        __cuda_array_interface__ = {}

    with pytest.raises(TypeError, match="GPU"):
        th.group_by(np.arange(3), OnGpu())


def test_an_import_starts_no_threads_and_a_fork_is_safe():
    program = (
        "import threading, os, numpy as np, tilehash as th\n"
        "def tasks(): return len(os.listdir('/proc/self/task'))\n"
        "before = tasks(); k = np.arange(1 << 17) % 1000\n"
        "assert (th.factorize(k)[0] == k).all() and tasks() == before\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(0 if (th.factorize(k)[0] == k).all() else 1)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_calls_from_several_threads():
    k = np.random.default_rng(3).integers(0, 50_000, 100_000)
    wanted = pd.factorize(k)[0]
    wrong = []
    workers = [threading.Thread(target=lambda: (th.factorize(k)[0] == wanted).all() or wrong.append(1)) for _ in range(6)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not wrong
