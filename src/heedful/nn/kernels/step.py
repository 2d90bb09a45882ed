"""A step of decoding by kernels of our own in Triton: attention of one query a row, and norms.

Of keys and values only places that are written are read, and nothing is copied for it: neither
those of rows that were put in another order, nor those of a source that several rows read.
R rows, B sources, H heads, G heads of keys and values, L length, E per head.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from heedful.nn.kernels.relative import nowhere

WIDEST = 128  # channels of a head
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


@dataclass
class Tuning:
    """The numbers that speed depends on, and no result: whoever measures may set them."""

    block: int = 32  # places at a time
    warps: int = 1
    norm_warps: int = 4


TUNING = Tuning()


def able(x: Tensor) -> bool:
    """Whether tensors like this can be read here."""
    return x.dtype in DTYPES and not nowhere(x.device.type)


def read_traced(
    new: tuple[Float[Tensor, "R H 1 E"], Float[Tensor, "R G 1 E"], Float[Tensor, "R G 1 E"]],
    k: Float[Tensor, "R G L E"],
    v: Float[Tensor, "R G L E"],
    segments: tuple[Int[Tensor, "R 1"], Int[Tensor, "R L"]],
    trace: Int[Tensor, "R L"],
    place: Int[Tensor, "1"],
) -> Float[Tensor, "R 1 HE"]:
    """What new queries read of all places up to their own, which is written: `new` is the token's
    query, key and value; `segments` are its own and those of all places, as they were written."""
    return _read(new[0], k, v, segments, 1, (trace, place, *new[1:]))


def read_source(
    q: Float[Tensor, "R H 1 E"],
    k: Float[Tensor, "B G L E"],
    v: Float[Tensor, "B G L E"],
    segments: tuple[Int[Tensor, "R 1"], Int[Tensor, "B L"]],
) -> Float[Tensor, "R 1 HE"]:
    """What queries read of their source, R / B rows of each."""
    return _read(q, k, v, segments, len(q) // len(k), None)


def add_norm(
    x: Float[Tensor, "R 1 D"], y: Float[Tensor, "R 1 D"], norm: nn.LayerNorm
) -> tuple[Float[Tensor, "R 1 D"], Float[Tensor, "R 1 D"]]:
    """x + y, and the norm of that."""
    import triton

    from heedful.nn.kernels import step_norm

    x, y, width = x.contiguous(), y.contiguous(), x.shape[2]
    total, out = torch.empty_like(x), torch.empty_like(x)
    step_norm.add_norm[(len(x),)](
        x, y, norm.weight, norm.bias, total, out, norm.eps,
        WIDTH=width, COLUMNS=triton.next_power_of_2(width), num_warps=TUNING.norm_warps,
    )  # fmt: skip
    return total, out


def _read(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    segments: tuple[Tensor, Tensor],
    together: int,
    traced: tuple[Tensor, Tensor, Tensor, Tensor] | None,
) -> Tensor:
    import triton

    from heedful.nn.kernels.step_read import read

    rows, heads, _, width = q.shape
    own, there = (x.contiguous() for x in segments)
    out = q.new_empty(rows, 1, heads * width)
    trace, place, new_k, new_v = traced or (there, own, q, q)
    q, new_k, new_v = (x if x.stride(3) == 1 else x.contiguous() for x in (q, new_k, new_v))
    assert k.is_contiguous() and v.is_contiguous()  # written in place, or laid out once
    read[(rows, heads)](
        q, k, v, there, own, out, trace, place, new_k, new_v,
        *q.stride()[:2], *new_k.stride()[:2], *new_v.stride()[:2],
        width**-0.5 / math.log(2), k.shape[2], together, heads,
        LENT=heads // k.shape[1], WIDTH=width, COLUMNS=triton.next_power_of_2(width),
        BLOCK=TUNING.block, TRACED=traced is not None, num_warps=TUNING.warps,
    )  # fmt: skip
    return out
