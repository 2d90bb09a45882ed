"""Relative attention as one operation with gradients, of kernels whose tile sizes are numbers here.

Queries, keys and values may lie in memory as a projection leaves them, heads beside each other;
what is read and all gradients are written so. B batch, H heads, L length, E per head, R distances.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
import triton
from jaxtyping import Float, Int
from torch import Tensor

from heedful.nn.kernels.relative_forward import forward
from heedful.nn.kernels.relative_keys import keys
from heedful.nn.kernels.relative_queries import queries
from heedful.nn.kernels.relative_trial import turning
from heedful.nn.kernels.relative_turns import SIDE, WARPS
from heedful.nn.kernels.strides import beside, in_one_piece, strides

SMALLEST = 16  # side of a product that a GPU takes


@dataclass(frozen=True)
class Tiles:
    """How a kernel is cut: queries and keys of a tile, and what of a GPU works on one."""

    block: int
    warps: int
    stages: int


@dataclass
class Tuning:
    """The numbers that speed depends on, and no result: whoever measures may set them."""

    forward: Tiles = Tiles(64, 4, 2)
    queries: Tiles = Tiles(64, 4, 2)
    keys: Tiles = Tiles(64, 4, 2)


TUNING = Tuning()


def attend(
    q: Float[Tensor, "B H L E"],
    k: Float[Tensor, "B H L E"],
    v: Float[Tensor, "B H L E"],
    rows: Float[Tensor, "H R E"],
    seen: Int[Tensor, "B L 2"],
    seen_by: Int[Tensor, "B L 2"],
    back: int,
    clipped: bool,
    causal: bool,
) -> Float[Tensor, "B H L E"]:
    """What each query reads of the keys in its span, `seen`; `seen_by` are the spans of queries
    that may see a key. Row r of `rows` is for distance r - back."""
    q, k, v = (in_one_piece(x) for x in (q, k, v))
    turns = q.is_cuda and q.dtype == torch.bfloat16 and turning(q.device.index)
    out, _ = relative_forward(
        q, k, v, rows.contiguous(), seen, seen_by, back, clipped, causal, turns
    )
    return out


@torch.library.triton_op("heedful::relative_forward", mutates_args={})
def relative_forward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    rows: Tensor,
    seen: Tensor,
    seen_by: Tensor,
    back: int,
    clipped: bool,
    causal: bool,
    turns: bool,
) -> tuple[Tensor, Tensor]:
    """The output, and the level of each query's scores, [B, H, L]."""
    out = beside(q)
    level = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    tiles = _fitting(q, TUNING.forward)
    torch.library.wrap_triton(forward)[_grid(q, tiles)](
        q, k, v, rows, seen, out, level, *strides(q, k, v, out),
        _scale(q) / math.log(2), *_numbers(q, rows, back),
        **_constants(q, tiles, clipped, causal, turns),
    )  # fmt: skip
    return out, level


@torch.library.triton_op("heedful::relative_backward", mutates_args={})
def relative_backward(
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    rows: Tensor,
    seen: Tensor,
    seen_by: Tensor,
    out: Tensor,
    level: Tensor,
    back: int,
    clipped: bool,
    causal: bool,
    turns: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients by q, k, v and rows."""
    dq, dk, dv = beside(q), beside(k), beside(v)
    drows = torch.zeros(rows.shape, dtype=torch.float32, device=q.device)
    delta = torch.empty_like(level)
    ends = level.new_empty(2 if clipped else 0, *level.shape)
    numbers = (_scale(q) / math.log(2), _scale(q), *_numbers(q, rows, back))
    tiles = _fitting(q, TUNING.queries)
    torch.library.wrap_triton(queries)[_grid(q, tiles)](
        q, k, v, rows, seen, out, level, dout, dq, drows, delta, ends,
        *strides(q, k, v, out, dout, dq), *numbers, **_constants(q, tiles, clipped, causal, turns),
    )  # fmt: skip
    tiles = _fitting(q, TUNING.keys)
    torch.library.wrap_triton(keys)[_grid(q, tiles)](
        q, k, v, rows, seen, seen_by, level, delta, ends, dout, dk, dv,
        *strides(q, k, v, dout, dk, dv), *numbers, **_constants(q, tiles, clipped, causal, turns),
    )  # fmt: skip
    return dq, dk, dv, drows.to(rows.dtype)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs[:6], *output)
    ctx.settings = inputs[6:]
    ctx.mark_non_differentiable(output[1])


def _backward(ctx: Any, dout: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    slopes = relative_backward(in_one_piece(dout), *ctx.saved_tensors, *ctx.settings)
    return (*slopes, *(None,) * 6)


relative_forward.register_autograd(_backward, setup_context=_remember)


def _fitting(q: Tensor, tiles: Tiles) -> Tiles:
    """The same for bf16; in float32 all takes twice the room, so half as large."""
    if q.dtype != torch.float32:
        return tiles
    return replace(tiles, block=max(SMALLEST, tiles.block // 2))


def _scale(q: Tensor) -> float:
    return float(q.shape[3]) ** -0.5


def _grid(q: Tensor, tiles: Tiles) -> tuple[int, int]:
    batch, heads, length, _ = q.shape
    return batch * heads, triton.cdiv(length, tiles.block)


def _numbers(q: Tensor, rows: Tensor, back: int) -> tuple[int, ...]:
    return q.shape[1], q.shape[2], rows.shape[1], back


def _constants(q: Tensor, tiles: Tiles, clipped: bool, causal: bool, turns: bool) -> dict[str, Any]:
    return {
        "WIDTH": q.shape[3],
        "BLOCK": tiles.block,
        "COLUMNS": max(SMALLEST, triton.next_power_of_2(q.shape[3])),
        "CLIPPED": clipped,
        "CAUSAL": causal,
        "PRECISION": "tf32x3" if q.dtype == torch.float32 else "tf32",
        "TURNS": turns and (tiles.block, tiles.warps) == (SIDE, WARPS),
        "num_warps": tiles.warps,
        "num_stages": tiles.stages,
    }
