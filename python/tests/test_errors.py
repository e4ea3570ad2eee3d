# SPDX-License-Identifier: Apache-2.0
"""Errors are Python's, and their messages are one line."""

import pickle
import resource

import numpy as np
import pytest

import tilehash as th

K = np.arange(4)
OBJECTS = np.array(["a", None], dtype=object)
CASES = [
    (lambda: th.factorize(OBJECTS), TypeError, "Python objects"),
    (lambda: th.factorize(np.zeros((2, 2, 2))), ValueError, "one dimension"),
    (lambda: th.isin(K, np.arange(3, dtype="i4")), TypeError, "int64.*int32"),
    (lambda: th.isin(K, np.array(["a"])), TypeError, "int64.*<U1"),
    (lambda: th.join(K, K.astype("f8")), TypeError, "int64.*float64"),
    (lambda: th.join(K, K, how="cross"), ValueError, "cross"),
    (lambda: th.join([K, K], [K]), ValueError, "2 left.*1 right"),
    (lambda: th.join([K, K[:2]], [K, K]), ValueError, "differ in length"),
    (lambda: th.group_by(), ValueError, "key column"),
    (lambda: th.group_by(K, K[:2]), ValueError, "differ in length"),
    (lambda: th.group_by(K).sum(K[:2]), ValueError, "2 values for 4 rows"),
    (lambda: th.group_by(K).agg(x=(K, "product")), ValueError, "product"),
    (lambda: th.group_by(K).agg(x=(K, "quantile", 2)), ValueError, "between 0 and 1"),
    (lambda: th.group_by(K).agg(x=K), TypeError, "reduction"),
    (lambda: th.group_by(K).sum(np.array(["a", "b", "c", "d"])), TypeError, "sum.*<U1"),
    (lambda: th.Map(K, K[:2]), ValueError, "4 keys and 2 values"),
    (lambda: th.Map(K, K).find(K.astype("i4")), TypeError, "int64.*int32"),
    (lambda: th.Map(K, K).insert(K, K.astype("f4")), TypeError, "int64.*float32"),
    (lambda: th.Map(K, K).update(K, K, "product"), ValueError, "product"),
    (lambda: th.Map(K, K)[9], KeyError, "9"),
    (lambda: th.Map()[9], KeyError, "9"),
    (lambda: th.Map(np.array(["a"]), np.array([1])), TypeError, "<U1"),
    (lambda: th.Map(capacity=-1), ValueError, "capacity.*-1"),
    (lambda: th.Set(capacity=1.5), TypeError, "capacity.*float"),
    (lambda: th.Set(K, grow=False), ValueError, "needs a capacity"),
    (lambda: th.Map(capacity=1 << 60), ValueError, "fewer items"),
    (lambda: th.Set(np.array([np.nan])), ValueError, "NaN"),
    (lambda: th.MultiMap(K, K[:2]), ValueError, "4 keys and 2 values"),
    (lambda: th.MultiMap(K, K).count(K.astype("i4")), TypeError, "int32.*int64"),
    (lambda: th.Index().add(np.array(["a"])), TypeError, "<U1"),
    (lambda: th.Index().keys_of([0]), IndexError, "ids"),
    (lambda: th.set_threads(-1), ValueError, "threads"),
    (lambda: th.merge([1], [2], on="k"), TypeError, "list"),
    (lambda: th.merge({"k": K}, {"id": K}, on="k"), KeyError, "k"),
    (lambda: th.merge({"k": K}, {"k": K.astype("i4")}, on="k"), TypeError, "int64.*int32"),
]


@pytest.mark.parametrize("call,error,words", CASES, ids=range(len(CASES)))
def test_errors(call, error, words):
    with pytest.raises(error, match=words) as raised:
        call()
    assert type(raised.value) is error and "\n" not in str(raised.value)


@pytest.fixture
def little_memory():
    """The process gets no more than 16 GB of addresses."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 34, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("table", [th.Map, th.Set])
def test_a_table_without_memory_is_a_memory_error(little_memory, table):
    with pytest.raises(MemoryError) as raised:
        table(capacity=1 << 33)
    assert "\n" not in str(raised.value)


def refused(keys, call):
    """Calls, and returns the error after a look at its sums."""
    with pytest.raises(th.TableFull, match="refused.*grow=True") as raised:
        call()
    full = raised.value
    assert full.refused > 0 and full.inserted + full.present + full.refused == len(keys)
    assert isinstance(full, RuntimeError) and "\n" not in str(full)
    back = pickle.loads(pickle.dumps(full))
    assert (back.inserted, back.present, back.refused, str(back)) == (full.inserted, full.present, full.refused, str(full))
    return full


@pytest.mark.parametrize("change", ["insert", "assign", "update"])
def test_a_full_map_reports_what_it_refused(change):
    m = th.Map(np.arange(100), np.zeros(100, "i8"), capacity=100, grow=False)
    k, more = np.arange(90, 400), ("sum",) if change == "update" else ()
    full = refused(k, lambda: getattr(m, change)(k, k, *more))
    assert full.present == 10 and len(m) == 100 + full.inserted
    inside = m.contains(k)
    assert inside.sum() == 10 + full.inserted and inside[:10].all()
    assert (m.find(k)[10:] == np.where(inside, k, 0)[10:]).all()
    with pytest.raises(th.TableFull):  # what it refused does not fit later
        m.insert(k[~inside], k[~inside])


def test_a_full_set_reports_what_it_refused():
    s = th.Set(capacity=100, grow=False)
    k = np.arange(400)
    full = refused(k, lambda: s.insert(k))
    assert full.present == 0 and len(s) == full.inserted == s.contains(k).sum() >= 100


def test_tables_grow_unless_told_otherwise():
    m = th.Map(capacity=100)
    assert m.insert(np.arange(50_000), np.arange(50_000)) == 50_000
