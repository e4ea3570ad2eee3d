# SPDX-License-Identifier: Apache-2.0
"""One map over several processes, and groups of rows that are distributed over them.

A rank is a process. All ranks make the same calls in the same order, each with rows of its own. A group connects
them: a group of torch.distributed, a communicator of mpi4py, or any object with the four methods of `Group`. `Sockets` is
one; `dask()` and `ray()` make one for the workers of a cluster.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from . import _dask_frames
from ._analysis import factorize
from ._arrays import NO_CODE, Array, Column
from ._communicators import Bytes, MpiGroup, TorchGroup, Words, as_group
from ._dask_frames import drop_duplicates, merge
from ._tables import Map as LocalMap
from ._tables import _as_column, _Words

SHARD_BITS = 12


class Group(Protocol):
    """The ranks of a call. A method that fails throws, and so do those of the other ranks, then or after a time limit."""

    def rank(self) -> int:
        """This rank's number, below size()."""

    def size(self) -> int:
        """The number of ranks."""

    def all_gather(self, words: Words) -> Words:
        """The words of all ranks, a row for each. All ranks give as many words."""

    def all_to_all(self, parts: Sequence[Bytes]) -> list[Bytes]:
        """Sends part r to rank r. Returns the part that came from each rank."""


class One:
    """A world of one rank."""

    def rank(self) -> int:
        """0."""
        return 0

    def size(self) -> int:
        """1."""
        return 1

    def all_gather(self, words: Words) -> Words:
        """See Group."""
        return words.reshape(1, -1)

    def all_to_all(self, parts: Sequence[Bytes]) -> list[Bytes]:
        """See Group."""
        return list(parts)


class Sockets:
    """Ranks that are connected by a stream socket for each pair.

    sockets[r] is connected with rank r; this rank's own is None. The object takes the sockets over. A rank that makes no
    progress for `timeout` seconds is given up.
    """

    def __init__(self, rank: int, sockets: Sequence[socket.socket | None], timeout: float = 30.0) -> None:
        if not 0 <= rank < len(sockets):
            raise ValueError("tilehash: a rank is below the number of sockets")
        self._rank, self._sockets, self._timeout = rank, list(sockets), timeout
        self._open = True
        for s in self._sockets:
            if s is not None:
                s.settimeout(timeout)

    @staticmethod
    def pairs(ranks: int) -> list[list[socket.socket | None]]:
        """The sockets of processes that are forked from this one: row r is for rank r, which closes the others."""
        all_of: list[list[socket.socket | None]] = [[None] * ranks for _ in range(ranks)]
        for a in range(ranks):
            for b in range(a + 1, ranks):
                all_of[a][b], all_of[b][a] = socket.socketpair()
        return all_of

    @staticmethod
    def connect(rank: int, listener: socket.socket, addresses: Sequence[tuple[str, int]], timeout: float = 30.0) -> Sockets:
        """Connects ranks over a network. addresses[r] is where the listener of rank r listens."""
        sockets: list[socket.socket | None] = [None] * len(addresses)
        listener.settimeout(timeout)
        for r in range(rank):
            sockets[r] = s = socket.create_connection(addresses[r], timeout)
            s.sendall(rank.to_bytes(8, "little"))
        for _ in range(rank + 1, len(addresses)):
            s, _where = listener.accept()
            s.settimeout(timeout)
            other = int.from_bytes(_received(s, 8), "little")
            if not rank < other < len(addresses) or sockets[other] is not None:
                raise ConnectionError("tilehash: a stranger connected to a rank")
            sockets[other] = s
        return Sockets(rank, sockets, timeout)

    def rank(self) -> int:
        """This rank's number."""
        return self._rank

    def size(self) -> int:
        """The number of ranks."""
        return len(self._sockets)

    def close(self) -> None:
        """Closes the sockets. The other ranks' calls then end."""
        self._open = False
        for s in self._sockets:
            if s is not None:
                s.close()

    def all_gather(self, words: Words) -> Words:
        """See Group."""
        mine = words.view(np.uint8)
        rows = self.all_to_all([mine] * self.size())
        if any(len(row) != len(mine) for row in rows):
            raise RuntimeError("tilehash: all_gather: the ranks' arrays differ in length")
        return np.stack([row.view(np.uint64) for row in rows])

    def all_to_all(self, parts: Sequence[Bytes]) -> list[Bytes]:
        """See Group."""
        if not self._open:
            raise ConnectionError("tilehash: the group is closed or has failed; start the ranks again")
        ranks = self.size()
        came: list[Bytes] = [np.zeros(0, np.uint8)] * ranks
        came[self._rank] = parts[self._rank]
        failures: list[BaseException] = []

        def send() -> None:
            try:
                for k in range(1, ranks):
                    r = (self._rank + k) % ranks
                    part = np.ascontiguousarray(parts[r])
                    self._to(r).sendall(len(part).to_bytes(8, "little"))
                    if len(part) != 0:  # (a peer that has the length of an empty part may have ended)
                        self._to(r).sendall(part.data)
            except BaseException as e:  # raised by the caller's thread
                failures.append(e)

        sender = threading.Thread(target=send)
        sender.start()
        peer = self._rank
        try:
            for k in range(1, ranks):
                peer = (self._rank - k) % ranks
                s = self._to(peer)
                came[peer] = np.frombuffer(_received(s, int.from_bytes(_received(s, 8), "little")), np.uint8)
            sender.join()
            if failures:
                raise failures[0]
        except (OSError, EOFError) as e:
            self.close()
            sender.join()
            what = f"did not answer within {self._timeout} s" if isinstance(e, TimeoutError) else "has ended"
            raise ConnectionError(f"tilehash: rank {peer} of {ranks} {what}; start the ranks again") from e
        return came

    def _to(self, r: int) -> socket.socket:
        s = self._sockets[r]
        if s is None:
            raise ConnectionError(f"tilehash: there is no socket to rank {r}")
        return s


def _received(s: socket.socket, n: int) -> bytearray:
    data = bytearray(n)
    view = memoryview(data)
    while view:
        got = s.recv_into(view)
        if got == 0:
            raise EOFError
        view = view[got:]
    return data


# ---- owners ----


def shard_of(keys: Any) -> npt.NDArray[np.uint32]:
    """The shard of each key, below 4096: the same as tilehash::several::shard_of() in C++."""
    c = _as_column(keys, None)
    if c.values is None:
        raise TypeError("tilehash: keys of a table are numbers")
    return _shards(_Words(c.values.dtype, "keys"), c)


def _shards(k: _Words, c: Column) -> npt.NDArray[np.uint32]:
    words = k.keys(c)
    if k.dtype.itemsize == 8:
        h = words ^ np.uint64(0x5348415244530001)
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            h = (h ^ (h >> np.uint64(33))) * np.uint64(factor)
        h = h ^ (h >> np.uint64(33))
        h = (h ^ (h >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        return (h >> np.uint64(64 - SHARD_BITS)).astype(np.uint32)
    if k.dtype.kind == "f":
        narrow = words.view(np.float64).astype(np.float32).view(np.uint32)
    else:
        narrow = words.astype(f"u{k.dtype.itemsize}").astype(np.uint32)  # the bytes of the key, and zeros
    low = (narrow ^ np.uint32(0x44530001)) * np.uint32(0x9E3779B1)
    low = (low ^ (low >> np.uint32(15))) * np.uint32(0x85EBCA77)
    low = (low ^ (low >> np.uint32(13))) * np.uint32(0xC2B2AE3D)
    return low >> np.uint32(32 - SHARD_BITS)


# ---- agreement ----

_VERBS = ("Map", "insert", "assign", "update", "find", "contains", "erase", "size", "streamed")
_TEXT = 32  # words of a message


class _Agreement:
    """Words that all ranks exchange before they exchange rows. A rank that failed ends the call on all ranks."""

    def __init__(self, group: Group) -> None:
        self.group, self.ranks = group, group.size()
        self.verb, self.calls, self.steps = "Map", 0, 0
        self.failure: BaseException | None = None

    def begin(self, verb: str) -> None:
        self.verb, self.steps, self.failure = verb, 0, None
        self.calls += 1
        if self.group.size() != self.ranks:
            raise ValueError(f"tilehash: the map was made for {self.ranks} ranks and the group has {self.group.size()}; make a new one")

    def attempt(self, step: Callable[[], Any], otherwise: Any = None) -> Any:
        """Runs a step of this rank alone. A failure is kept for the next agree()."""
        if self.failure is not None:
            return otherwise
        try:
            return step()
        except Exception as e:
            self.failure = e
            return otherwise

    def agree(self, *words: int) -> Words:
        """The words of all ranks. Raises on all ranks if one failed."""
        self.steps += 1
        head = [int(self.failure is not None), _VERBS.index(self.verb), self.calls, self.steps]
        padding = [0] * (max(self.ranks, 2) - len(words))  # one length, so that different verbs can be compared
        rows = self.group.all_gather(np.array([*head, *words, *padding], np.uint64))
        for r in range(1, self.ranks):
            if rows[r, 1] != rows[0, 1]:
                raise ValueError(
                    f"tilehash: the ranks call different verbs: rank 0 {_VERBS[int(rows[0, 1])]}, rank {r} "
                    f"{_VERBS[int(rows[r, 1])]}; all ranks make the same calls in the same order"
                )
            if (rows[r, 2:4] != rows[0, 2:4]).any():
                raise ValueError(f"tilehash: {self.verb}: rank 0 and rank {r} made different numbers of calls")
        if rows[:, 0].any():
            self._fail(int(np.argmax(rows[:, 0])))
        return rows[:, 4:]

    def _fail(self, first: int) -> None:
        text = np.zeros(8 * _TEXT, np.uint8)
        if self.failure is not None:
            own = str(self.failure).removeprefix("tilehash: ").encode()[: len(text)]
            text[: len(own)] = np.frombuffer(own, np.uint8)
        rows = self.group.all_gather(text.view(np.uint64))
        if self.failure is not None:
            raise self.failure
        line = rows[first].tobytes().rstrip(b"\0").decode(errors="replace")
        raise RuntimeError(f"tilehash: {self.verb}: rank {first} failed: {line}")


# ---- the map ----


class Map:
    """One value for each key, over several ranks: each rank has the keys that it owns in a Map of its own.

    All verbs but `local`, `owner` and `items` are collective. Results are in the order of the rank's own keys, and numbers
    of keys are sums over all ranks. If a rank fails before the maps change, all ranks raise and no map has changed. The
    types of keys and values are given, because a rank may bring no rows.

    A group is an object with the methods of `Group`, a group of torch.distributed, a communicator of mpi4py, or None for
    one rank.
    """

    def __init__(self, group: Any = None, keys: Any = np.int64, values: Any = np.int64) -> None:
        self._group: Group = One() if group is None else as_group(group)
        if not 1 <= self._group.size() <= 1 << SHARD_BITS or not 0 <= self._group.rank() < self._group.size():
            raise ValueError("tilehash: a group has 1 to 4096 ranks, numbered from 0")
        self._agreement = _Agreement(self._group)
        self._agreement.begin("Map")
        types = self._agreement.attempt(lambda: (_Words(np.dtype(keys), "keys"), _Words(np.dtype(values), "values")))
        both = types or (_Words(np.dtype(np.int64), "keys"),) * 2
        self._k: _Words = both[0]
        self._v: _Words = both[1]
        codes = [int.from_bytes(w.dtype.str[1:].encode()[:7], "little") for w in both]
        rows = self._agreement.agree(*codes)
        if (rows != rows[0]).any():
            raise ValueError("tilehash: the ranks' maps have different types of keys or values")
        self.local = LocalMap(np.zeros(0, self._k.dtype), np.zeros(0, self._v.dtype))  #: this rank's part

    def owner(self, keys: Any) -> npt.NDArray[np.uint32]:
        """The rank that owns each key."""
        return self._owners(self._column(keys))

    def size(self) -> int:
        """The number of keys on all ranks."""
        self._agreement.begin("size")
        return int(self._agreement.agree(len(self.local))[:, 0].sum())

    def items(self) -> tuple[Any, Any]:
        """The keys that this rank owns, and their values."""
        return self.local.items()

    def insert(self, keys: Any, values: Any) -> int:
        """Adds the keys that are not present. Any one of equal keys stays. Returns how many were added on all ranks."""
        return self._change("insert", keys, values, self._first, self.local.insert)

    def assign(self, keys: Any, values: Any) -> int:
        """Adds keys and replaces values. Any one of equal keys of several ranks wins. Returns how many were added."""
        return self._change("assign", keys, values, self._last, self.local.assign)

    def update(self, keys: Any, values: Any, op: Literal["sum", "min", "max"]) -> int:
        """Combines values with those of present keys, and adds the others. Returns how many were added.

        Each rank combines its own rows first, so it sends a key once.
        """

        def combined(k: Array, v: Array) -> tuple[Any, Any]:
            own = LocalMap(np.zeros(0, k.dtype), np.zeros(0, v.dtype))
            own.update(k, v, op)
            return own.items()

        return self._change("update", keys, values, combined, lambda k, v: self.local.update(k, v, op))

    def find(self, keys: Any, default: Any = 0) -> Any:
        """The value of each key, or the default where it is absent."""
        return self._look_up("find", keys, self._v.dtype, lambda k: self.local.find(k, default))

    def contains(self, keys: Any) -> Any:
        """Is each key present?"""
        return self._look_up("contains", keys, np.dtype(np.bool_), self.local.contains)

    def erase(self, keys: Any) -> int:
        """Removes keys. Returns how many were present."""
        a = self._agreement
        a.begin("erase")
        mine = a.attempt(lambda: _unique(self._column(keys))[0])
        (theirs,), _, _ = self._to_owners([mine], [self._k.dtype])
        return int(a.agree(a.attempt(lambda: self.local.erase(theirs), 0))[:, 0].sum())

    # The keys as a NumPy array of the map's type.
    def _column(self, keys: Any) -> Array:
        c = _as_column(keys, self._k.dtype)
        self._k.keys(c)  # refuses other types, nulls and NaN
        assert c.values is not None
        return c.values

    def _owners(self, keys: Array) -> npt.NDArray[np.uint32]:
        shards = _shards(self._k, _as_column(keys, None)).astype(np.uint64)
        return (shards * np.uint64(self._group.size()) >> np.uint64(SHARD_BITS)).astype(np.uint32)

    def _first(self, keys: Array, values: Array) -> tuple[Array, Array]:
        rows = _first_rows(keys)
        return keys[rows], values[rows]

    def _last(self, keys: Array, values: Array) -> tuple[Array, Array]:
        rows = len(keys) - 1 - _first_rows(keys[::-1])
        return keys[rows], values[rows]

    def _change(self, verb: str, keys: Any, values: Any, combine: Any, change: Callable[[Any, Any], int]) -> int:
        a = self._agreement
        a.begin(verb)

        def own() -> tuple[Any, Any]:
            k, v = self._column(keys), _as_column(values, self._v.dtype)
            if len(k) != v.size:
                raise ValueError(f"tilehash: {len(k)} keys and {v.size} values")
            self._v.words(v)
            result: tuple[Any, Any] = combine(k, v.values)
            return result

        k, v = a.attempt(own, (None, None))
        (its_keys, its_values), _, _ = self._to_owners([k, v], [self._k.dtype, self._v.dtype])
        return int(a.agree(a.attempt(lambda: change(its_keys, its_values), 0))[:, 0].sum())

    # Sends columns to the owners of their first one. Returns the columns that came, the order in which this rank's
    # rows were sent, and the rows from each rank.
    def _to_owners(self, columns: list[Any], dtypes: list[Any]) -> tuple[list[Array], Any, Any]:
        a, ranks = self._agreement, self._group.size()

        def route() -> tuple[Any, Any]:
            owners = self._owners(columns[0])
            return np.argsort(owners, kind="stable"), np.bincount(owners, minlength=ranks)

        order, counts = a.attempt(route, (None, np.zeros(ranks, np.int64)))
        came = a.agree(*(int(n) for n in counts))[:, self._group.rank()].astype(np.int64)
        ends = np.cumsum(counts)[:-1]
        arrived = []
        for column, dtype in zip(columns, dtypes):
            parts = [np.ascontiguousarray(p).view(np.uint8) for p in np.split(column[order], ends)]
            arrived.append(_joined(self._group.all_to_all(parts), dtype, came))
        return arrived, order, came

    def _look_up(self, verb: str, keys: Any, dtype: Any, look_up: Callable[[Any], Any]) -> Any:
        a = self._agreement
        a.begin(verb)

        def own() -> tuple[Any, Any, Any]:
            c = _as_column(keys, self._k.dtype)
            return c, *_unique(self._column(keys))

        c, sent, codes = a.attempt(own, (None, None, None))
        (theirs,), order, came = self._to_owners([sent], [self._k.dtype])
        found = a.attempt(lambda: np.ascontiguousarray(np.asarray(look_up(theirs)).astype(dtype)))
        a.agree()
        parts = [p.view(np.uint8) for p in np.split(found, np.cumsum(came)[:-1])]
        counts = np.bincount(self._owners(sent), minlength=self._group.size())
        answers = np.empty(len(sent), dtype)
        answers[order] = _joined(self._group.all_to_all(parts), dtype, counts)
        return c.wrap(answers if codes is None else answers[codes])


def _joined(parts: list[Bytes], dtype: Any, counts: Any) -> Array:
    if [len(p) for p in parts] != [int(n) * np.dtype(dtype).itemsize for n in counts]:
        raise RuntimeError("tilehash: a rank sent rows of another number")
    return np.concatenate(parts).view(dtype)


def _first_rows(keys: Array) -> npt.NDArray[np.int64]:
    codes, values = factorize(keys)
    rows = np.empty(len(values), np.int64)
    rows[codes[::-1]] = np.arange(len(keys) - 1, -1, -1)
    return rows


def _unique(keys: Array) -> tuple[Array, Any]:
    """The keys without most repeats, and the number of each row's key there; None where a sample shows few repeats."""
    few = 1000
    sample = keys[:: max(1, len(keys) // few)]
    if len(keys) < few or len(np.unique(sample)) > 0.9 * len(sample):
        return keys, None
    codes, values = factorize(keys)
    return values, codes


def group_by(group: Any, keys: Any, values: Any = None, op: Any = None, **reductions: Any) -> Any:
    """Groups the rows of all ranks, or those of a Dask DataFrame.

    group_by(group, keys, values, op): collective. Combines the values of equal keys by "sum", "min" or "max". Returns the
    keys that this rank owns, and their values.

    group_by(frame, by, total=("amount", "sum"), n="count"): see tilehash._dask_frames.group_by. Returns a Dask DataFrame.
    """
    if _dask_frames.is_dask_frame(group):
        if values is not None or op is not None:
            raise TypeError('tilehash: reductions of a Dask DataFrame have names: total=("amount", "sum")')
        return _dask_frames.group_by(group, keys, **reductions)
    if reductions or op is None:
        raise TypeError("tilehash: group_by takes (group, keys, values, op), or a Dask DataFrame, names and reductions")
    k, v = np.asarray(keys), np.asarray(values)
    m = Map(group, k.dtype, v.dtype)
    m.update(k, v, op)
    return m.items()


# ---- clusters ----

OnEach = Callable[..., list[Any]]


class Ranks:
    """One rank on each worker of a cluster. Rows go from worker to worker, not through the scheduler."""

    def __init__(self, on_each: OnEach, token: str, size: int) -> None:
        self._on_each, self._token, self._size = on_each, token, size

    def __len__(self) -> int:
        return self._size

    def run(self, f: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Calls f(group, *arguments) on all ranks at the same time. Returns the results by rank."""
        return self._on_each(_run_on_worker, [(self._token, f, arguments)] * self._size)


_groups: dict[tuple[str, int], Any] = {}  # of a worker process: a listening socket, then a Sockets


def _run_on_worker(rank: int, token: str, f: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return f(_groups[token, rank], *arguments)


def _listen(rank: int, token: str, host: str) -> tuple[str, int]:
    listener = socket.create_server((host, 0))
    _groups[token, rank] = listener
    return host, listener.getsockname()[1]


def _connect(rank: int, token: str, addresses: list[tuple[str, int]]) -> None:
    listener = _groups[token, rank]
    _groups[token, rank] = Sockets.connect(rank, listener, addresses)
    listener.close()


def _close(rank: int, token: str) -> None:
    group = _groups.pop((token, rank), None)
    if group is not None:
        group.close()


def _connected(on_each: OnEach, hosts: list[str]) -> Iterator[Ranks]:
    """on_each(f, rows) calls f(r, *rows[r]) on worker r, on all workers at the same time. Yields once."""
    token, size = uuid.uuid4().hex, len(hosts)
    try:
        addresses = [tuple(a) for a in on_each(_listen, [(token, h) for h in hosts])]
        on_each(_connect, [(token, addresses)] * size)
        yield Ranks(on_each, token, size)
    finally:
        on_each(_close, [(token,)] * size)


@contextlib.contextmanager
def dask(client: Any) -> Iterator[Ranks]:
    """Starts one rank on each worker process of the client's cluster, and connects them.

    with tilehash.distributed.dask(client) as ranks:
        results = ranks.run(f)       # f(group) on each worker
    """
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])

    def on_each(f: Callable[..., Any], rows: list[tuple[Any, ...]]) -> list[Any]:
        futures = [client.submit(f, r, *rows[r], workers=[w], pure=False) for r, w in enumerate(workers)]
        return list(client.gather(futures))

    yield from _connected(on_each, [w.split("://")[-1].rsplit(":", 1)[0] for w in workers])


@contextlib.contextmanager
def ray(ranks: int | None = None, **options: Any) -> Iterator[Ranks]:
    """Starts ranks as actors of Ray, one on each node unless `ranks` says how many, and connects them.

    The options are those of an actor, such as num_cpus. By default actors are spread over the nodes.

    with tilehash.distributed.ray(ranks=4) as ranks:
        results = ranks.run(f)       # f(group) in each actor
    """
    import ray as library

    if not library.is_initialized():
        library.init()
    size = sum(bool(node["Alive"]) for node in library.nodes()) if ranks is None else ranks
    if not 1 <= size <= 1 << SHARD_BITS:
        raise ValueError("tilehash: a group has 1 to 4096 ranks")
    actor = library.remote(_Actor).options(**{"scheduling_strategy": "SPREAD", **options})
    actors = [actor.remote() for _ in range(size)]

    def on_each(f: Callable[..., Any], rows: list[tuple[Any, ...]]) -> list[Any]:
        return list(library.get([a.call.remote(f, r, *rows[r]) for r, a in enumerate(actors)]))

    try:
        yield from _connected(on_each, library.get([a.host.remote() for a in actors]))
    finally:
        for a in actors:
            library.kill(a)


class _Actor:
    def host(self) -> str:
        import ray as library

        return str(library.util.get_node_ip_address())

    def call(self, f: Callable[..., Any], *arguments: Any) -> Any:
        return f(*arguments)


__all__ = ["Group", "Map", "MpiGroup", "One", "Ranks", "Sockets", "TorchGroup", "dask", "drop_duplicates", "group_by", "merge", "ray", "shard_of"]
