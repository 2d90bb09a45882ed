"""Attention in spans as one operation with gradients, of kernels whose tile sizes are numbers here.

Queries, keys and values may lie in memory as a projection leaves them, heads beside each other;
what is read and all gradients are written so. B batch, H heads, Q queries, K keys, E per head.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
import triton
from jaxtyping import Float, Int
from torch import Tensor

from heedful.nn.kernels.spans_backward import keys_slopes, queries_slopes
from heedful.nn.kernels.spans_forward import forward
from heedful.nn.kernels.strides import beside, in_one_piece, strides

SMALLEST = 16  # side of a product that a GPU takes
USUAL = 64  # channels of a head


@dataclass(frozen=True)
class Tiles:
    """How a kernel is cut: queries and keys of a tile, and what of a GPU works on one."""

    queries: int
    keys: int
    warps: int
    stages: int


@dataclass
class Tuning:
    """The numbers that speed depends on, and no result: whoever measures may set them.

    These are the best for sentences of 5 to 55 tokens on an H200. Sides of 64 are not for the keys:
    there Triton 3.6 multiplies with instructions that go on while the next tile is loaded, and in
    heads of 128 channels that came too early: gradients differed from one pass to the next.
    """

    forward: Tiles = Tiles(16, 16, 1, 3)
    queries: Tiles = Tiles(16, 16, 1, 2)
    keys: Tiles = Tiles(32, 32, 1, 2)


TUNING = Tuning()


def attend(
    sides: list[Tensor],
    heads: int,
    seen: Int[Tensor, "B Q 2"],
    seen_by: Int[Tensor, "B K 2"],
    causal: bool,
) -> Float[Tensor, "B H Q E"]:
    """What each query reads of the keys that it sees; `seen_by` are the queries that see a key.

    `sides` are queries, keys and values, each for itself or some together as they were projected,
    heads after heads: then their gradients come together, too.
    """
    out, _ = spans_forward([in_one_piece(x) for x in sides], heads, seen, seen_by, causal)
    return out


@torch.library.triton_op("heedful::spans_forward", mutates_args={})
def spans_forward(
    sides: list[Tensor], heads: int, seen: Tensor, seen_by: Tensor, causal: bool
) -> tuple[Tensor, Tensor]:
    """The output, and the level of each query's scores, [B, H, Q]."""
    q, k, v = apart(sides, heads)
    out = beside(q)
    level = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    tiles = _fitting(q, TUNING.forward)
    torch.library.wrap_triton(forward)[_grid(q, tiles.queries)](
        q, k, v, seen, out, level, *strides(q, k, v, out), _scale(q) / math.log(2),
        *_sizes(q, k), **_constants(q, tiles, causal),
    )  # fmt: skip
    return out, level


@torch.library.triton_op("heedful::spans_backward", mutates_args={})
def spans_backward(
    dout: Tensor,
    sides: list[Tensor],
    heads: int,
    seen: Tensor,
    seen_by: Tensor,
    out: Tensor,
    level: Tensor,
    causal: bool,
) -> list[Tensor]:
    """Gradients by the sides; those by keys and by values are always in one.

    Kernels are given whole tensors to write to: compilers lose count of parts.
    """
    q, k, v = apart(sides, heads)
    slopes = [beside(sides[0])]
    if len(sides) > 1:
        slopes.append(beside(k, 2 * heads))
    delta = torch.empty_like(level)
    numbers = (_scale(q) / math.log(2), _scale(q), *_sizes(q, k))
    tiles = _fitting(q, TUNING.queries)
    torch.library.wrap_triton(queries_slopes)[_grid(q, tiles.queries)](
        q, k, v, seen, out, level, dout, slopes[0], delta,
        *strides(q, k, v, out, dout, slopes[0]),
        *numbers, **_constants(q, tiles, causal),
    )  # fmt: skip
    tiles = _fitting(q, TUNING.keys)
    torch.library.wrap_triton(keys_slopes)[_grid(k, tiles.keys)](
        q, k, v, seen, seen_by, level, delta, dout, slopes[-1], 0 if len(sides) > 1 else heads,
        *strides(q, k, v, dout, slopes[-1]), *numbers, **_constants(q, tiles, causal),
    )  # fmt: skip
    return slopes


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    sides, ctx.heads, seen, seen_by, ctx.causal = inputs
    ctx.save_for_backward(seen, seen_by, *output, *sides)
    ctx.mark_non_differentiable(output[1])


def _backward(ctx: Any, dout: Tensor, _: Tensor) -> tuple[list[Tensor] | None, ...]:
    seen, seen_by, out, level, *sides = ctx.saved_tensors
    slopes = spans_backward(
        in_one_piece(dout), sides, ctx.heads, seen, seen_by, out, level, ctx.causal
    )
    return slopes if len(sides) < 3 else apart(slopes, ctx.heads), None, None, None, None


spans_forward.register_autograd(_backward, setup_context=_remember)


def apart(sides: list[Tensor], heads: int) -> list[Tensor]:
    """Each so many heads by themselves: queries, keys and values."""
    return [part for side in sides for part in side.split(heads, 1)]


def _sizes(q: Tensor, k: Tensor) -> tuple[int, int, int]:
    return q.shape[1], q.shape[2], k.shape[2]


def _fitting(q: Tensor, tiles: Tiles) -> Tiles:
    """The same for bf16 and heads up to 64; wider ones are shared by twice as many warps, and in
    float32 all takes twice the room, so half as large."""
    if q.shape[3] > USUAL:
        tiles = replace(tiles, warps=2 * tiles.warps)
    if q.dtype != torch.float32:
        return tiles
    return replace(
        tiles, queries=max(SMALLEST, tiles.queries // 2), keys=max(SMALLEST, tiles.keys // 2)
    )


def _scale(q: Tensor) -> float:
    return float(q.shape[3]) ** -0.5


def _grid(x: Tensor, block: int) -> tuple[int, int]:
    batch, heads, length, _ = x.shape
    return triton.cdiv(length, block), batch * heads


def _constants(q: Tensor, tiles: Tiles, causal: bool) -> dict[str, Any]:
    return {
        "WIDTH": q.shape[3],
        "COLUMNS": max(SMALLEST, triton.next_power_of_2(q.shape[3])),
        "QUERIES": tiles.queries,
        "KEYS": tiles.keys,
        "CAUSAL": causal,
        "PRECISION": "tf32x3" if q.dtype == torch.float32 else "tf32",
        "num_warps": tiles.warps,
        "num_stages": tiles.stages,
    }
