# SPDX-License-Identifier: Apache-2.0
"""The work of a rank that test_communicators.py starts by torchrun or mpiexec: a Map against a dict, failures, large rows.

usage: ranks_program.py gloo|nccl|mpi
"""

import sys

import numpy as np

import tilehash as th
import tilehash.distributed as distributed


def communicator(backend):
    if backend == "mpi":
        from mpi4py import MPI

        return MPI.COMM_WORLD, MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
    import os

    import torch

    if backend == "nccl":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group(backend)
    return torch.distributed.group.WORLD, torch.distributed.get_rank(), torch.distributed.get_world_size()


def raised(call):
    try:
        call()
    except Exception as e:
        return str(e)
    return ""


def compare_with_a_dict(group, rank, ranks):
    m, model = distributed.Map(group, np.uint32, np.int64), {}
    rng = np.random.default_rng(7)  # all ranks draw the rows of all
    for turn in range(6):
        rows = [rng.integers(0, 3000, n).astype(np.uint32) for n in rng.integers(0, 4000, ranks) * rng.integers(0, 2, ranks)]
        before = len(model)
        for keys in rows:
            for k in keys.tolist():
                model[k] = model.get(k, 0) + 1
        assert m.update(rows[rank], np.ones(len(rows[rank]), np.int64), "sum") == len(model) - before
        asked = rng.integers(0, 4000, 1000).astype(np.uint32)[rank::ranks]
        assert m.find(asked, -1).tolist() == [model.get(k, -1) for k in asked.tolist()], turn
    gone = np.array(sorted(model)[::3], np.uint32)
    assert m.erase(gone) == len(gone)
    assert m.size() == len(model) - len(gone)


def end_calls_together(group, rank, ranks):
    m = distributed.Map(group)
    message = raised(lambda: m.insert([1, 2], [1] if rank == ranks - 1 else [1, 2]))
    assert "2 keys and 1 values" in message, message
    if rank != ranks - 1:
        assert f"rank {ranks - 1} failed" in message, message
    if ranks > 1:
        message = raised(m.size if rank == 0 else lambda: m.erase([1]))
        assert "different verbs" in message, message
    assert m.size() == 0


def send_many_rows(group, rank, ranks):
    n = 1 << 18
    m = distributed.Map(group)
    keys = np.arange(rank, n * ranks, ranks)
    assert m.insert(keys, keys * 3) == n * ranks
    asked = np.random.default_rng(rank).integers(0, n * ranks, n)
    assert np.array_equal(m.find(asked), asked * 3)


th.set_threads(1)
backend = sys.argv[1]
world = communicator(backend)
for work in (compare_with_a_dict, end_calls_together, send_many_rows):
    work(*world)
if world[1] == 0:
    print(f"{backend}: {world[2]} ranks: passed")
if backend != "mpi":
    import torch

    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
