"""A step of decoding by kernels of our own in Triton: attention of one query a row, norms, and what
comes before and after them.

Of keys and values only places that are written are read, and nothing is copied for it: neither
those of rows that were put in another order, nor those of a source that several rows read.
R rows, B sources, H heads, G heads of keys and values, L length, E per head.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.relative import nowhere
from heedful.nn.layout import Layout
from heedful.nn.patterns import Visible
from heedful.nn.sight import Sight

WIDEST = 128  # channels of a head
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
TRACED = 32  # places of a row, whose writers are looked up at a time
TRIAL = 48  # places that are read to see whether the kernels do
NEAR = 0.1  # how near the truth is in any precision, and nothing else


@dataclass
class Tuning:
    """The numbers that speed depends on, and no result: whoever measures may set them."""

    block: int = 16  # places at a time
    warps: int = 1
    norm_warps: int = 1


TUNING = Tuning()


def trusted(like: Tensor, width: int, lent: int) -> bool:
    """Whether heads of so many channels, so many of which share keys, can be read here; `like` is
    a tensor of the model."""
    return not refusal(like.device, like.dtype, width, lent)


@cache
def refusal(device: torch.device, dtype: torch.dtype, width: int, lent: int) -> str:
    """Why the kernels are not used here; nothing where they are. They are tried first, on a few
    numbers."""
    if dtype not in DTYPES:
        return f"computes in float32 and half precision, and this is {dtype}"
    return nowhere(device.type) or tried(lambda: _trial(device, dtype, width, lent), device)


def tried(trial: Callable[[], bool], device: torch.device) -> str:
    """What is wrong with kernels whose trial fails, in words, said once; nothing where it goes
    well."""
    try:
        why = "" if trial() else "it does not compute here what it should"
    except Exception as error:  # of a compiler or a driver: whatever it is, there is another way
        why = in_a_line(error)
    if why and device.type == "cuda":
        say_slower(why)
    return why


def in_a_line(error: Exception) -> str:
    """What went wrong; a compiler's own words can be pages."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def say_slower(why: str) -> None:
    """Tell whoever decodes that it is done without the kernels."""
    warnings.warn(f"decoding goes the plain way, which is slower: {why}", stacklevel=3)


def _trial(device: torch.device, dtype: torch.dtype, width: int, lent: int) -> bool:
    """Whether two rows read what they should, of a source and of each other."""

    def some(*shape: int) -> Tensor:
        numbers = torch.arange(math.prod(shape), device=device)
        return (numbers * 0.7).sin().view(shape).to(dtype)

    q, k, v = some(2, lent, 1, width), some(2, 1, TRIAL, width), some(2, 1, TRIAL, width) + 0.5
    ones = torch.ones(2, TRIAL, dtype=torch.long, device=device)
    sight = Sight(Visible(), Layout(ones[:, :1], ones[:, :1]), Layout(ones, ones))
    wanted = dense(q.double(), k.double(), v.double(), sight).transpose(1, 2).flatten(2)
    segments = ones[:, :1], ones
    source = read_source(q, k, v, segments)
    place = torch.tensor([TRIAL - 1], device=device)
    new = q, k[:, :, -1:].clone(), v[:, :, -1:].clone()
    trace = torch.tensor([[1], [0]], dtype=torch.int32, device=device).repeat(1, TRIAL)
    own = read_traced(new, k.flip(0).contiguous(), v.flip(0).contiguous(), segments, trace, place)
    normed = add_norm(source, own, nn.LayerNorm(lent * width, device=device, dtype=dtype))[1]
    norm = F.layer_norm(2 * wanted, [lent * width])
    retrace(trace, torch.tensor([1, 0], device=device), place, 1)
    rows = torch.tensor([[0], [1]], device=device).expand_as(trace)  # each has its own again
    table = some(3, lent * width)
    vectors = embed(ones[:, :1], table, 2.0, 0), 2 * table[1].expand(2, 1, -1)
    pairs = (source, wanted), (own, wanted), (normed, norm), (trace, rows), vectors
    return all(bool(((x - y).abs() < NEAR).all()) for x, y in pairs)


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


def retrace(
    trace: Int[Tensor, "R L"], order: Int[Tensor, " R"], place: Int[Tensor, "1"], sources: int
) -> None:
    """The table of where rows were written, when they are put in this order, each with its source.

    The newest token, at `place`, has been written by each row itself.
    """
    import triton

    from heedful.nn.kernels import step_trace

    together = len(trace) // sources
    step_trace.retrace[(sources,)](
        trace, order, place, trace.shape[1],
        K=together, KS=triton.next_power_of_2(together), BLOCK=TRACED, num_warps=1,
    )  # fmt: skip


def embed(
    ids: Int[Tensor, "R 1"], table: Float[Tensor, "V D"], scale: float, nothing: int
) -> Float[Tensor, "R 1 D"]:
    """The vectors of these ids times `scale`; zeros for the id that is `nothing`."""
    import triton

    from heedful.nn.kernels import step_embed

    ids, table, width = ids.contiguous(), table.contiguous(), table.shape[1]
    out = table.new_empty(len(ids), 1, width)
    step_embed.embed[(len(ids),)](
        ids, table, out, scale, nothing,
        WIDTH=width, COLUMNS=triton.next_power_of_2(width), num_warps=TUNING.norm_warps,
    )  # fmt: skip
    return out


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
