# SPDX-License-Identifier: Apache-2.0
"""Dask DataFrames: merge, group_by and drop_duplicates by partitions, against pandas.

CI runs the test on a cluster of two processes, without pytest (scripts/python_test.sh quick).
"""

import contextlib

import numpy as np

from tilehash import distributed


@contextlib.contextmanager
def cluster():
    import distributed as library

    with (
        library.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
        library.Client(workers) as client,
    ):
        yield client


def frames():
    import dask.dataframe as dd
    import pandas as pd

    rng = np.random.default_rng(3)
    n = 3000
    left = pd.DataFrame({"k": rng.integers(0, 300, n), "s": rng.choice(["a", "b", None], n), "v": rng.normal(size=n), "n": np.arange(n)})
    left.loc[::17, "v"] = np.nan
    right = pd.DataFrame({"k": rng.integers(200, 500, 400), "w": rng.integers(0, 9, 400), "b": rng.integers(0, 2, 400) == 1})
    left = left.astype({"s": "string[pyarrow]"})
    return left, right, dd.from_pandas(left, npartitions=5), dd.from_pandas(right, npartitions=3)


def same(frame, expected, by):
    import pandas as pd

    def ordered(f):
        return f[list(expected.columns)].sort_values(by, ignore_index=True).reset_index(drop=True)

    pd.testing.assert_frame_equal(ordered(frame.compute()), ordered(expected), check_dtype=False)


def raises(kind, words, call):
    try:
        call()
    except kind as e:
        assert words in str(e), e
    else:
        raise AssertionError(f"no {kind.__name__}")


def merges(left, right, dleft, dright):
    for how in ("inner", "left", "right", "outer"):
        merged = distributed.merge(dleft, dright, on="k", how=how)
        same(merged, left.merge(right, on="k", how=how), ["k", "n", "w", "b"])
    types = {str(merged.partitions[i].compute().dtypes["w"]) for i in range(merged.npartitions)}
    assert types == {"float64"} and str(merged.dtypes["w"]) == "float64"
    same(distributed.merge(dleft, dright, on="k", how="anti"), left[~left.k.isin(right.k)], ["n"])
    same(distributed.merge(dleft, dleft, on=["k", "n"], partitions=2), left.merge(left, on=["k", "n"]), ["n"])
    assert distributed.merge(dleft, dright, on="k", partitions=2).npartitions == 2


def groups(left, dleft):
    found = distributed.group_by(
        dleft, "k", total=("v", "sum"), n="count", some=("v", "count"), low=("n", "min"), high=("v", "max"), middle=("v", "mean")
    )
    expected = left.groupby("k", as_index=False).agg(
        total=("v", "sum"), n=("k", "size"), some=("v", "count"), low=("n", "min"), high=("v", "max"), middle=("v", "mean")
    )
    same(found, expected, ["k"])
    found = distributed.group_by(dleft, ["k", "s"], many=("n", "nunique"), middle=("v", "median"), q=("v", "quantile", 0.25))
    expected = left.groupby(["k", "s"], as_index=False).agg(
        many=("n", "nunique"), middle=("v", "median"), q=("v", lambda v: v.quantile(0.25))
    )
    same(found, expected, ["k", "s"])


def duplicates(left, dleft):
    same(distributed.drop_duplicates(dleft[["k", "s"]]), left[["k", "s"]].drop_duplicates(), ["k", "s"])
    kept = distributed.drop_duplicates(dleft, "k").compute()
    assert sorted(kept.k) == sorted(set(left.k))
    assert kept.n.map(left.k).tolist() == kept.k.tolist()  # whole rows


def test_partitions_on_a_cluster():
    left, right, dleft, dright = frames()
    with cluster():
        same(distributed.merge(dleft, dright, on="k"), left.merge(right, on="k"), ["n", "w", "b"])
        found = distributed.group_by(dleft, "k", total=("n", "sum"))
        same(found, left.groupby("k", as_index=False).agg(total=("n", "sum")), ["k"])


def test_partitions_in_one_process():
    import dask

    left, right, dleft, dright = frames()
    with dask.config.set(scheduler="sync"):
        merges(left, right, dleft, dright)
        groups(left, dleft)
        duplicates(left, dleft)


def test_partitions_are_combined_before_the_shuffle():
    import dask
    import dask.dataframe as dd
    import pandas as pd

    import tilehash._dask_frames as module

    rows, combined = 0, module._combined

    def counted(parts, **more):
        nonlocal rows
        rows += len(parts)
        return combined(parts, **more)

    module._combined = counted
    try:
        frame = dd.from_pandas(pd.DataFrame({"k": np.arange(20000) % 10, "v": np.arange(20000)}), npartitions=4)
        with dask.config.set(scheduler="sync"):
            found = distributed.group_by(frame, "k", total=("v", "sum")).compute()
    finally:
        module._combined = combined
    assert len(found) == 10 and rows == 40


def test_bad_input_of_frames():
    left, _, dleft, dright = frames()
    raises(TypeError, "Dask DataFrames, not DataFrame", lambda: distributed.merge(dleft, left, on="k"))
    raises(KeyError, "x", lambda: distributed.merge(dleft, dright, on="x"))
    raises(KeyError, "x", lambda: distributed.drop_duplicates(dleft, "x"))
    raises(TypeError, "left k of int64 and right k of int32", lambda: distributed.merge(dleft, dright.astype({"k": "int32"}), on="k"))
    raises(ValueError, "no reduction 'first' of partitions", lambda: distributed.group_by(dleft, "k", f=("v", "first")))
    raises(TypeError, "a reduction is", lambda: distributed.group_by(dleft, "k", f="sum"))
    raises(TypeError, "have names", lambda: distributed.group_by(dleft, "k", "v", "sum"))
    raises(TypeError, "group_by takes", lambda: distributed.group_by(distributed.One(), [1], [1]))


def test_the_example():
    import pathlib
    import subprocess
    import sys

    example = pathlib.Path(__file__).parent.parent / "examples/dask_frames.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "20 towns, 8350 rows: right" in done.stdout, done.stdout + done.stderr
