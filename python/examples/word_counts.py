# SPDX-License-Identifier: Apache-2.0
"""Counts keys over the ranks of torch.distributed or MPI: each rank counts its own, and all share one map.

torchrun --nproc-per-node 2 python/examples/word_counts.py          gloo on CPUs; on machines with GPUs NCCL as well
mpiexec -n 2 python python/examples/word_counts.py mpi
"""

import sys

import numpy as np

import tilehash as th
import tilehash.distributed

if sys.argv[1:] == ["mpi"]:
    from mpi4py import MPI

    group = MPI.COMM_WORLD
    rank, ranks = group.Get_rank(), group.Get_size()
else:
    import torch.distributed

    torch.distributed.init_process_group("gloo")
    group = torch.distributed.group.WORLD
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()

th.set_threads(1)
words = np.arange(1000) % (10 + rank)  # this rank's rows
counts = th.distributed.Map(group, keys=np.int64, values=np.int64)
added = counts.update(words, np.ones(len(words), np.int64), "sum")  # of all ranks
of_mine = counts.find(words)  # in the order of this rank's rows

expected = sum(np.bincount(np.arange(1000) % (10 + r), minlength=10 + ranks) for r in range(ranks))
assert of_mine.tolist() == expected[words].tolist()
assert added == counts.size() == 9 + ranks
if rank == 0:
    print(f"{ranks} ranks, {added} words: right")
if "torch.distributed" in sys.modules:
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
