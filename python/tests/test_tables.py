# SPDX-License-Identifier: Apache-2.0
"""Map, Set, MultiMap and Index against dict."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilehash as th

KEYS = ["i8", "u8", "i4", "u2", "f8", "f4", "M8[s]"]
steps = st.lists(
    st.tuples(
        st.sampled_from(["insert", "assign", "sum", "min", "max", "erase"]),
        st.lists(st.integers(0, 40), max_size=60),
    ),
    max_size=8,
)


@given(steps, st.sampled_from(KEYS), st.sampled_from(["i8", "f8", "i4", "u8"]), st.integers(0, 2**32))
def test_a_map_is_a_dict(calls, key_type, value_type, seed):
    rng, m, model = np.random.default_rng(seed), th.Map(), {}
    for call, numbers in calls:
        k = np.array(numbers, "i8").astype(key_type)
        v = rng.integers(0, 100, len(k)).astype(value_type)
        before = set(model)
        if call == "insert":
            m.insert(k, v)
            for key, value in zip(k, v):
                model.setdefault(key, value)
        elif call == "erase":
            assert m.erase(k) == len(before & set(k))
            for key in k:
                model.pop(key, None)
        elif call == "assign":
            m[k] = v
            model.update(zip(k, v))
        else:
            m.update(k, v, call)
            op = {"sum": lambda a, b: a + b, "min": min, "max": max}[call]
            for key, value in zip(k, v):
                model[key] = op(model[key], value) if key in model else value
    assert len(m) == len(model)
    every = np.arange(45).astype(key_type)
    default = np.dtype(value_type).type(77)
    np.testing.assert_array_equal(m.find(every, default=default), [model.get(x, default) for x in every])
    np.testing.assert_array_equal(m.contains(every), [x in model for x in every])
    keys, values = m.items()
    assert dict(zip(keys, values)) == model


def test_words_of_a_map():
    m = th.Map(np.array([1, 2]), np.array([1.5, 2.5]))
    assert m[2] == 2.5 and 1 in m and 9 not in m and len(m) == 2
    np.testing.assert_array_equal(m[[2, 1]], [2.5, 1.5])
    with pytest.raises(KeyError, match="9"):
        m[[1, 9]]
    with pytest.raises(TypeError, match="int64.*float64"):
        m.find(np.array([1.25]))
    with pytest.raises(ValueError, match="1 keys and 2 values"):
        m.insert([1], [1.0, 2.0])
    with pytest.raises(ValueError, match="NaN"):
        th.Map(np.array([np.nan]), np.array([1]))
    with pytest.raises(RuntimeError, match="GPU"):
        m.to("cuda:1")
    big = th.Map(np.array([2**63, 2**64 - 1], "u8"), np.array([2**63, 5], "u8"))
    assert big[np.uint64(2**63)] == 2**63


@given(st.lists(st.integers(-50, 50)), st.lists(st.integers(-50, 50)))
def test_a_set(a, b):
    s = th.Set(np.array(a, "i8"))
    assert s.insert(np.array(b, "i8")) == len(set(b) - set(a))
    assert set(s.items()) == set(a) | set(b) and len(s) == len(set(a) | set(b))
    assert s.erase(np.array(a, "i8")) == len(set(a))
    np.testing.assert_array_equal(s.contains(np.arange(-50, 51)), [x in set(b) - set(a) for x in range(-50, 51)])


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 25)))
def test_a_multimap(keys, wanted):
    k, q = np.array(keys, "i8"), np.array(wanted, "i8")
    m = th.MultiMap(k, np.arange(len(k)))
    rows, values = m.retrieve(q)
    assert list(zip(rows, values)) == [(i, j) for i, x in enumerate(wanted) for j, y in enumerate(keys) if x == y]
    np.testing.assert_array_equal(m.count(q), [keys.count(x) for x in wanted])


@given(st.lists(st.lists(st.integers(0, 300)), max_size=5))
def test_an_index(parts):
    index, model = th.Index(), {}
    for part in parts:
        ids = index.add(np.array(part, "i8"))
        np.testing.assert_array_equal(ids, [model.setdefault(x, len(model)) for x in part])
    np.testing.assert_array_equal(index.find(np.arange(301)), [model.get(x, -1) for x in range(301)])
    np.testing.assert_array_equal(index.keys_of(np.arange(len(model))), list(model))
    with pytest.raises(IndexError):
        index.keys_of([len(model)])


def test_the_example_runs():
    import pathlib
    import subprocess
    import sys

    example = pathlib.Path(__file__).parent.parent / "examples" / "edges.py"
    done = subprocess.run([sys.executable, example, "5000"], check=True, capture_output=True, text=True, timeout=120)
    assert "different edges of 5000" in done.stdout and "paths of two edges" in done.stdout
