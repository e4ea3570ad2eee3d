# SPDX-License-Identifier: Apache-2.0
"""The accessors of pandas and polars against pandas."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilehash.pandas
import tilehash.polars  # noqa: F401

KINDS = {"pandas": lambda frame: frame, "polars": pl.from_pandas}


def as_pandas(frame):
    return frame.to_pandas() if isinstance(frame, pl.DataFrame) else frame


@given(st.integers(0, 100), st.integers(0, 2**32), st.sampled_from(sorted(KINDS)))
def test_groups_of_columns(rows, seed, kind):
    rng = np.random.default_rng(seed)
    t = pd.DataFrame({"a": rng.integers(0, 5, rows), "b": rng.integers(0, 3, rows), "v": rng.normal(size=rows)})
    found = KINDS[kind](t).th.group_by("a", "b").agg(total=("v", "sum"), n="count", q=("v", "quantile", 0.25))
    assert type(found) is type(KINDS[kind](t))
    wanted = t.groupby(["a", "b"], sort=False)["v"].agg(total="sum", n="count", q=lambda x: x.quantile(0.25)).reset_index()
    pd.testing.assert_frame_equal(as_pandas(found), wanted, check_dtype=False)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_calls_of_columns_and_frames(kind):
    t = KINDS[kind](pd.DataFrame({"k": [7, 4, 7, 9], "v": [1, 2, 3, 4]}))
    codes, values = t["k"].th.factorize()
    assert list(codes) == [0, 1, 0, 2] and list(values) == [7, 4, 9]
    assert list(t["k"].th.unique(sort=True)) == [4, 7, 9]
    assert list(t["k"].th.isin([4, 9])) == [False, True, False, True]
    assert [list(x) for x in t["k"].th.value_counts(sort=True)] == [[7, 4, 9], [2, 1, 1]]
    right = KINDS[kind](pd.DataFrame({"k": [9, 4], "w": [90, 40]}))
    merged = as_pandas(t.th.merge(right, on="k"))
    assert merged.to_dict("list") == {"k": [4, 9], "v": [2, 4], "w": [40, 90]}
    with pytest.raises(KeyError, match="no such"):
        t.th.group_by("no such")


def test_the_code_of_the_guide():
    # [accessors-begin]
    import pandas as pd
    import tilehash.pandas  # or tilehash.polars

    sales = pd.DataFrame({"shop": [7, 3, 7], "day": [1, 1, 2], "amount": [1.0, 2.0, 3.0]})
    totals = sales.th.group_by("shop").agg(total=("amount", "sum"), n="count")  # a frame: shop, total, n
    codes, shops = sales["shop"].th.factorize()
    # [accessors-end]
    assert totals.to_dict("list") == {"shop": [7, 3], "total": [4, 2], "n": [2, 1]}
    assert list(codes) == [0, 1, 0] and list(shops) == [7, 3]
