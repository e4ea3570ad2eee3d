# SPDX-License-Identifier: Apache-2.0
"""tilehash.distributed: maps over ranks against a dict, failures, and a Dask cluster."""

import threading

import numpy as np
import pytest

from tilehash import distributed


def run(ranks, body, timeout=20.0):
    """body(group) on a thread for each rank; the results, or the exceptions, by rank."""
    sockets = distributed.Sockets.pairs(ranks)
    results = [None] * ranks

    def rank(r):
        group = distributed.Sockets(r, sockets[r], timeout)
        try:
            results[r] = body(group)
        except Exception as e:
            results[r] = e
        finally:
            group.close()

    threads = [threading.Thread(target=rank, args=(r,)) for r in range(ranks)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


def passed(results):
    for r in results:
        if isinstance(r, Exception):
            raise r
    return results


def test_shards_are_those_of_cpp():
    for keys, shards in (
        (np.array([0, 1], np.uint32), [2853, 2905]),
        (np.array([2**64 - 1], np.uint64), [500]),
        (np.array([1.5], np.float32), [1686]),
        (np.array([-3], np.int16), [2742]),
        (np.array([1.5]), [3782]),
        (np.array([-3]), [2213]),
        (np.array([-0.0]), distributed.shard_of(np.array([0.0])).tolist()),
    ):
        assert distributed.shard_of(keys).tolist() == shards


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.float64])
def test_answers_as_one_map(ranks, dtype):
    rng = np.random.default_rng(ranks)
    turns = []
    for turn in range(8):
        sizes = rng.integers(0, 3000, ranks) * rng.integers(0, 2, ranks)
        few = turn % 3 == 2  # many repeats
        turns.append([rng.integers(0, 20 if few else 5000, n).astype(dtype) for n in sizes])
    queries = [rng.integers(0, 6000, 1500).astype(dtype) for _ in range(ranks)]

    def body(group):
        m = distributed.Map(group, dtype, np.int64)
        model = {}
        for turn, keys in enumerate(turns):
            mine = keys[group.rank()]
            everything = np.concatenate(keys).tolist()
            before = len(model)
            if turn % 4 == 0:
                added = m.insert(mine, (mine * 3).astype(np.int64))
                for k in everything:
                    model.setdefault(k, int(k * 3))
            elif turn % 4 == 1:
                added = m.assign(mine, np.full(len(mine), turn))
                model.update(dict.fromkeys(everything, turn))
            elif turn % 4 == 2:
                added = m.update(mine, np.ones(len(mine), np.int64), "sum")
                for k in everything:
                    model[k] = model.get(k, 0) + 1
            else:
                gone = {k for k in everything if k in model}
                assert m.erase(mine) == len(gone)
                for k in gone:
                    del model[k]
                added = len(model) - before
            assert added == len(model) - before or turn % 4 == 3
            assert m.size() == len(model)
            asked = queries[group.rank()]
            assert m.find(asked, -1).tolist() == [model.get(k, -1) for k in asked.tolist()]
            assert m.contains(asked).tolist() == [k in model for k in asked.tolist()]
        keys, values = m.items()
        assert (m.owner(keys) == group.rank()).all()
        return dict(zip(keys.tolist(), values.tolist(), strict=True)), model

    parts = passed(run(ranks, body))
    merged = {}
    for part, model in parts:
        merged.update(part)
    assert merged == parts[0][1] == model


def test_groups_rows_of_all_ranks():
    def body(group):
        keys = np.arange(1000) % (7 + group.rank())
        return distributed.group_by(group, keys, np.ones(1000, np.int64), "sum")

    found = {}
    for keys, values in passed(run(3, body)):
        found.update(zip(keys.tolist(), values.tolist(), strict=True))
    expected = np.bincount(np.concatenate([np.arange(1000) % (7 + r) for r in range(3)]))
    assert found == dict(enumerate(expected.tolist()))


def test_a_frequent_key_is_sent_once():
    class Counting(distributed.Sockets):
        sent = 0

        def all_to_all(self, parts):
            self.sent += sum(len(p) for p in parts)
            return super().all_to_all(parts)

    def body(group):
        group.__class__ = Counting
        m = distributed.Map(group)
        keys = np.where(np.arange(20000) % 2 == 0, 7, np.arange(20000) % 100)
        m.update(keys, keys, "sum")
        m.find(keys)
        return group.sent

    assert max(passed(run(2, body))) < 20000


def test_a_failure_ends_the_call_on_all_ranks():
    def body(group):
        m = distributed.Map(group)
        m.insert([1, 2], [1, 2])
        failures = []
        for call in (
            lambda: m.insert([1, 2], [1, 2] if group.rank() != 1 else [1]),
            lambda: m.find(np.array([1.5]) if group.rank() == 1 else [1]),
            lambda: m.erase([None] if group.rank() == 1 else [1]),
            lambda: m.update([1], [1], "sum" if group.rank() != 1 else "nothing"),
        ):
            with pytest.raises(Exception) as e:
                call()
            failures.append(str(e.value))
            assert m.size() == 2 and m.find([1, 2]).tolist() == [1, 2]
        return failures

    results = passed(run(3, body))
    for own, other in zip(results[1], results[2], strict=True):
        assert own.removeprefix("tilehash: ") in other and "rank 1 failed: " in other


def test_different_calls_are_refused():
    def body(group):
        m = distributed.Map(group)
        with pytest.raises(ValueError, match="rank 0 insert, rank 1 size;"):
            m.insert([1], [1]) if group.rank() == 0 else m.size()
        return m.size()

    assert passed(run(2, body)) == [0, 0]


def test_different_types_are_refused():
    def body(group):
        distributed.Map(group, np.int64 if group.rank() == 0 else np.uint32)

    for failure in run(2, body):
        assert "different types" in str(failure)


@pytest.mark.parametrize(("rank", "size"), [(0, 0), (1, 1), (-1, 2), (0, 4097)])
def test_groups_of_no_or_too_many_ranks_are_refused(rank, size):
    class Other(distributed.One):
        def rank(self):
            return rank

        def size(self):
            return size

    with pytest.raises(ValueError, match="a group has 1 to 4096 ranks"):
        distributed.Map(Other())


def test_a_group_of_another_size_is_refused():
    class Growing(distributed.One):
        ranks = 1

        def size(self):
            return self.ranks

    group = Growing()
    m = distributed.Map(group)
    assert m.insert([1, 2], [3, 4]) == 2
    group.ranks = 2
    for call in (m.size, lambda: m.insert([5], [6]), lambda: m.find([1])):
        with pytest.raises(ValueError, match="was made for 1 ranks and the group has 2"):
            call()
    group.ranks = 1
    assert m.size() == 2


def test_keys_on_a_gpu_are_refused():
    class OnGpu:
        __cuda_array_interface__ = {"shape": (1,), "typestr": "<i8", "data": (0, False), "version": 3}

    def body(group):
        m = distributed.Map(group)
        with pytest.raises(Exception, match="takes no arrays of a GPU") as e:
            m.insert(OnGpu() if group.rank() == 1 else [1], [1])
        assert m.size() == 0
        return str(e.value)

    failures = passed(run(2, body))
    assert "rank 1 failed" in failures[0]


def test_ranks_bring_different_numbers_of_rows():
    def body(group):
        m = distributed.Map(group)
        mine = np.arange(1000 * group.rank())  # rank 0 brings none
        assert m.insert(mine, mine) == 2000
        return len(m.find(mine))

    assert passed(run(3, body)) == [0, 1000, 2000]


def test_a_world_of_one():
    m = distributed.Map(distributed.One())
    assert m.update([4, 5, 4], [1, 1, 1], "sum") == 2
    assert m.find([4, 6], -1).tolist() == [2, -1] and m.owner([4, 5]).tolist() == [0, 0]
    assert m.erase([4]) == 1 and m.size() == 1


@pytest.mark.parametrize("step", range(10))
def test_a_rank_that_ends_ends_the_others(step):
    class Failing(distributed.Sockets):
        steps = 0

        def all_to_all(self, parts):
            self.steps += 1
            if self.steps == step + 1 and self.rank() == 1:
                raise RuntimeError("step")
            return super().all_to_all(parts)

    def body(group):
        group.__class__ = Failing
        m = distributed.Map(group)
        m.insert([1, 2, 3], [1, 2, 3])
        m.find([1, 2])
        m.size()

    results = run(3, body)
    assert str(results[1]) == "step"
    for r in (0, 2):
        assert "start the ranks again" in str(results[r])


def test_a_rank_that_does_not_answer_is_given_up():
    waiting = threading.Event()

    def body(group):
        if group.rank() == 1:
            waiting.wait(10)
            return None
        try:
            distributed.Map(group)
        finally:
            waiting.set()

    assert "did not answer within 0.1 s" in str(run(2, body, timeout=0.1)[0])


def work_of_a_worker(group, n):
    m = distributed.Map(group)
    m.update(np.arange(n) % 10, np.ones(n, np.int64), "sum")
    return m.find([group.rank(), 100]).tolist(), m.size()


def test_ranks_on_the_workers_of_a_dask_cluster():
    dask = pytest.importorskip("distributed")
    with (
        dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
        distributed.dask(client) as ranks,
    ):
        assert ranks.run(work_of_a_worker, 1000) == [([200, 0], 10)] * 2
