# SPDX-License-Identifier: Apache-2.0
"""tilehash.distributed over torch.distributed, mpi4py and Ray, with the launchers that their users have."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest

from tilehash import distributed

HERE = pathlib.Path(__file__).parent


def needs(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


def launch(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def torchrun(ranks, *command):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return launch(*launcher, *map(str, command))


def mpiexec(ranks, *command):
    if shutil.which("mpiexec") is None:
        pytest.skip("mpiexec is not in PATH")
    return launch("mpiexec", "-n", str(ranks), sys.executable, *map(str, command))


@needs("torch")
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_of_torch(ranks):
    assert f"{ranks} ranks: passed" in torchrun(ranks, HERE / "ranks_program.py", "gloo")


@needs("torch")
def test_ranks_of_nccl():
    import torch

    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    ranks = torch.cuda.device_count()
    assert f"{ranks} ranks: passed" in torchrun(ranks, HERE / "ranks_program.py", "nccl")


@needs("mpi4py")
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_ranks_of_mpi4py(ranks):
    assert f"{ranks} ranks: passed" in mpiexec(ranks, HERE / "ranks_program.py", "mpi")


@needs("torch")
def test_the_example_with_torchrun():
    assert "2 ranks, 11 words: right" in torchrun(2, HERE.parent / "examples/word_counts.py")


@needs("mpi4py")
def test_the_example_with_mpiexec():
    assert "3 ranks, 12 words: right" in mpiexec(3, HERE.parent / "examples/word_counts.py", "mpi")


def work_of_an_actor(group, n):
    m = distributed.Map(group)
    m.update(np.arange(n) % 10, np.ones(n, np.int64), "sum")
    return m.find([group.rank(), 100]).tolist(), m.size()


def fails_on_rank_1(group):
    distributed.Map(group).insert([1], [1, 2] if group.rank() == 1 else [1])


@needs("ray")
def test_ranks_as_actors_of_ray(monkeypatch):
    import ray

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    environment = {"env_vars": {"PYTHONPATH": str(HERE)}}  # the actors import this module
    ray.init(num_cpus=3, include_dashboard=False, runtime_env=environment)
    try:
        with distributed.ray(ranks=3, num_cpus=1) as ranks:
            assert len(ranks) == 3
            assert ranks.run(work_of_an_actor, 1000) == [([300, 0], 10)] * 3
            with pytest.raises(Exception, match="1 keys and 2 values"):
                ranks.run(fails_on_rank_1)
            assert ranks.run(work_of_an_actor, 1000) == [([300, 0], 10)] * 3
        with distributed.ray(num_cpus=1) as ranks:  # a rank for the only node
            assert ranks.run(work_of_an_actor, 1000) == [([100, 0], 10)]
    finally:
        ray.shutdown()


def test_other_objects_are_no_groups():
    for x in (7, object(), types.SimpleNamespace(rank=None, size=None)):
        with pytest.raises(TypeError, match="is no group"):
            distributed.Map(x)
