"""NVIDIA's cuBLASLt, called by name: PyTorch has it loaded, and tells no one of the ways it knows.

Only what is needed to ask for the ways to make a product, and to make it by one of them. Matrices
are columns after columns there, so a product of rows is asked for the other way round. M×K times
K×N.
"""

import ctypes
from ctypes import byref, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from heedful.nn.once import once

ROOM = 32 * 2**20  # bytes that a way may use while it computes
MOST = 16  # ways that are asked for
BEGINS = 16  # bytes: matrices begin at a multiple of so many

# As the library numbers them: what adds products up in float32, kinds of numbers, attributes of a
# product and of a wish, and what is done to a product before it is written.
_FULL = 68
_KINDS = {torch.float32: 0, torch.bfloat16: 14}
_TURN_A, _TURN_B, _AFTER, _BIAS = 3, 4, 7, 8
_MOST_ROOM, _BEGINS = 1, (5, 6, 7, 8)
_NOTHING, _BIAS_ADDED, _BIAS_AND_RECTIFIER = 1, 4, 6


class Refused(Exception):
    """The library said no."""


class Way(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t: a way to make a product, as the library writes it down."""

    _fields_ = [
        ("algorithm", c_uint64 * 8),
        ("room", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]


class Side(NamedTuple):
    """How a matrix lies in memory: in rows, or turned; and how long a row is."""

    turned: bool
    long: int


class Product:
    """The product of two matrices of some shape in bf16, to be made by several ways; or that and a
    bias, or the rectifier of both."""

    def __init__(self, a: Tensor, b: Tensor, out: Tensor, shifts: bool, rectifies: bool) -> None:
        (rows, deep), columns = a.shape, b.shape[1]
        left, right = side(a), side(b)
        assert left is not None and right is not None
        self.handle = _handle(a.device.index)
        self.about = c_void_p()
        _ask("cublasLtMatmulDescCreate", byref(self.about), _FULL, _KINDS[torch.float32])
        after = (_BIAS_AND_RECTIFIER if rectifies else _BIAS_ADDED) if shifts else _NOTHING
        said = (_TURN_A, right.turned), (_TURN_B, left.turned), (_AFTER, after)
        for attribute, value in said:
            self._say(attribute, c_int32(value), 4)
        self.left = _layout(b.dtype, (deep, columns) if right.turned else (columns, deep), right)
        self.right = _layout(a.dtype, (rows, deep) if left.turned else (deep, rows), left)
        self.out = _layout(out.dtype, (columns, rows), Side(False, columns))

    def ways(self) -> list[Way]:
        """Those that the library proposes, the one it thinks best of first."""
        wish = c_void_p()
        _ask("cublasLtMatmulPreferenceCreate", byref(wish))
        most = (_MOST_ROOM, c_uint64(ROOM), 8)
        for attribute, value, size in (most, *((a, c_uint32(BEGINS), 4) for a in _BEGINS)):
            name = "cublasLtMatmulPreferenceSetAttribute"
            _ask(name, wish, attribute, byref(value), c_size_t(size))
        found, count = (Way * MOST)(), c_int()
        sides = self.left, self.right, self.out, self.out
        _ask(
            "cublasLtMatmulAlgoGetHeuristic",
            self.handle, self.about, *sides, wish, MOST, found, byref(count),
        )  # fmt: skip
        _ask("cublasLtMatmulPreferenceDestroy", wish)
        return list(found[: count.value])

    def make(
        self, way: Way, a: Tensor, b: Tensor, out: Tensor, adds: bool, bias: Tensor | None
    ) -> None:
        """Have the product in `out`; or added to what is there."""
        one, some = c_float(1.0), c_float(float(adds))
        if bias is not None:
            self._say(_BIAS, _at(bias), 8)
        stream = torch.cuda.current_stream(a.device).cuda_stream
        _ask(
            "cublasLtMatmul",
            self.handle, self.about, byref(one), _at(b), self.left, _at(a), self.right,
            byref(some), _at(out), self.out, _at(out), self.out, byref(way.algorithm),
            _at(_room(a.device.index)), c_size_t(ROOM), c_void_p(stream),
        )  # fmt: skip

    def _say(self, attribute: int, value: Any, size: int) -> None:
        name = "cublasLtMatmulDescSetAttribute"
        _ask(name, self.about, attribute, byref(value), c_size_t(size))


def side(x: Tensor) -> Side | None:
    """How a matrix lies; None where the library has no word for it."""
    if x.data_ptr() % BEGINS:
        return None
    for turned, lies in ((False, x), (True, x.t())):
        if lies.is_contiguous() and lies.shape[1] % 8 == 0:
            return Side(turned, lies.shape[1])
    return None


@once
def is_there() -> bool:
    """Whether there is such a library here."""
    return library() is not None


@cache
def library() -> Any:
    """The one that PyTorch uses; None where there is none."""
    if torch.version.cuda is None or not torch.cuda.is_available():
        return None
    try:
        return ctypes.CDLL(f"libcublasLt.so.{torch.version.cuda.split('.')[0]}")
    except OSError:
        return None


def _ask(name: str, *what: Any) -> None:
    status = getattr(library(), name)(*what)
    if status:
        raise Refused(f"{name}: status {status}")


@cache
def _handle(device: int) -> c_void_p:
    handle = c_void_p()
    with torch.cuda.device(device):
        _ask("cublasLtCreate", byref(handle))
    return handle


@cache
def _room(device: int) -> Tensor:
    return torch.empty(ROOM, dtype=torch.uint8, device=f"cuda:{device}")


def _layout(dtype: torch.dtype, shape: tuple[int, int], side: Side) -> c_void_p:
    """Of a matrix of so many rows and columns, one column after the other."""
    found, sizes = c_void_p(), [c_uint64(size) for size in shape]
    _ask("cublasLtMatrixLayoutCreate", byref(found), _KINDS[dtype], *sizes, c_int64(side.long))
    return found


def _at(x: Tensor) -> c_void_p:
    return c_void_p(x.data_ptr())
