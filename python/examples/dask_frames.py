# SPDX-License-Identifier: Apache-2.0
"""Joins and groups Dask DataFrames on a cluster of two processes, and counts keys over its workers.

usage: python python/examples/dask_frames.py      needs dask[dataframe] and distributed
"""

import numpy as np

import tilehash as th
import tilehash.distributed


def count(group, n):
    """The work of a rank: each worker has rows of its own, and all share one map."""
    counts = th.distributed.Map(group)
    counts.update(np.arange(n) % 7, np.ones(n, np.int64), "sum")
    return counts.find(np.arange(7)).tolist()


def main():
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    orders = pd.DataFrame({"shop": np.arange(10000) % 300, "amount": np.arange(10000.0)})
    shops = pd.DataFrame({"shop": np.arange(250), "town": np.arange(250) % 20})
    orders_dd, shops_dd = dd.from_pandas(orders, npartitions=4), dd.from_pandas(shops, npartitions=2)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        # [frames-begin]
        rows = th.distributed.merge(orders_dd, shops_dd, on="shop")
        totals = th.distributed.group_by(rows, "town", total=("amount", "sum"), n="count").compute()
        towns = th.distributed.drop_duplicates(rows[["shop", "town"]])
        # [frames-end]
        different = len(towns)
        with th.distributed.dask(client) as ranks:
            counts = ranks.run(count, 700)
    expected = orders.merge(shops, on="shop").groupby("town").amount.sum()
    right = (totals.set_index("town").total.sort_index() == expected).all() and counts == [[200] * 7] * 2 and different == 250
    print(f"{len(totals)} towns, {totals.n.sum()} rows: {'right' if right else 'wrong'}")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
