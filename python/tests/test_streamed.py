# SPDX-License-Identifier: Apache-2.0
"""streamed: batches of Arrow, DuckDB, polars, pandas and parquet, against one call with all rows."""

import numpy as np
import pytest
from test_distributed import passed, run

import tilehash as th
from tilehash import distributed

N = 20000
KEYS = np.random.default_rng(5).integers(0, 3000, N)
VALUES = np.arange(N)


def sources(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.dataset
    import pyarrow.parquet

    table = pa.table({"v": VALUES, "k": KEYS})
    yield "table", table
    yield "batches", table.to_batches(max_chunksize=999)
    yield "reader", pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=999))
    path = tmp_path / "rows" / "one.parquet"
    path.parent.mkdir()
    pyarrow.parquet.write_table(table, path, row_group_size=3000)
    yield "parquet", path
    yield "folder", str(path.parent)
    yield "dataset", pyarrow.dataset.dataset(path.parent)
    pytest.importorskip("pandas")
    frame = table.to_pandas()
    yield "pandas", frame
    yield "pandas parts", (frame[i : i + 4000] for i in range(0, N, 4000))
    pl = pytest.importorskip("polars")
    yield "polars", pl.from_arrow(table)
    yield "lazy", pl.scan_parquet(path)
    duckdb = pytest.importorskip("duckdb")
    yield "duckdb", duckdb.sql(f"select * from '{path}'")


def test_sources(tmp_path):
    expected = th.Map()
    expected.update(KEYS, VALUES, "sum")
    every = np.arange(3100)
    for name, source in sources(tmp_path):
        m = th.Map()
        s = th.streamed(m, keys="k", values="v")
        assert s.update(source, "sum") == len(expected), name
        assert s.rows == N and 16 * N <= s.bytes < 17 * N, name  # (parquet has a bit a value for nulls)
        assert np.array_equal(m.find(every, -1), expected.find(every, -1)), name


def test_verbs():
    pairs = [(KEYS[i : i + 700], VALUES[i : i + 700]) for i in range(0, N, 700)]
    m, one = th.Map(), th.Map()
    assert th.streamed(m).insert(pairs) == one.insert(KEYS, VALUES)
    every = np.arange(3100)
    assert np.array_equal(m.find(every, -1), one.find(every, -1))
    th.streamed(m).assign(iter(pairs))
    one.assign(KEYS, VALUES)
    parts = list(th.streamed(m).find((k for k in np.array_split(every, 7)), default=-1))
    assert len(parts) == 7 and np.array_equal(np.concatenate(parts), one.find(every, -1))
    assert th.streamed(m).erase([every[:50], every[20:70]]) == np.isin(every[:70], KEYS).sum()
    found = np.concatenate(list(th.streamed(m).contains([every[:100], every[100:]])))
    assert np.array_equal(found, np.isin(every, KEYS) & (every >= 70))
    s = th.Set()
    assert th.streamed(s).insert([KEYS[:9000], KEYS[9000:]]) == len(np.unique(KEYS))


def test_columns_by_number():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [7, 8], "b": [1, 2], "c": [5, 6]})
    m = th.Map()
    assert th.streamed(m, keys=1, values=2).insert(frame) == 2
    assert m.find([1, 2]).tolist() == [5, 6]
    with pytest.raises(KeyError):
        th.streamed(m, keys="x", values="c").insert(frame)


def test_progress_and_failure():
    said = []
    m = th.Map()
    s = th.streamed(m, progress=lambda rows, size: said.append((rows, size)))
    with pytest.raises(TypeError, match="this table has keys of int64, not float64"):
        s.insert([(KEYS[:10], VALUES[:10]), (KEYS[10:30], VALUES[10:30]), (np.array([1.5]), np.array([1]))])
    assert said == [(10, 160), (30, 480)]
    assert len(m) == len(np.unique(KEYS[:30]))  # the batches before stay
    with pytest.raises(TypeError, match="a batch is a pair of keys and values or a frame, not ndarray"):
        s.insert([KEYS])
    with pytest.raises(ValueError, match="3 keys and 1 values"):
        s.insert([(np.arange(3), np.arange(1))])


def test_ranks_with_different_numbers_of_batches():
    def body(group):
        m = distributed.Map(group)
        mine = KEYS[group.rank() :: 3]
        s = th.streamed(m)
        added = s.update([(k, np.ones(len(k), np.int64)) for k in np.array_split(mine, 1 + 4 * group.rank())], "sum")
        counts = list(s.find([np.arange(3100)] if group.rank() == 1 else []))
        return added, counts

    expected = np.bincount(KEYS, minlength=3100)
    results = passed(run(3, body))
    assert [added for added, _ in results] == [len(np.unique(KEYS))] * 3
    assert np.array_equal(results[1][1][0], expected)


def test_a_source_that_fails_ends_the_call_on_all_ranks():
    def failing(rank):
        yield np.array([1]), np.array([1])
        if rank == 1:
            raise OSError("no file")
        yield np.array([2]), np.array([2])

    def body(group):
        m = distributed.Map(group)
        with pytest.raises(Exception, match="no file"):
            th.streamed(m).insert(failing(group.rank()))
        return m.size()

    assert passed(run(2, body)) == [1, 1]
