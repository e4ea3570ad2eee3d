# SPDX-License-Identifier: Apache-2.0
"""Arrays of a GPU: calls of the module tilehash._cuda, on the caller's stream and in the caller's kind of array."""

from __future__ import annotations

import importlib
import struct
import sys
from typing import Any, NamedTuple

import numpy as np

from ._errors import added

_HOST_MODULES = ("numpy", "pandas", "polars", "pyarrow", "builtins")
_GPU_MODULES = ("cudf", "pylibcudf")
_GPU_DEVICES = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
_LEGACY_STREAM = 1

_module: Any = None


def on_gpu(x: Any) -> bool:
    """Is it an array in the memory of a GPU?"""
    name = type(x).__module__.partition(".")[0]
    if name == "torch":
        return bool(x.is_cuda)
    if name in _HOST_MODULES:
        return False
    if name in _GPU_MODULES:
        return True
    if hasattr(x, "__cuda_array_interface__"):
        return True
    device = getattr(x, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in _GPU_DEVICES


def module() -> Any:
    """The module tilehash._cuda. Raises RuntimeError in one line where it is not built."""
    global _module
    if _module is None:
        try:
            _module = importlib.import_module("tilehash._cuda")
        except ImportError as e:
            raise RuntimeError(
                f"tilehash: the GPU part is not in this build ({e}); build it with nvcc and TILEHASH_PYTHON_CUDA=ON, "
                "or copy the array to the host"
            ) from None
    return _module


class DeviceArray:
    """A result on a GPU for a caller whose library is neither PyTorch nor CuPy.

    It is read by `__dlpack__` and `__cuda_array_interface__`, as `from_dlpack()` of any library does.
    """

    def __init__(self, device: int, stream: int, n: int, kind: str, size: int) -> None:
        self._memory = module().memory(device, stream, n, kind, size)
        self._device, self._stream = device, stream
        self.shape, self.dtype = (n,), np.dtype(f"{kind}{size}")

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._memory.address, False),
            "version": 3,
            "strides": None,
            "stream": self._stream,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("tilehash: this array is exported from its own memory only")
        if stream != -1:
            self._memory.order(_LEGACY_STREAM if stream is None else stream)
        return module().capsule(self._memory, max_version is not None and max_version[0] >= 1)


class Array(NamedTuple):
    """One array as the module takes it."""

    address: int
    size: int
    kind: str  # as NumPy's: i, u, f
    bytes: int
    device: int
    library: Any  # makes arrays of the caller's kind
    keep: Any
    stride: int | None = None  # in bytes; None: contiguous
    of_row: bool = False  # a column of a 2-D array, whose rows are keys: NaN is a value of it

    @property
    def name(self) -> str:
        return {"i": "int", "u": "uint", "f": "float"}.get(self.kind, self.kind) + str(8 * self.bytes)

    @property
    def key(self) -> str:
        """The name of its key type in the module: signed integers have the bits of unsigned ones."""
        if self.bytes not in (4, 8) or self.kind not in "iuf":
            raise TypeError(f"tilehash: keys on a GPU are integers or floats of 4 or 8 bytes, not {self.name}")
        return ("f" if self.kind == "f" else "u") + str(8 * self.bytes)

    @property
    def column(self) -> tuple[int, int, str, int]:
        """As the module takes a column of any type and stride."""
        return self.address, self.bytes if self.stride is None else self.stride, self.kind, self.bytes

    @property
    def stream(self) -> int:
        return int(self.library.stream(self.device))


def _checked(dimensions: int) -> None:
    if dimensions != 1:
        raise ValueError(f"tilehash: this call takes arrays of one dimension on a GPU; this one has {dimensions}")


def columns(x: Any) -> list[Array]:
    """The columns of keys: the array, or the columns of an array of two dimensions, whose rows are keys."""
    dimensions = getattr(x, "ndim", 1)
    if dimensions == 1 or type(x).__module__.partition(".")[0] not in ("torch", "cupy"):
        return [array(x)]
    if dimensions != 2 or not x.shape[1]:
        raise ValueError(
            "tilehash: keys on a GPU are an array of one dimension, or rows of two with a column or more; "
            f"this one has the shape {tuple(x.shape)}"
        )
    return [array(x[:, j])._replace(of_row=True) for j in range(x.shape[1])]


def words(a: Array) -> Array:
    """The array as contiguous numbers of 4 or 8 bytes: itself, or a copy in memory of the caller's library."""
    if a.bytes >= 4 and a.stride is None:
        return a
    if a.kind not in "biuf":
        raise TypeError(f"tilehash: arrays of {a.name} are not supported")
    kind, size = ("u" if a.kind == "b" else a.kind), max(a.bytes, 4)
    # (PyTorch has few operations on unsigned words, but the bits are the same.)
    out = a.library.empty(a, a.size, "i" if kind == "u" else kind, size)
    address = a.library.address(out)
    module().widen(a.device, a.stream, a.column, a.size, address, size)
    return Array(address, a.size, kind, size, a.device, a.library, out)


class _Torch:
    def __init__(self) -> None:
        torch = sys.modules["torch"]
        self.torch: Any = torch
        self.types: dict[Any, tuple[str, int]] = {}
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"):
            if hasattr(torch, name):
                bits = int(name.lstrip("uintfloa"))
                self.types[getattr(torch, name)] = name[0], bits // 8
        self.types[torch.bool] = "b", 1
        self.sums = "i"  # the kind of sums of unsigned integers: few operations take torch.uint64
        self.of = {kind: dtype for dtype, kind in self.types.items()}
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        self.stream: Any = raw or (lambda device: torch.cuda.current_stream(device).cuda_stream)

    def read(self, x: Any) -> Array:
        kind = self.types.get(x.dtype)
        if kind is None:
            raise TypeError(f"tilehash: arrays of {x.dtype} are not supported")
        _checked(x.dim())
        stride = None if x.is_contiguous() else x.stride(0) * kind[1]
        return Array(x.data_ptr(), x.shape[0], kind[0], kind[1], x.device.index, self, x, stride)

    def empty(self, a: Array, n: int, kind: str, size: int) -> Any:
        return self.torch.empty(n, dtype=self.of[kind, size], device=a.keep.device)

    def address(self, x: Any) -> int:
        return int(x.data_ptr())

    def given(self, a: Array, values: Any) -> Any:
        return self.torch.from_numpy(values).to(a.keep.device)

    def arange(self, a: Array, n: int) -> Any:
        return self.torch.arange(n, device=a.keep.device)

    def ascending(self, x: Any) -> Any:
        return self.torch.argsort(x, stable=True)

    def negative(self, x: Any) -> Any:
        return -x


class _CuPy:
    sums = "u"

    def __init__(self) -> None:
        self.cupy: Any = sys.modules["cupy"]

    def stream(self, device: int) -> int:
        return int(self.cupy.cuda.get_current_stream(device).ptr)

    def read(self, x: Any) -> Array:
        _checked(x.ndim)
        stride = None if x.flags.c_contiguous else x.strides[0]
        return Array(x.data.ptr, x.size, x.dtype.kind, x.dtype.itemsize, x.device.id, self, x, stride)

    def empty(self, a: Array, n: int, kind: str, size: int) -> Any:
        with self.cupy.cuda.Device(a.device):
            return self.cupy.empty(n, f"{kind}{size}")

    def address(self, x: Any) -> int:
        return int(x.data.ptr)

    def given(self, a: Array, values: Any) -> Any:
        with self.cupy.cuda.Device(a.device):
            return self.cupy.asarray(values)

    def arange(self, a: Array, n: int) -> Any:
        with self.cupy.cuda.Device(a.device):
            return self.cupy.arange(n)

    def ascending(self, x: Any) -> Any:
        return self.cupy.argsort(x, kind="stable")

    def negative(self, x: Any) -> Any:
        return -x


class _Other:
    """An array of another library. Results are DeviceArrays, or the library's own where it is JAX."""

    sums = "u"

    def __init__(self, stream: int, jax: bool) -> None:
        self._stream, self._jax = stream, jax

    def stream(self, device: int) -> int:
        return self._stream

    def empty(self, a: Array, n: int, kind: str, size: int) -> Any:
        return DeviceArray(a.device, self._stream, n, kind, size)

    def address(self, x: Any) -> int:
        return int(x._memory.address)

    def given(self, a: Array, values: Any) -> Any:
        raise TypeError("tilehash: values for an array of this library are an array of it, on its GPU")

    def ascending(self, x: Any) -> Any:
        raise TypeError("tilehash: sort=True takes arrays of PyTorch or CuPy on a GPU")

    arange = negative = ascending


_libraries: dict[str, Any] = {}


def _of_other(x: Any) -> Array:
    """By __cuda_array_interface__, on its stream; or by DLPack, which the producer orders before the legacy stream."""
    jax = type(x).__module__.startswith("jax")
    try:
        given = None if jax else getattr(x, "__cuda_array_interface__", None)
    except Exception:  # cuDF's strings have no memory of one type
        given = None
    if given is not None:
        dtype, shape, strides = np.dtype(given["typestr"]), given["shape"], given.get("strides")
        _checked(len(shape))
        if given.get("mask") is not None:
            raise TypeError("tilehash: arrays with a mask on a GPU are not supported; fill or drop the nulls first")
        if dtype.kind in "mM":
            raise TypeError(f"tilehash: {dtype} on a GPU is not supported; view it as int64, whose least value is NaT")
        stride = None if strides is None or strides[0] == dtype.itemsize or shape[0] < 2 else strides[0]
        if not dtype.isnative:
            raise TypeError(f"tilehash: arrays on a GPU have this machine's byte order, not that of {dtype.str}")
        device = int(x.__dlpack_device__()[1]) if hasattr(x, "__dlpack_device__") else 0
        library = _Other(given.get("stream") or _LEGACY_STREAM, False)
        return Array(given["data"][0], shape[0], dtype.kind, dtype.itemsize, device, library, x, stride)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"tilehash: {type(x).__name__} on a GPU is no array of numbers; copy strings and nested types to the host")
    try:
        capsule = x.__dlpack__(max_version=(1, 0), stream=_LEGACY_STREAM)
    except TypeError:  # a producer of before version 1
        capsule = x.__dlpack__(stream=_LEGACY_STREAM)
    address, shape, strides, code, bits, _, device, keep = module().tensor(capsule)
    _checked(len(shape))
    stride = None if strides is None or strides == (1,) or shape[0] < 2 else strides[0] * bits // 8
    kind = {0: "i", 1: "u", 2: "f", 6: "b"}.get(code)
    if kind is None:
        raise TypeError("tilehash: keys on a GPU are integers or floats of 4 or 8 bytes")
    return Array(address, shape[0], kind, bits // 8, device, _Other(_LEGACY_STREAM, jax), (x, keep), stride)


def array(x: Any) -> Array:
    """Raises TypeError or ValueError for arrays that no call takes. Copies nothing and does not synchronize."""
    if _module is None:
        module()
    name = type(x).__module__.partition(".")[0]
    library = _libraries.get(name)
    if library is None:
        if name not in ("torch", "cupy"):
            return _of_other(x)
        library = _libraries[name] = _Torch() if name == "torch" else _CuPy()
    read: Array = library.read(x)
    return read


def given_back(a: Array, made: Any) -> Any:
    """A result as the caller's kind of array."""
    if isinstance(a.library, _Other) and a.library._jax:
        return importlib.import_module("jax.dlpack").from_dlpack(made)
    return made


def taken(a: Array, rows: Any) -> Any:
    """The elements of these rows, which are int64; 0 for a row of -1."""
    n = len(rows)
    out = a.library.empty(a, n, a.kind, a.bytes)
    module().gather(a.device, a.stream, a.column, a.library.address(rows), n, a.library.address(out))
    return out


class Factors:
    """The factors of an array, and results that are made when they are wanted."""

    def __init__(self, a: Array, missing_is_key: bool, codes: bool = True, in_words: bool = True) -> None:
        """in_words: the codes are written to an array of words at once."""
        self.a = a
        w = words(a)
        self._keep = w.keep
        stream = a.stream
        if codes:
            self.words = a.library.empty(a, a.size, "i", 4) if in_words else None
            address = a.library.address(self.words) if in_words else 0
            self.made = module().factorize(w.key, a.device, stream, w.address, a.size, missing_is_key, address)
        else:
            self.made = module().unique(w.key, a.device, stream, w.address, a.size)
        self._converted = w is not a

    def __len__(self) -> int:
        return int(self.made.size)

    def _array(self, write: Any, n: int, kind: str, size: int) -> Any:
        out = self.a.library.empty(self.a, n, kind, size)
        write(self.a.library.address(out))
        return out

    def codes(self) -> Any:
        return self._array(self.made.codes, self.a.size, "i", 8)

    def first_rows(self) -> Any:
        return self._array(self.made.first_rows, self.made.size, "i", 8)

    def values(self) -> Any:
        if self._converted:
            return taken(self.a, self.first_rows())
        return self._array(self.made.values, self.made.size, self.a.kind, self.a.bytes)

    def counts(self) -> Any:
        return self._array(self.made.counts, self.made.size, "i", 8)

    def order(self, values: Any) -> tuple[Any, Any]:
        """The ascending order of the values, and the rank of each code; the last rank is that of no code."""
        library, n = self.a.library, self.made.size
        order = library.ascending(values)
        rank = library.empty(self.a, n + 1, "i", 8)
        rank[order] = library.arange(self.a, n)
        rank[-1:] = -1
        return order, rank


def _factors(keys: Any, missing_is_key: bool, codes: bool = True) -> Any:
    all_columns = columns(keys)
    if all_columns[0].of_row:
        from ._gpu_groups import RowFactors

        return RowFactors(keys, all_columns)
    return Factors(all_columns[0], missing_is_key, codes, in_words=False)


def factorize(keys: Any, sort: bool, use_na_sentinel: bool, na_sentinel: int) -> tuple[Any, Any]:
    f = _factors(keys, not use_na_sentinel)
    codes, values = f.codes(), f.values()
    if sort:
        order, rank = f.order(values)
        codes, values = rank[codes], values[order]
    if na_sentinel != -1 and use_na_sentinel:
        codes[codes == -1] = na_sentinel
    return given_back(f.a, codes), given_back(f.a, values)


def unique(keys: Any, return_index: bool, return_inverse: bool, return_counts: bool, sort: bool) -> tuple[Any, Any, Any, Any]:
    """(values, index, inverse, counts); None for each that was not requested."""
    f = _factors(keys, True, codes=return_inverse or return_counts)
    values = f.values()
    index = f.first_rows() if return_index else None
    inverse = f.codes() if return_inverse else None
    counts = f.counts() if return_counts else None
    if sort:
        order, rank = f.order(values)
        values = values[order]
        index = index[order] if index is not None else None
        counts = counts[order] if counts is not None else None
        inverse = rank[inverse] if inverse is not None else None
    results = [r if r is None else given_back(f.a, r) for r in (values, index, inverse, counts)]
    return results[0], results[1], results[2], results[3]


def value_counts(keys: Any, sort: bool, dropna: bool) -> tuple[Any, Any]:
    f = _factors(keys, not dropna)
    values, counts = f.values(), f.counts()
    if sort:
        order = f.a.library.ascending(f.a.library.negative(counts))
        values, counts = values[order], counts[order]
    return given_back(f.a, values), given_back(f.a, counts)


def same_gpu(a: Array, b: Array, what: str) -> None:
    if a.device != b.device:
        raise ValueError(f"tilehash: the keys are on GPU {a.device} and {what} on GPU {b.device}")


def _given(a: Array, values: Any) -> Any:
    """Python's numbers as an array of the keys' type. A number that the type does not have is no key."""
    dtype = np.dtype(f"{a.kind}{a.bytes}")
    given = np.asarray(list(values))
    if given.size and given.dtype.kind not in "biuf":
        raise TypeError(f"tilehash: keys of {a.name} cannot be among values of {given.dtype}")
    cast = given.astype(dtype)
    return a.library.given(a, cast[cast == given])


def isin(keys: Any, values: Any) -> Any:
    all_columns = columns(keys)
    a = all_columns[0]
    if a.of_row:
        from ._gpu_groups import rows_among

        return rows_among(all_columns, values)
    if isinstance(values, (list, tuple, set, frozenset, range)):
        values = _given(a, values)
    if not on_gpu(values):
        raise TypeError(f"tilehash: the keys are on GPU {a.device} and the values in host memory")
    b = array(values)
    if (a.kind, a.bytes) != (b.kind, b.bytes):
        raise TypeError(f"tilehash: keys of {a.name} cannot be among values of {b.name}")
    same_gpu(a, b, "the values")
    out = a.library.empty(a, a.size, "b", 1)
    probe, wanted = words(a), words(b)
    module().isin(
        probe.key, a.device, a.stream, probe.address, a.size, wanted.address, b.size, a.library.address(out)
    )
    return given_back(a, out)


def filled(keys: Any, value: Any, kind: str, size: int) -> Any:
    """An array of the value, as long as the keys."""
    a = array(keys)
    out = a.library.empty(a, a.size, kind, size)
    module().fill(a.device, a.stream, a.library.address(out), a.size, int(value) % 2**64, size)
    return given_back(a, out)


def on_host(x: Any) -> Any:
    """A NumPy array of the same elements."""
    if hasattr(x, "get"):
        return x.get()
    return x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


def moved(x: Any, device: str) -> Any:
    """A NumPy array's elements on a GPU, as an array of PyTorch if the program has imported it, or else of CuPy."""
    module()
    if "torch" in sys.modules:
        return sys.modules["torch"].from_numpy(x).to(device)
    if "cupy" in sys.modules:
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(int(device.partition(":")[2] or 0)):
            return cupy.asarray(x)
    raise RuntimeError(f"tilehash: import torch or cupy first, which makes the arrays on {device!r}")


class Table:
    """The table of a Map or a Set whose keys are on a GPU."""

    def __init__(self, keys: Any, values: Any, capacity: int, grow: bool = True) -> None:
        self._grow = grow
        a = array(keys)
        if a.kind == "f":
            raise TypeError(f"tilehash: keys of a table on a GPU are integers, not {a.name}; factorize() takes floats")
        a.key  # noqa: B018 (checks the width)
        b = None if values is None else array(values)
        if b is not None and (b.bytes not in (4, 8) or b.kind not in "iuf"):
            raise TypeError(f"tilehash: values of a table on a GPU are numbers of 4 or 8 bytes, not {b.name}")
        self._like = a._replace(keep=a.keep[:0] if hasattr(a.keep, "__getitem__") else None)
        self._type = a.kind, a.bytes
        self._of = (b.kind, b.bytes) if b is not None else ("i", 0)
        self.device = a.device
        self._table = module().table(a.bytes, self._of[1], a.device, a.library.stream(a.device), capacity, grow)

    def __len__(self) -> int:
        return int(self._table.size)

    def _keys(self, keys: Any) -> Array:
        if not on_gpu(keys):
            if not isinstance(keys, (int, list, tuple, range)):
                raise TypeError(f"tilehash: this table is on GPU {self.device} and the keys are in host memory")
            keys = _given(self._like, [keys] if isinstance(keys, int) else keys)
        a = array(keys)
        if (a.kind, a.bytes) != self._type:
            raise TypeError(f"tilehash: this table has keys of {self._like.name}, not {a.name}")
        same_gpu(self._like, a, "the other keys")
        return a if a.stride is None else words(a)

    def _items(self, keys: Any, values: Any) -> tuple[Array, Array]:
        a, b = self._keys(keys), array(values)
        if a.size != b.size:
            raise ValueError(f"tilehash: {a.size} keys and {b.size} values")
        if (b.kind, b.bytes) != self._of:
            raise TypeError(f"tilehash: this table has values of {'%s%d' % self._of}, not {b.name}")
        same_gpu(a, b, "the values")
        return a, b if b.stride is None else words(b)

    def insert(self, keys: Any, values: Any) -> int:
        a = self._keys(keys)
        address = 0
        if self._of[1]:
            a, b = self._items(keys, values)
            address = b.address
        return added(self._table.insert(a.library.stream(a.device), a.address, address, a.size), self._grow)

    def assign(self, keys: Any, values: Any) -> int:
        a, b = self._items(keys, values)
        return added(self._table.assign(a.library.stream(a.device), a.address, b.address, a.size), self._grow)

    def update(self, keys: Any, values: Any, op: str) -> int:
        a, b = self._items(keys, values)
        return added(self._table.update(a.device, a.stream, a.bytes, a.address, b.column, a.size, op), self._grow)

    def _word(self, value: Any) -> int:
        if value is None or (value == 0 and type(value) is int):
            return 0
        kind, size = self._of
        code = {"i4": "<i", "i8": "<q", "u4": "<I", "u8": "<Q", "f4": "<f", "f8": "<d"}[f"{kind}{size}"]
        try:
            return int.from_bytes(struct.pack(code, value), "little")
        except struct.error:
            raise TypeError(f"tilehash: {value!r} is no value of this table") from None

    def find(self, keys: Any, default: Any) -> Any:
        a = self._keys(keys)
        library = a.library
        out = library.empty(a, a.size, *self._of)
        self._table.find(library.stream(a.device), a.address, a.size, library.address(out), self._word(default))
        return given_back(a, out)

    def contains(self, keys: Any) -> Any:
        a = self._keys(keys)
        out = a.library.empty(a, a.size, "b", 1)
        self._table.contains(a.library.stream(a.device), a.address, a.size, a.library.address(out))
        return given_back(a, out)

    def present(self, keys: Any) -> Any:
        """The values of keys. Raises KeyError for an absent one."""
        found = self.contains(keys)
        if not bool(found.all()):
            raise KeyError("tilehash: a key is absent")
        return self.find(keys, 0)

    def erase(self, keys: Any) -> int:
        a = self._keys(keys)
        return int(self._table.erase(a.library.stream(a.device), a.address, a.size))

    def items(self) -> tuple[Any, Any]:
        a, n = self._like, len(self)
        keys = a.library.empty(a, n, *self._type)
        values = a.library.empty(a, n if self._of[1] else 0, *(self._of if self._of[1] else ("i", 4)))
        self._table.items(a.library.stream(a.device), a.library.address(keys), a.library.address(values))
        return given_back(a, keys), given_back(a, values)


__all__ = [
    "Array",
    "DeviceArray",
    "Factors",
    "Table",
    "array",
    "factorize",
    "filled",
    "given_back",
    "isin",
    "module",
    "moved",
    "on_gpu",
    "on_host",
    "same_gpu",
    "taken",
    "unique",
    "value_counts",
    "words",
]
