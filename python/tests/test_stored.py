# SPDX-License-Identifier: Apache-2.0
"""Stored: a map in files against a map in memory; batches; folders that are opened again."""

import numpy as np
import pytest

import tilehash as th


@pytest.mark.parametrize(("dtype", "values"), [(np.int64, np.int64), (np.uint32, np.float64), (np.int16, np.int32)])
@pytest.mark.parametrize("bin_bytes", [100, 1 << 20])
def test_answers_as_a_map(tmp_path, dtype, values, bin_bytes):
    rng = np.random.default_rng(2)
    expected = th.Map()
    for turn in range(5):  # an object each: the folder is opened again
        m = th.Stored(tmp_path / "m", dtype, values, parts=5, bin_bytes=bin_bytes)
        assert len(m) == len(expected) and m.parts == 5
        k = rng.integers(0, 900, 700).astype(dtype)
        v = (k * 3 + turn - 800).astype(values)
        verb = ("insert", "assign", "update", "update", "update")[turn]
        op = [] if turn < 2 else [("sum", "min", "max")[turn - 2]]
        half = len(k) // 2
        m.append(k[:half], v[:half])
        assert m.waiting == half
        assert getattr(m, verb)(k[half:], v[half:], *op) == getattr(expected, verb)(k, v, *op)
        assert m.waiting == 0
        every = np.arange(1000).astype(dtype)
        assert np.array_equal(m.find(every, -1), expected.find(every, -1))
        assert m.bytes_written == 16 * len(expected) and m.bytes_read >= m.bytes_written - 16 * 700
    assert m.insert() == 0 and len(m) == len(expected)


def test_batches(tmp_path):
    said = []
    m = th.Stored(tmp_path, parts=3)
    k = np.arange(10000) % 700
    s = th.streamed(m, progress=lambda rows, size: said.append(rows))
    assert s.update(zip(np.array_split(k, 20), np.array_split(k * 2, 20)), "sum") == 700
    assert said == list(range(500, 10001, 500))
    assert m.bytes_written == 16 * 700  # one merge
    expected = np.bincount(k, weights=k * 2)
    assert np.array_equal(np.concatenate(list(s.find([np.arange(300), np.arange(300, 700)]))), expected)


def test_batches_before_one_that_fails_stay(tmp_path):
    m = th.Stored(tmp_path)
    with pytest.raises(TypeError, match="keys of int64, not float64"):
        th.streamed(m).insert([(np.array([1, 2]), np.array([3, 4])), (np.array([1.5]), np.array([1]))])
    assert m.find([1, 2, 3], -1).tolist() == [3, 4, -1] and m.waiting == 0


def test_bad_input(tmp_path):
    m = th.Stored(tmp_path / "m")
    with pytest.raises(ValueError, match="2 keys and 1 values"):
        m.insert([1, 2], [1])
    with pytest.raises(ValueError, match="no op 'mean'"):
        m.update([1], [1], "mean")
    with pytest.raises(ValueError, match="keys and values of <i8 <i8, not <u4 <i8"):
        th.Stored(tmp_path / "m", np.uint32)
    with pytest.raises(ValueError, match="1 to 4096 parts"):
        th.Stored(tmp_path / "n", parts=0)
    with pytest.raises(TypeError, match="are numbers"):
        th.Stored(tmp_path / "o", "S3")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        th.Stored(tmp_path / "file")
