# SPDX-License-Identifier: Apache-2.0
"""The tests that need a GPU, PyTorch and CuPy: python tests/check_gpu.py [seed [case...]]. It needs no pytest."""
import sys, traceback, time
import numpy as np, torch, cupy
import tilehash as th
from tilehash import _gpu
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 7
rng = np.random.default_rng(seed)
print("seed", seed, torch.cuda.get_device_name(), torch.__version__, cupy.__version__)

def reference(k):
    """values in the order of first appearance, first rows, codes, counts; NaN is one value"""
    v, first, inverse, counts = np.unique(k, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64); rank[order] = np.arange(len(order))
    return v[order], first[order], rank[inverse.reshape(-1)], counts[order]

def host(x):
    return _gpu.on_host(x)

MAKE = {"torch": lambda a: torch.from_numpy(a).cuda(), "cupy": cupy.asarray}
passed, failed = 0, 0
def case(f):
    global passed, failed
    if len(sys.argv) > 2 and f.__name__ not in sys.argv[2:]: return
    start = time.perf_counter()
    for lib, make in MAKE.items():
        try:
            f(make, lib); torch.cuda.synchronize(); passed += 1
        except Exception:
            failed += 1; print("FAILED", f.__name__, lib); traceback.print_exc()
    print(f"{f.__name__}: {time.perf_counter() - start:.1f} s", flush=True)

def keys(dtype, n, distinct):
    k = rng.integers(0, max(distinct, 1), n)
    if np.dtype(dtype).kind == "f":
        k = k.astype(dtype) - distinct / 2 + 0.25
        k[rng.random(n) < 0.05] = np.nan
        k[rng.random(n) < 0.05] = -0.0
        k[rng.random(n) < 0.05] = 0.0
        return k
    return (k * np.int64(0x9E3779B97F4A7C15 - (1 << 64))).astype(dtype)

SIZES = [(0, 1), (1, 1), (1000, 3), (1000, 700), (200_000, 100_000), (1 << 20, 50)]
def factorize(make, lib):
    for dtype in ("i4", "i8", "f8"):
        for n, d in SIZES:
            k = keys(dtype, n, d); x = make(k)
            v, first, codes, counts = reference(k)
            c, u = th.factorize(x, use_na_sentinel=False)
            assert type(c) is type(x) and type(u) is type(x), type(c)
            np.testing.assert_array_equal(host(c), codes); np.testing.assert_array_equal(host(u), v)
            c, u = th.factorize(x, na_sentinel=-7)
            nan = np.isnan(k) if dtype[0] == "f" else np.zeros(n, bool)
            assert (host(c)[nan] == -7).all() and not np.isnan(host(u).astype("f8")).any()
            np.testing.assert_array_equal(host(u)[host(c)[~nan]], k[~nan])
            c, u = th.factorize(x, sort=True)
            np.testing.assert_array_equal(host(u), np.unique(k[~nan]))
            np.testing.assert_array_equal(host(u)[host(c)[~nan]], k[~nan]); assert (host(c)[nan] == -1).all()
case(factorize)
def unique(make, lib):
    for dtype in ("i4", "i8", "f8"):
        for n, d in SIZES:
            k = keys(dtype, n, d); x = make(k)
            v, first, codes, counts = reference(k)
            r = th.unique(x, return_index=True, return_inverse=True, return_counts=True)
            for got, want in zip(r, (v, first, codes, counts)): np.testing.assert_array_equal(host(got), want)
            np.testing.assert_array_equal(host(th.unique(x)), v)
            s = th.unique(x, return_counts=True, sort=True)
            w, wc = np.unique(k, return_counts=True)
            np.testing.assert_array_equal(host(s.values), w); np.testing.assert_array_equal(host(s.counts), wc)
            v2, c2 = th.value_counts(x, dropna=False)
            np.testing.assert_array_equal(host(v2), v); np.testing.assert_array_equal(host(c2), counts)
case(unique)
def isin(make, lib):
    for dtype in ("i4", "i8", "f8"):
        for n, d in SIZES:
            k, w = keys(dtype, n, d), keys(dtype, n // 3 + 1, d // 2)
            want = np.isin(k, w) & (k == k)
            np.testing.assert_array_equal(host(th.isin(make(k), make(w))), want)
    np.testing.assert_array_equal(host(th.isin(make(np.arange(5, dtype="i4")), [1, 3, 2.5])), [0, 1, 0, 1, 0])
case(isin)
def tables(make, lib):
    for dtype in ("i4", "i8"):
        k = np.unique(keys(dtype, 300_000, 200_000)); rng.shuffle(k)
        v = rng.integers(-99, 99, len(k)).astype(dtype)
        half = len(k) // 2
        m = th.Map(make(k[:half]), make(v[:half]))
        assert len(m) == half and m.device == "cuda:0"
        want = v.copy(); want[half:] = -5
        np.testing.assert_array_equal(host(m.find(make(k), default=-5)), want)
        np.testing.assert_array_equal(host(m.contains(make(k))), np.arange(len(k)) < half)
        assert m.insert(make(k), make(v)) == len(k) - half
        np.testing.assert_array_equal(host(m[make(k)]), v)
        m.assign(make(k[:10]), make(v[:10] + 1)); assert (host(m.find(make(k[:10]))) == v[:10] + 1).all()
        m.assign(make(k[:10]), make(v[:10]))
        assert m.erase(make(k[half:])) == len(k) - half and len(m) == half
        a, b = m.items(); o = np.argsort(host(a)); p = np.argsort(k[:half])
        np.testing.assert_array_equal(host(a)[o], k[:half][p]); np.testing.assert_array_equal(host(b)[o], v[:half][p])
        back = m.to("cpu"); assert back.device == "cpu" and (back.find(k[:half]) == v[:half]).all()
        try: m[make(k)]; assert False
        except KeyError: pass
        again = np.repeat(k[:1000], 3); m2 = th.Map(make(again), make(np.arange(3000).astype(dtype)))
        np.testing.assert_array_equal(host(m2.find(make(k[:1000]))), np.arange(1000) * 3)  # the first of equal keys
    k = np.unique(keys("i8", 5000, 4000)); s = th.Set(make(k[:2000]))
    assert len(s) == 2000 and s.insert(make(k)) == len(k) - 2000
    assert host(s.contains(make(k))).all() and s.erase(make(k[:7])) == 7 and not host(s.contains(make(k[:7]))).any()
    assert len(host(s.items())) == len(k) - 7
case(tables)
def errors(make, lib):
    a = make(np.arange(10, dtype="i4"))
    for f, e in [(lambda: th.isin(a, make(np.arange(3))), TypeError),
                 (lambda: th.isin(a, np.arange(3)), TypeError), (lambda: th.factorize(make(np.zeros(3, "c8"))), TypeError),
                 (lambda: th.factorize(make(np.zeros((3, 2, 2), "i4"))), ValueError), (lambda: th.Map(make(np.zeros((3, 2), "i4")), a[:3]), ValueError),
                 (lambda: th.group_by(a).agg(x=(a, np.multiply)), TypeError), (lambda: th.merge({"k": a}, {"k": np.arange(10)}, on="k"), TypeError), (lambda: th.group_by(a, np.arange(10)), TypeError),
                 (lambda: th.group_by(a).sum(np.arange(10)), TypeError), (lambda: th.group_by(a).sum(a[:3]), ValueError),
                 (lambda: th.join(a, make(np.arange(3))), TypeError), (lambda: th.Index().add(make(np.zeros(3))), TypeError),
                 (lambda: th.Map(a, a).update(a, a, "product"), ValueError),
                 (lambda: th.Map(a, a).find(make(np.arange(3))), TypeError), (lambda: th.Map(a, a[:3]), ValueError),
                 (lambda: th.Map(a, a).insert(np.arange(3, dtype="i4"), np.arange(3, dtype="i4")), TypeError)]:
        try: f(); raise AssertionError("no error")
        except e as x: assert "\n" not in str(x) and str(x).startswith("tilehash"), x
case(errors)

def narrow_and_strided(make, lib):
    for dtype in ("i1", "u1", "i2", "?", "f2"):
        k = rng.integers(0, 2 if dtype == "?" else 100, 50_000).astype(dtype); x = make(k)
        for a, b in ((x, k), (x[3::7], k[3::7])):
            for ours, theirs in zip(th.factorize(a), th.factorize(b)):
                np.testing.assert_array_equal(host(ours), theirs)
            assert host(th.factorize(a)[1]).dtype == k.dtype
            np.testing.assert_array_equal(host(th.isin(a, x[:1])), b == k[0])
    for dtype in ("i4", "i8", "f8"):
        k = keys(dtype, 100_001, 5000); x = make(k)[::3]
        for ours, theirs in zip(th.factorize(x), th.factorize(k[::3])): np.testing.assert_array_equal(host(ours), theirs)
    zeros = make(np.arange(5))[:1]
    if lib == "torch": np.testing.assert_array_equal(host(th.factorize(zeros.expand(1000))[0]), np.zeros(1000))
    else: np.testing.assert_array_equal(host(th.factorize(make(np.arange(9))[::-1])[1]), np.arange(9)[::-1])
    u = np.unique(keys("i8", 9999, 9999)); m = th.Map(make(u)[::2], make(u)[1::2][: len(u[::2])]) if len(u) % 2 == 0 else th.Map(make(u[1:])[::2], make(u[1:])[1::2])
    if len(u) % 2: u = u[1:]
    np.testing.assert_array_equal(host(m.find(make(u)[::2])), u[1::2])
case(narrow_and_strided)
def dense_keys(make, lib):
    """Integers in a small range need no hash; those of a range a little too large do."""
    for dtype, least in (("i4", -70_000), ("u4", 2**32 - 40_000), ("i8", -2**63), ("i8", 2**62), ("u8", 2**64 - 40_000)):
        for n, d in ((1 << 14, 1), (20_000, 30_000), (300_000, 40_000), (300_000, 599_999)):
            if least > 2**31 and d > 40_000: continue
            k = (rng.integers(0, d, n).astype("u8") + np.uint64(least % 2**64)).astype(np.dtype(dtype).str.replace("i8", "u8")).astype(dtype)
            v, first, codes, counts = reference(k)
            r = th.unique(make(k), return_index=True, return_inverse=True, return_counts=True)
            for got, want in zip(r, (v, first, codes, counts)): np.testing.assert_array_equal(host(got), want)
case(dense_keys)
OPS = ("sum", "mean", "var", "std", "min", "max", "first", "last", "count", "argmin", "argmax", "any", "all", "median", "nunique")
def groups(make, lib):
    for n, d in ((0, 1), (1, 1), (5000, 3), (200_000, 1000), (300_000, 60_000)):
        a, b = keys("i4", n, d), keys("i8", n, 3)
        small, f = rng.integers(-5, 5, n).astype("i2"), keys("f8", n, 5)
        v = rng.normal(1e3, 1, n); v[rng.random(n) < 0.1] = np.nan
        for by in ([a], [f], [a, b], [small, a], [f, a, small], [small, small, small]):
            for dropna in (True, False):
                ours, wanted = th.group_by(*map(make, by), dropna=dropna), th.group_by(*by, dropna=dropna)
                assert len(ours) == len(wanted), (len(ours), len(wanted))
                np.testing.assert_array_equal(host(ours.codes), wanted.codes)
                np.testing.assert_array_equal(host(ours.size()), wanted.size())
                for x, y in zip(ours.keys, wanted.keys): np.testing.assert_array_equal(host(x), y)
            for values in (v, v.astype("f4"), small, b, a.astype("u4")) if n < 9999 else (v, small) if len(by) == 1 else (b,):
                if values.dtype == "u4" and lib == "torch": continue
                x = make(values)
                for op in OPS + (("quantile", 0.9), ("var", 0)):
                    how = op if isinstance(op, tuple) else (op,)
                    got = ours.agg(r=(x, *how))["r"]; want = wanted.agg(r=(values, *how))["r"]
                    assert type(got) is type(x)
                    np.testing.assert_allclose(host(got), want, rtol=1e-6, atol=1e-9, err_msg=f"{op} {values.dtype} {n}")
        if n:
            p, one = rng.permutation(n), np.zeros(n, "i8"); alike = [host(th.group_by(make(one)).sum(make(w), deterministic=True)) for w in (v, v, v[p], v[::-1].copy())]
            for x in alike: assert x.tobytes() == alike[0].tobytes()
            np.testing.assert_allclose(alike[0], th.group_by(one).sum(v))
            several = {"a": (v, "sum"), "b": (small, "min"), "c": (b, "max"), "d": (v, "mean"), "e": (v.astype("f4"), "max"), "f": (v, "count"), "g": (small, "mean"), "h": (b, "sum"), "i": (v.astype("f4"), "min"), "j": (a, "max"), "k": (a, "min"), "m": (a, "sum"), "n": "count"}
            got, want = ours.agg(**{k: h if h == "count" else (make(h[0]), h[1]) for k, h in several.items()}), wanted.agg(**several)
            for k in several: np.testing.assert_allclose(host(got[k]), want[k], rtol=1e-6, atol=1e-9, err_msg=k)
        if n: np.testing.assert_allclose(host(ours.sum(make(v)[:])), wanted.sum(v)); np.testing.assert_allclose(host(th.group_by(make(a)[::2]).sum(make(v)[::2])), th.group_by(a[::2]).sum(v[::2]))
case(groups)
def joins(make, lib):
    for dtype in ("i4", "i8", "f8", "i2"):
        for n, m, d in ((0, 0, 1), (0, 5, 3), (5, 0, 3), (1000, 700, 50), (100_000, 150_000, 90_000), (700, 700, 1)):
            pool = np.unique(keys(dtype, d, d))
            l, r = rng.choice(pool, n) if n else pool[:0], rng.choice(pool, m) if m else pool[:0]
            for how in ("inner", "left", "right", "outer", "semi", "anti"):
                for equal in (False, True):
                    if equal and d == 1: continue
                    got, want = th.join(make(l), make(r), how=how, nulls_equal=equal), th.join(l, r, how=how, nulls_equal=equal)
                    if how in ("semi", "anti"): got, want = (got,), (want,)
                    for x, y in zip(got, want): np.testing.assert_array_equal(host(x), y, err_msg=f"{how} {dtype} {n} {m}")
    l, r = keys("i4", 50_000, 300), keys("i4", 40_000, 300); a, b = rng.integers(0, 99, len(l)).astype("u1"), rng.integers(0, 99, len(r)).astype("u1")
    f, g = keys("f8", len(l), 3), keys("f8", len(r), 3)
    for left, right in (([l, a], [r, b]), ([l, f], [r, g]), ([f, a, l], [g, b, r])):
        for how in ("inner", "outer"):
            for x, y in zip(th.join([make(k) for k in left], [make(k) for k in right], how=how), th.join(left, right, how=how)):
                np.testing.assert_array_equal(host(x), y)
case(joins)
def multimaps(make, lib):
    for dtype in ("i4", "i8", "f8"):
        k, q = keys(dtype, 60_000, 9000), keys(dtype, 5000, 12_000)
        v = np.arange(len(k)).astype("i4"); m, wanted = th.MultiMap(make(k), make(v)), th.MultiMap(k, v)
        for x, y in zip(m.retrieve(make(q)), wanted.retrieve(q)): np.testing.assert_array_equal(host(x), y)
        np.testing.assert_array_equal(host(m.count(make(q))), wanted.count(q))
case(multimaps)
def indices(make, lib):
    for dtype in ("i4", "i8"):
        x, wanted = th.Index(), th.Index()
        np.testing.assert_array_equal(host(x.find(make(np.arange(3)), default=-9)), [-9] * 3)
        for n, d in ((10, 3), (5000, 900), (200_000, 150_000), (100, 300_000), (0, 1)):
            k = keys(dtype, n, d)
            np.testing.assert_array_equal(host(x.add(make(k))), wanted.add(k)); assert len(x) == len(wanted)
        q = keys(dtype, 9000, 400_000); np.testing.assert_array_equal(host(x.find(make(q), default=-3)), wanted.find(q, default=-3))
        ids = rng.integers(0, len(x), 777); np.testing.assert_array_equal(host(x.keys_of(make(ids))), wanted.keys_of(ids))
        try: x.keys_of(make(np.array([len(x)]))); assert False
        except IndexError: pass
case(indices)
def updates(make, lib):
    for kd in ("i4", "i8"):
        for vd in ("i4", "i8", "f4", "f8"):
            for op in ("sum", "min", "max"):
                k = keys(kd, 100_000, 3000); v = rng.integers(-99, 99, len(k)).astype(vd)
                m, wanted = th.Map(make(k[:100]), make(v[:100])), th.Map(k[:100], v[:100])
                assert m.update(make(k), make(v), op) == wanted.update(k, v, op)
                np.testing.assert_array_equal(host(m.find(make(k))), wanted.find(k))
case(updates)
def full_tables(make, lib):
    for kd in ("i4", "i8"):
        k = np.unique(keys(kd, 3000, 9000)); v = np.arange(len(k)).astype("i8")
        for change in ("insert", "assign", "update", "set"):
            made = th.Set(capacity=500, grow=False) if change == "set" else th.Map(capacity=500, grow=False)
            given = (make(k),) if change == "set" else (make(k), make(v))
            try: getattr(made, "insert" if change == "set" else change)(*given, *(("sum",) if change == "update" else ())); assert False, "not full"
            except th.TableFull as full:
                assert full.refused > 0 and full.present == 0 and full.inserted + full.refused == len(k) and full.inserted == len(made) >= 500, vars(full)
            inside = host(made.contains(make(k))); assert inside.sum() == len(made)
            if change != "set": np.testing.assert_array_equal(host(made.find(make(k), default=-1)), np.where(inside, v, -1))
case(full_tables)
def rows_of_two_dimensions(make, lib):
    for dtype, n, d, width in (("i4", 0, 1, 2), ("i4", 1, 1, 1), ("i4", 100_000, 40, 2), ("i8", 100_000, 9, 3), ("i8", 200_000, 150_000, 2), ("f8", 100_000, 30, 2), ("f4", 5000, 3, 4), ("u1", 50_000, 9, 5)):
        x, y = (keys(dtype, m * width, d).reshape(m, width) for m in (n, 700)); v = rng.integers(0, 99, n) / 2
        if n > 1000: y[:100] = x[:100]
        for ours, theirs, other in ((make(x), x, y), (make(x)[::3], x[::3], y[:5])):
            for a, b in zip(th.factorize(ours), th.factorize(theirs)): assert type(a) is type(ours); np.testing.assert_array_equal(host(a), b)
            got, want = (th.unique(r, return_index=True, return_inverse=True, return_counts=True) for r in (ours, theirs))
            for a, b in zip([*got, *th.value_counts(ours)], [*want, *th.value_counts(theirs)]): np.testing.assert_array_equal(host(a), b)
            np.testing.assert_array_equal(host(th.isin(ours, make(other))), th.isin(theirs, other))
            w = v[: len(theirs)]; got, want = th.group_by(ours, make(w)), th.group_by(theirs, w); assert len(got) == len(want)
            for a, b in zip([*got.keys, got.codes, got.sum(make(w))], [*want.keys, want.codes, want.sum(w)]): np.testing.assert_array_equal(host(a), b)
            for how in ("inner", "outer"):
                for a, b in zip(th.join(ours, make(other), how=how), th.join(theirs, other, how=how)): np.testing.assert_array_equal(host(a), b)
case(rows_of_two_dimensions)
def merges(make, lib):
    for n, m, d in ((0, 5, 3), (5, 0, 3), (3000, 2000, 900), (50_000, 40_000, 30_000)):
        pool = keys("i8", d, d); left = {"id": rng.choice(pool, n), "v": np.arange(n), "x": rng.normal(size=n)}
        right = {"v": rng.normal(size=m).astype("f4"), "id": rng.choice(pool, m), "point": rng.normal(size=(m, 3))}
        for how in ("inner", "left", "right", "outer", "semi", "anti"):
            got = th.merge(*[{k: make(c) for k, c in f.items()} for f in (left, right)], on="id", how=how)
            want = th.merge(left, right, on="id", how=how); assert list(got) == list(want)
            for k in want: assert host(got[k]).dtype == want[k].dtype, k; np.testing.assert_array_equal(host(got[k]), want[k], err_msg=f"{k} {how}")
case(merges)

def streams(make, lib):
    """Calls work in the order of the current stream, and lookups do not wait."""
    k = keys("i8", 100_000, 50_000); v = np.arange(len(k)); x = make(k)
    uniq, index = np.unique(k, return_index=True)
    m = th.Map(make(uniq), make(np.arange(len(uniq)))); m.find(x)
    s = torch.cuda.Stream()
    with torch.cuda.stream(s), cupy.cuda.Stream.from_external(s):
        empty = torch.zeros(len(k), dtype=torch.int64, device="cuda"); held = empty if lib == "torch" else cupy.from_dlpack(empty)
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)
        empty.copy_(x if lib == "torch" else torch.from_dlpack(x))
        out = m.find(held); yes = m.contains(held)
        assert not s.query(), "find() waited"
        codes, values = th.factorize(held)
        torch.cuda._sleep(50_000_000); sums = th.group_by(held).sum(held); left, right = th.join(held, make(uniq))
        index = th.Index(); torch.cuda._sleep(50_000_000); ids = index.add(held)
    np.testing.assert_array_equal(host(sums), th.group_by(k).sum(k)); np.testing.assert_array_equal(uniq[host(right)], k)
    np.testing.assert_array_equal(host(ids), host(codes))
    np.testing.assert_array_equal(uniq[host(out)], k); assert host(yes).all()
    np.testing.assert_array_equal(host(values)[host(codes)], k)
    # A change on another stream comes after lookups in flight.
    with torch.cuda.stream(s), cupy.cuda.Stream.from_external(s):
        torch.cuda._sleep(200_000_000); out = m.find(x)
        assert not s.query()
    m.erase(make(uniq)); assert len(m) == 0
    np.testing.assert_array_equal(uniq[host(out)], k)
case(streams)
def other_current_device(make, lib):
    before = torch.cuda.current_device(); th.factorize(make(np.arange(9))); assert torch.cuda.current_device() == before
case(other_current_device)
def graphs(make, lib):
    if lib != "torch": return
    uniq = np.unique(keys("i8", 50_000, 50_000)); m = th.Map(make(uniq), make(np.arange(len(uniq))))
    q = make(uniq[:1000].copy()); m.find(q); torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): out = m.find(q, default=-1)
    for i in range(3):
        w = rng.integers(0, len(uniq), 1000); q.copy_(torch.from_numpy(uniq[w])); g.replay()
        np.testing.assert_array_equal(host(out), w)
case(graphs)
def threads(make, lib):
    import threading
    wrong = []
    m = th.Map(make(np.arange(1 << 16)), make(np.arange(1 << 16)))
    def work(i):
        try:
            r = np.random.default_rng(i)
            with torch.cuda.stream(torch.cuda.Stream()) as _, cupy.cuda.Stream(non_blocking=True):
                for _ in range(20):
                    k = r.integers(0, 1 << 15, 20_000); c, u = th.factorize(make(k))
                    assert (host(u)[host(c)] == k).all() and (host(m.find(make(k))) == k).all()
        except Exception as e: wrong.append(e)
    all_t = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in all_t]; [t.join() for t in all_t]
    if wrong: raise wrong[0]
case(threads)

class Plain:
    """An array that has DLPack alone, and counts the capsules it gave."""
    def __init__(self, t, versioned): self.t, self.versioned = t, versioned
    def __dlpack_device__(self): return tuple(int(i) for i in self.t.__dlpack_device__())
    def __dlpack__(self, stream=None, **kw):
        if "max_version" in kw and not self.versioned: raise TypeError("old")
        return self.t.__dlpack__(stream=stream, **kw)
class Interface:
    def __init__(self, t): self.t = t; self.__cuda_array_interface__ = t.__cuda_array_interface__
def protocols(make, lib):
    if lib != "torch": return
    k = keys("i8", 10_000, 500); v = reference(k)[0]
    for x in (Plain(make(k), True), Plain(make(k), False), Interface(make(k))):
        c, u = th.factorize(x)
        assert type(u).__name__ == "DeviceArray"
        for back in (torch.from_dlpack(u), torch.as_tensor(cupy.asarray(u))): np.testing.assert_array_equal(host(back), v)
        np.testing.assert_array_equal(host(cupy.from_dlpack(c)), reference(k)[2])
        assert host(torch.from_dlpack(th.isin(x, x))).all()
        m = th.Map(x, x); np.testing.assert_array_equal(host(torch.from_dlpack(m.find(x))), k)
    del c, u, m
case(protocols)
def jax_arrays(make, lib):
    if lib != "torch": return
    import os; os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax, jax.numpy as jnp
    k = keys("i4", 10_000, 500); x = jnp.asarray(k)
    c, u = th.factorize(x); assert isinstance(u, jax.Array), type(u)
    np.testing.assert_array_equal(np.asarray(u), reference(k)[0]); np.testing.assert_array_equal(np.asarray(c), reference(k)[2])
case(jax_arrays)
print(f"{passed} passed, {failed} failed", flush=True)
