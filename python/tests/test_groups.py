# SPDX-License-Identifier: Apache-2.0
"""group_by, join and merge against pandas."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilehash as th

rows = st.integers(0, 150)


@st.composite
def table(draw):
    n = draw(rows)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    value = rng.normal(1e6, 1, n).astype(draw(st.sampled_from(["f4", "f8"])))
    value[rng.random(n) < 0.2] = np.nan
    key = rng.integers(0, draw(st.integers(1, 60)), n).astype("f8")
    key[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({"a": rng.integers(-2, 3, n), "b": key, "v": value, "i": rng.integers(-9, 9, n).astype("i2")})


OPS = ["sum", "count", "min", "max", "mean", "var", "std", "first", "last", "median", "nunique", "any", "all"]


@given(table(), st.sampled_from([["a"], ["b"], ["a", "b"], ["i", "b", "a"]]))
def test_reductions_are_those_of_pandas(t, by):
    g = th.group_by(*[t[k].to_numpy() for k in by])
    wanted = t.groupby(by, sort=False)
    assert len(g) == wanted.ngroups
    np.testing.assert_array_equal(g.size(), wanted.size().to_numpy())
    for op in OPS:
        for column in ["v", "i"]:
            if op in ("any", "all") and column == "v":
                continue  # pandas takes NaN for true
            ours = g.agg(x=(t[column].to_numpy(), op))["x"]
            values = t[column].astype("f8") if op in ("sum", "mean", "var", "std", "median") else t[column]
            theirs = values.groupby([t[k] for k in by], sort=False).agg(op).to_numpy()
            np.testing.assert_allclose(ours.astype("f8"), theirs.astype("f8"), rtol=1e-6, atol=1e-9, err_msg=op)
    for part, name in zip(g.keys, by):
        np.testing.assert_array_equal(part, wanted.first().reset_index()[name].to_numpy())
    at = g.agg(x=(t["v"].to_numpy(), "argmax"))["x"]
    most = g.max(t["v"].to_numpy())
    for row, value in zip(at, most):
        assert (row == -1 and np.isnan(value)) or t["v"].iloc[row] == value


@given(table(), st.sampled_from([["a"], ["b"], ["a", "b"]]))
def test_functions_reduce_as_in_pandas(t, by):
    g = th.group_by(*[t[k].to_numpy() for k in by])
    at = [t[k] for k in by]
    for name, function in (("prod", np.multiply), ("max", np.maximum), ("prod", lambda x: x.prod()), ("var", lambda x: x.var(ddof=1) if len(x) > 1 else np.nan)):
        for column in ["v", "i"]:
            values = t[column] / 1e6 if column == "v" else t[column].astype("i8")
            ours = g.agg(x=(values.to_numpy(), function))["x"]
            theirs = values.groupby(at, sort=False).agg(name, **({"min_count": 1} if name == "prod" else {})).to_numpy()
            np.testing.assert_allclose(ours.astype("f8"), theirs.astype("f8"), rtol=1e-5, atol=1e-9, err_msg=f"{name} {column}")


def test_functions_of_dates_and_wrong_results():
    k, d = np.array([1, 2, 1, 3]), np.array(["2026-01-02", "NaT", "2026-01-01", "2026-01-03"], "M8[D]")
    first = th.group_by(k).agg(d=(d, lambda x: x.min()))["d"]
    assert first.astype(str).tolist() == ["2026-01-01", "NaT", "2026-01-03"]
    with pytest.raises(TypeError, match="one value for a group"):
        th.group_by(k).agg(x=(k, lambda x: x[:1]))
    with pytest.raises(TypeError, match="lambda"):
        th.group_by(k).agg(x=(k, np.add, 1))
    with pytest.raises(ZeroDivisionError):
        th.group_by(k).agg(x=(k, lambda x: 1 // 0))
    seen = []
    th.group_by(k).agg(x=(np.arange(4), lambda x: seen.append(x.tolist()) or 0))
    assert seen == [[0, 2], [1], [3]]  # each group once, in the order of the rows


HOWS = ["inner", "left", "right", "outer", "semi", "anti"]


@given(table(), table(), st.sampled_from(HOWS), st.sampled_from([["a"], ["a", "b"]]))
def test_merges_of_dicts_are_those_of_pandas(l, r, how, on):
    l["day"] = l["i"].to_numpy().astype("M8[D]")
    frames = [{n: t[n].to_numpy() for n in t} for t in (l, r)]
    ours, wanted = th.merge(*frames, on=on, how=how), th.merge(l, r, on=on, how=how)
    assert list(ours) == list(wanted)
    for name in wanted:
        theirs = wanted[name].to_numpy()
        np.testing.assert_array_equal(ours[name], theirs.astype(ours[name].dtype), err_msg=f"{name} {how}")


def test_merges_of_other_frames_are_refused():
    k = np.arange(3)
    frames = [{"k": k}, pd.DataFrame({"k": k}), pl.DataFrame({"k": k}), [k]]
    for i, left in enumerate(frames):
        for j, right in enumerate(frames):
            if i != j or i == 3:
                with pytest.raises(TypeError, match="merge takes two frames"):
                    th.merge(left, right, on="k")
    with pytest.raises(KeyError, match="id"):
        th.merge(frames[0], {"k": k, "id": k}, on="id")


def test_quantile_masks_and_errors():
    k, v = np.array([0, 0, 0, 1]), np.array([1.0, 2.0, 10.0, 7.0])
    np.testing.assert_allclose(th.group_by(k).agg(q=(v, "quantile", 0.75))["q"], [6.0, 7.0])
    g = th.group_by(pl.Series([1, 2, 1]))
    assert g.agg(s=(pl.Series([5, 6, None]), "sum"))["s"].to_list() == [5, 6]
    with pytest.raises(ValueError, match="no reduction"):
        g.agg(x=(np.arange(3), "sumo"))
    with pytest.raises(ValueError, match="2 values for 3 rows"):
        g.agg(x=(np.arange(2), "sum"))
    with pytest.raises(ValueError, match="differ in length"):
        th.group_by(k, k[1:])


def test_sums_do_not_depend_on_threads():
    rng = np.random.default_rng(5)
    k, v = rng.integers(0, 1000, 200_000), rng.normal(size=200_000)
    sums = []
    for threads in (1, 2, 7):
        th.set_threads(threads)
        sums.append(th.group_by(k).sum(v))
    th.set_threads(0)
    assert (sums[0] == sums[1]).all() and (sums[0] == sums[2]).all()


@given(st.data(), st.sampled_from(["inner", "left", "right", "outer"]), st.integers(1, 2))
def test_merge_is_that_of_pandas(data, how, columns):
    def side(value):
        n = data.draw(rows)
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        return pd.DataFrame({"k": rng.integers(0, 40, n), "l": rng.integers(0, 3, n), value: np.arange(n), "z": np.arange(n)})

    left, right, on = side("x"), side("y"), ["k", "l"][:columns]
    left, right = left.drop(columns=["l"][: 2 - columns]), right.drop(columns=["l"][: 2 - columns])
    wanted = left.merge(right, on=on, how=how)
    order = list(wanted.columns)

    def ordered(frame):
        return frame[order].astype("f8").sort_values(order).reset_index(drop=True)

    pd.testing.assert_frame_equal(ordered(th.merge(left, right, on=on, how=how)), ordered(wanted))
    ours = th.merge(pl.from_pandas(left), pl.from_pandas(right), on=on, how=how)
    pd.testing.assert_frame_equal(ordered(ours.to_pandas()), ordered(wanted))


def test_joins_of_many_rows_keep_the_order_of_the_left():
    rng = np.random.default_rng(2)
    left, right = rng.integers(0, 90_000, 150_000), rng.integers(0, 90_000, 100_000)
    l, r = th.join(left, right, how="left")
    wanted = pd.DataFrame({"k": left, "l": np.arange(len(left))}).merge(
        pd.DataFrame({"k": right, "r": np.arange(len(right))}), on="k", how="left"
    )
    np.testing.assert_array_equal(l, wanted["l"])
    np.testing.assert_array_equal(r, wanted["r"].fillna(-1))
    np.testing.assert_array_equal(th.join(left, right, how="semi"), np.flatnonzero(np.isin(left, right)))
    np.testing.assert_array_equal(th.join(left, right, how="anti"), np.flatnonzero(~np.isin(left, right)))


def test_nulls_match_only_if_asked():
    k = np.array([1.0, np.nan])
    assert len(th.join(k, k)[0]) == 1
    assert len(th.join(k, k, nulls_equal=True)[0]) == 2
    with pytest.raises(TypeError, match="float64.*int64"):
        th.join(k, np.arange(2))
