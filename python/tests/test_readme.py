# SPDX-License-Identifier: Apache-2.0
"""The code of README.md and python/README.md: scripts/check_quotes.py compares it with the parts between the marks."""


def test_the_lines_of_the_readme():
    # [readme-begin]
    import numpy as np, tilehash as th
    codes, values = th.factorize(np.array([7, 4, 7, 9]))  # [0, 1, 0, 2], [7, 4, 9]
    found = th.Map(np.array([7, 4]), np.array([1, 2])).find(np.array([4, 6]), default=0)  # [2, 0]
    # [readme-end]
    assert codes.tolist() == [0, 1, 0, 2] and values.tolist() == [7, 4, 9]
    assert found.tolist() == [2, 0]


def test_the_quick_start_of_the_package():
    # [quick_start-begin]
    import numpy as np
    import tilehash as th

    k = np.array([7, 4, 7, 9])
    codes, values = th.factorize(k)              # [0, 1, 0, 2], [7, 4, 9]
    among = th.isin(k, [4, 9])                   # [False, True, False, True]
    g = th.group_by(k)                           # g.keys is ([7, 4, 9],): an array for each column
    sums = g.agg(total=(np.array([1.0, 2, 3, 4]), "sum"), n="count")
    left, right = th.join(k, np.array([9, 7]), how="left")  # rows; -1 where there is none
    m = th.Map(k, np.array([1, 2, 3, 4]))        # the first of equal keys stays
    m.update([4, 5], [10, 20], "sum")
    found = m.find([4, 5, 6], default=0)         # [12, 20, 0]
    # [quick_start-end]
    assert codes.tolist() == [0, 1, 0, 2] and values.tolist() == [7, 4, 9]
    assert among.tolist() == [False, True, False, True]
    assert [column.tolist() for column in g.keys] == [[7, 4, 9]]
    assert sums["total"].tolist() == [4, 2, 4] and sums["n"].tolist() == [2, 1, 1]
    assert left.tolist() == [0, 1, 2, 3] and right.tolist() == [1, -1, 1, 0]
    assert found.tolist() == [12, 20, 0]


def test_the_map_over_several_processes():
    import numpy as np
    import tilehash as th
    import tilehash.distributed

    group = th.distributed.One()
    # [distributed-begin]
    m = th.distributed.Map(group, keys=np.int64, values=np.int64)  # all processes make the same calls
    m.update([4, 5, 4], [1, 1, 1], "sum")                          # each with rows of its own
    of_mine = m.find([4, 6], default=0)                            # in the order of its own keys
    n = m.size()                                                   # on all processes
    # [distributed-end]
    assert of_mine.tolist() == [2, 0] and n == 2


def test_rows_in_batches():
    import numpy as np
    import tilehash as th

    batches = [(np.array([4, 7]), np.array([1, 2])), (np.array([7, 9]), np.array([3, 4]))]
    # [streamed-begin]
    m = th.Map()
    added = th.streamed(m).update(batches, "sum")  # or a path, a reader, a relation of DuckDB
    for found in th.streamed(m).find([np.array([7]), np.array([9, 1])]):
        print(found)  # [5], then [4, 0]
    # [streamed-end]
    assert added == 3 and found.tolist() == [4, 0]


def test_a_map_larger_than_memory():
    import tempfile

    import numpy as np
    import tilehash as th

    batches = [(np.array([4, 7]), np.array([1, 2])), (np.array([7, 9]), np.array([3, 4]))]
    with tempfile.TemporaryDirectory() as folder:
        # [stored-begin]
        m = th.Stored(folder, keys=np.int64, values=np.int64, parts=16)
        added = th.streamed(m).update(batches, "sum")  # reads and writes each part once
        found = m.find([7, 1])                         # [5, 0]
        # [stored-end]
    assert added == 3 and found.tolist() == [5, 0]
