# SPDX-License-Identifier: Apache-2.0
"""Communicators of torch.distributed and mpi4py as groups of tilehash.distributed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


class TorchGroup:
    """The ranks of a group of torch.distributed; None is the default group.

    A group with a backend for CPUs, such as gloo, sends from host memory. Otherwise rows pass through the current GPU,
    as NCCL needs it. The group's own time limit ends a call whose peer does not answer.
    """

    def __init__(self, group: Any = None) -> None:
        import torch
        import torch.distributed as library

        if not library.is_initialized():
            raise RuntimeError("tilehash: call torch.distributed.init_process_group() first")
        self._torch, self._library, self._group = torch, library, group
        if library.get_rank(group) < 0:
            raise ValueError("tilehash: this process is no rank of the torch.distributed group")
        on_host = "cpu:" in library.get_backend_config(group)
        self._device = torch.device("cpu") if on_host else torch.device("cuda", torch.cuda.current_device())

    def rank(self) -> int:
        """This rank's number."""
        return int(self._library.get_rank(self._group))

    def size(self) -> int:
        """The number of ranks."""
        return int(self._library.get_world_size(self._group))

    def all_gather(self, words: Words) -> Words:
        """See Group."""
        mine = self._torch.from_numpy(words.view(np.int64)).to(self._device)
        rows = [self._torch.empty_like(mine) for _ in range(self.size())]
        self._call(lambda: self._library.all_gather(rows, mine, group=self._group))
        return self._torch.stack(rows).cpu().numpy().view(np.uint64)  # type: ignore[no-any-return]

    def all_to_all(self, parts: Sequence[Bytes]) -> list[Bytes]:
        """See Group."""
        sizes = [len(p) for p in parts]
        came = self.all_gather(np.array(sizes, np.uint64))[:, self.rank()].astype(np.int64)
        sent = self._torch.from_numpy(np.concatenate(parts)).to(self._device)
        received = self._torch.empty(int(came.sum()), dtype=self._torch.uint8, device=self._device)
        self._call(lambda: self._library.all_to_all_single(received, sent, came.tolist(), sizes, group=self._group))
        return np.split(received.cpu().numpy(), np.cumsum(came)[:-1])

    def _call(self, call: Callable[[], Any]) -> None:
        try:
            call()
        except RuntimeError as e:
            raise ConnectionError(f"tilehash: torch.distributed failed; start the ranks again: {e}") from e


class MpiGroup:
    """The ranks of a communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm

    def rank(self) -> int:
        """This rank's number."""
        return int(self._comm.Get_rank())

    def size(self) -> int:
        """The number of ranks."""
        return int(self._comm.Get_size())

    def all_gather(self, words: Words) -> Words:
        """See Group."""
        rows = np.empty((self.size(), len(words)), np.uint64)
        self._comm.Allgather(np.ascontiguousarray(words), rows)
        return rows

    def all_to_all(self, parts: Sequence[Bytes]) -> list[Bytes]:
        """See Group."""
        sizes, came = np.array([len(p) for p in parts], np.int64), np.empty(len(parts), np.int64)
        self._comm.Alltoall(sizes, came)
        sent, received = np.concatenate(parts), np.empty(int(came.sum()), np.uint8)
        self._comm.Alltoallv([sent, sizes.tolist()], [received, came.tolist()])
        return np.split(received, np.cumsum(came)[:-1])


def as_group(group: Any) -> Any:
    """A group of these ranks: an object with the methods of Group, a torch.distributed group, or a communicator of mpi4py."""
    if all(hasattr(group, name) for name in ("rank", "size", "all_gather", "all_to_all")):
        return group
    if hasattr(group, "Get_rank") and hasattr(group, "Alltoallv"):
        return MpiGroup(group)
    library = sys.modules.get("torch.distributed")
    if library is not None and isinstance(group, getattr(library, "ProcessGroup", ())):
        return TorchGroup(group)
    raise TypeError(
        f"tilehash: {type(group).__name__} is no group: it needs rank, size, all_gather and all_to_all, "
        "or is a torch.distributed group or an mpi4py communicator"
    )


__all__ = ["MpiGroup", "TorchGroup", "as_group"]
