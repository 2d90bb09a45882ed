"""How fast attention is and how much memory it takes: our kernels beside PyTorch's flash attention.

Forward and backward of causal attention, without the projections round it; with relative positions
too, skewed and by their own kernel; and of sentences packed in rows. Who sees whom is worked out
once and not timed: in a model all layers share it. B batch, H heads, L length, E per head.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from heedful.bench.fit import PowerLaw
from heedful.bench.rivals import Rival
from heedful.bench.sentences import MadeUp
from heedful.bench.table import Bench, Row, Tell, attempt
from heedful.bench.timing import Middle, Peak, by_device, kept_gigabytes
from heedful.errors import UsageError
from heedful.nn.kernels import KERNELS
from heedful.nn.kernels.relative import NARROWEST, WIDEST, refusal, relative
from heedful.nn.kernels.spanned import SPANS_KERNEL, spanned
from heedful.nn.layout import Layout, line
from heedful.nn.patterns import Causal, Visible
from heedful.nn.relative import Skew
from heedful.nn.sight import Sight

UNIT = "ms"
COLUMNS = ("memory_gb", "times_flash", "time_exponent")
FLASH = "torch flash"
RIVALS = (Rival("flash", FLASH, "torch"), Rival("torch", "torch, its own choice", "torch"))

ROW = 1_024  # slots of a packed row

SKEWED, OWN = "heedful relative, skewed", "heedful relative, its kernel"

Attend = Callable[[Tensor, Tensor, Tensor, Sight], Tensor]
Relatively = Callable[[Tensor, Tensor, Tensor, Sight, Skew], Tensor]
Way = Callable[..., Tensor]  # either of them


@dataclass(frozen=True)
class Shape:
    """What queries, keys and values are like."""

    batch: int
    heads: int
    length: int
    width: int
    dtype: torch.dtype

    def __post_init__(self) -> None:
        least = min(self.batch, self.heads, self.length, self.width)
        if least < 1:
            raise UsageError(
                f"batch, heads, length and width must be 1 or more, got {self.batch}, "
                f"{self.heads}, {self.length} and {self.width}"
            )


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What is measured, and how often."""

    shape: Shape
    lengths: tuple[int, ...]  # for how memory grows
    lengths_batch: int  # rows at those
    rivals: tuple[Rival, ...]
    repeats: int
    seed: int = 1
    packed: int = 0  # rows of packed sentences; 0 for none


def bench_attention(measuring: Measuring, device: torch.device, tell: Tell) -> Bench:
    """Measure all of it, one after the other."""
    m = measuring
    first = {title: _row(title, attend, m.shape, m, device, tell) for title, attend in _ways(m)}
    flash = first[FLASH].value if FLASH in first else None
    rows = [_beside(row, flash) for row in first.values()]
    if m.packed:
        packed = replace(m.shape, batch=m.packed, length=ROW)
        ways = {**KERNELS, SPANS_KERNEL: spanned}
        rows += [
            _row(f"heedful {k}", way, packed, m, device, tell, True) for k, way in ways.items()
        ]
    for title, attend in _ways(m):
        if first[title].value is None:
            continue  # it cannot do it here, at any length
        long = [
            _row(title, attend, replace(m.shape, length=n, batch=m.lengths_batch), m, device, tell)
            for n in m.lengths
        ]
        rows += long
        if len(m.lengths) > 1:
            rows.append(_growth(title, dict(zip(m.lengths, long, strict=True)), device))
    s = m.shape
    settings: dict[str, Any] = {
        "batch": s.batch,
        "heads": s.heads,
        "length": s.length,
        "width": s.width,
        "dtype": str(s.dtype).removeprefix("torch."),
        "lengths": list(m.lengths),
        "lengths_batch": m.lengths_batch,
        "repeats": m.repeats,
        "seed": m.seed,
        "packed": m.packed,
    }
    memory = (
        "the most the GPU held, inputs and masks included"
        if device.type == "cuda"
        else "what the forward pass keeps for the backward pass, inputs and masks included"
    )
    notes = (
        "forward and backward, causal; masks are made once and not timed",
        f"memory: {memory}",
        f"packed: rows of {ROW:,} with sentences of {MadeUp().mean:.0f} tokens on average",
    )
    return Bench(kind="attention", rows=tuple(rows), settings=settings, notes=notes)


def flash(q: Tensor, k: Tensor, v: Tensor, sight: Sight) -> Tensor:
    """PyTorch's flash attention, which knows the causal pattern by itself."""
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def own_choice(q: Tensor, k: Tensor, v: Tensor, sight: Sight) -> Tensor:
    """PyTorch's attention by whichever of its kernels it takes here: on some GPUs one of cuDNN's,
    which is faster than flash."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


BY_RIVAL: dict[str, Attend] = {"flash": flash, "torch": own_choice}


def skewed(q: Tensor, k: Tensor, v: Tensor, sight: Sight, bias: Skew) -> Tensor:
    """Relative attention with all scores by distance written out, then skewed."""
    return KERNELS["fused"](q, k, v, sight, bias(q, sight.q, sight.k))


def by_kernel(q: Tensor, k: Tensor, v: Tensor, sight: Sight, bias: Skew) -> Tensor:
    """Relative attention by its own kernel, or an error where there is none."""
    why = refusal(q, sight, bias, 0.0)
    if why:
        raise UsageError(f"kernel 'relative' {why}")
    return relative(q, k, v, sight, bias)


RELATIVELY: dict[str, Relatively] = {SKEWED: skewed, OWN: by_kernel}


def sentences(rows: int, seed: int) -> Layout:
    """Rows filled with sentences as long as real ones are."""
    draw, made = random.Random(seed), MadeUp()
    positions, segments = (torch.zeros(rows, ROW, dtype=torch.long) for _ in range(2))
    for row in range(rows):
        place, number = 0, 1
        while place + (length := made.lengths(draw)[1]) <= ROW:
            positions[row, place : place + length] = torch.arange(length)
            segments[row, place : place + length] = number
            place, number = place + length, number + 1
    return Layout(positions, segments).looked_at()


def measure(
    attend: Way, shape: Shape, repeats: int, seed: int, device: torch.device, packed: bool = False
) -> tuple[Middle, float]:
    """Milliseconds of forward and backward, and gigabytes.

    Relative positions have a vector for each distance of the row, with its gradient.
    """
    peak = Peak(device)
    torch.manual_seed(seed)
    size = (shape.batch, shape.heads, shape.length, shape.width)

    def draw() -> Tensor:
        return torch.randn(size, device=device, dtype=shape.dtype, requires_grad=True)

    q, k, v, back = draw(), draw(), draw(), draw().detach()
    at = line(shape.length, batch=shape.batch, device=device)
    if packed:
        at = sentences(shape.batch, seed).to(device)
    sight = Sight(Visible() & Causal(), at, at)
    more: tuple[Any, ...] = ()
    if attend in RELATIVELY.values():
        bias = Skew(shape.heads, shape.width, True, shape.length).to(device, shape.dtype)
        more = (bias,)
    moved = (q, k, v, *(weight for part in more for weight in part.parameters()))

    def forward() -> Tensor:
        return attend(q, k, v, sight, *more)

    def work() -> None:
        torch.autograd.grad(forward(), moved, back)

    seconds = by_device(work, device, repeats)
    peak.restart()  # what making the masks took is over; that they are there counts
    work()
    most = peak.gigabytes()
    memory = kept_gigabytes(lambda: (forward, ()), device) if most is None else most
    return Middle.of(seconds).times(1_000), memory


def _ways(m: Measuring) -> Iterator[tuple[str, Way]]:
    for name, kernel in KERNELS.items():
        yield f"heedful {name}", kernel
    if NARROWEST <= m.shape.width <= WIDEST:
        yield from RELATIVELY.items()
    for rival in m.rivals:
        yield rival.title, BY_RIVAL[rival.name]


def _row(
    title: str,
    attend: Way,
    shape: Shape,
    m: Measuring,
    device: torch.device,
    tell: Tell,
    packed: bool = False,
) -> Row:
    name = f"{title}, {shape.batch} × {shape.length:,}{' packed' if packed else ''}"
    tell(name)

    def work() -> Row:
        middle, memory = measure(attend, shape, m.repeats, m.seed, device, packed)
        more = {"memory_gb": memory, "length": shape.length, "batch": shape.batch}
        return Row.of(name, UNIT, middle, more)

    return attempt(name, UNIT, work, device)


def _beside(row: Row, flash: float | None) -> Row:
    """With how many times as long as flash attention it takes."""
    if row.value is None or not flash:
        return row
    return replace(row, more={**row.more, "times_flash": row.value / flash})


def _growth(title: str, rows: dict[int, Row], device: torch.device) -> Row:
    """The exponent by which memory grows with length; and the one of time."""
    name, unit = f"{title}: memory by length", "exponent"

    def work() -> Row:
        known = {n: row for n, row in rows.items() if row.value is not None}
        memory = PowerLaw.through([(n, row.more["memory_gb"]) for n, row in known.items()])
        time = PowerLaw.through([(n, row.value or 0.0) for n, row in known.items()])
        return Row(
            name=name,
            unit=unit,
            value=memory.exponent,
            spread=memory.error,
            more={"time_exponent": time.exponent, "lengths": list(known)},
        )

    return attempt(name, unit, work, device)
