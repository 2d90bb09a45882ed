"""What relative positions take in memory: a vector for every pair, skewed, and in the tile."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.claims.arms import Budget, Trainings
from heedful.claims.base import Baseline, Claim, Context, Measured, Number, Paper, claims
from heedful.claims.targets import AtLeast, AtMost
from heedful.claims.transformer import SMALL_TRANSLATION
from heedful.distributed.processes import pick_device
from heedful.nn.kernels.fused import fused
from heedful.nn.kernels.relative import refusal, relative
from heedful.nn.layout import line
from heedful.nn.patterns import Causal, Visible
from heedful.nn.relative import Skew, distance, line_of
from heedful.nn.sight import Sight
from heedful.training.capture import Recorded

MUSIC = {
    "authors": "Huang et al.",
    "title": "Music Transformer: Generating Music with Long-Term Structure",
    "venue": "ICLR 2019",
    "url": "https://arxiv.org/abs/1809.04281",
}


@dataclass(frozen=True)
class Size:
    """Of attention: a layer's heads, their width, and lengths."""

    heads: int = 8
    width: int = 64
    length: int = 2_048
    batch: int = 8  # where time is measured
    lengths: tuple[int, ...] = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768)


SMALL = Size(length=64, batch=1, lengths=(32, 64))


@claims.register("relative_memory")
def relative_memory() -> Claim:
    """Relative positions need no vector for a pair, and no matrix of pairs either."""
    return Claim(
        name="relative_memory",
        system="Relative attention: a vector for every pair, skewed, and by a kernel of its own",
        paper=Paper(
            **MUSIC,
            where="section 3.4 and Table 1",
            figure="for 2,048 tokens the relative tensors of a layer fall from 8.5 GB to 4.2 MB",
        ),
        statement="By skewing, the memory of relative positions falls from the square of the "
        "length to the length; made inside the tile, that of the scores does too.",
        task="a layer of 8 heads of 64 and 2,048 tokens: the relative tensors in float32; forward "
        "and backward in bf16 beside PyTorch's flash attention without relative positions",
        targets=(
            AtLeast("pairs/relative_mb", 8_500.0),
            AtMost("skewed/relative_mb", 4.3),
            AtMost("kernel/times_flash", 4.0),
            AtMost("kernel/memory_times_flash", 1.5),
            AtMost("kernel/memory_exponent", 1.1),
        ),
        baselines=(
            Baseline(name="a vector for every pair", number="pairs/relative_mb"),
            Baseline(name="skewed, milliseconds", number="skewed/ms"),
        ),
        cost="2 minutes on a GPU; time and the kernel are not measured on a CPU",
        measure=measure,
    )


def measure(context: Context) -> Measured:
    """The tensors' sizes anywhere; time and the most that is held on a GPU."""
    began, size = time.monotonic(), SMALL if context.smoke else Size()
    device = pick_device(context.device)
    numbers = {
        "pairs/relative_mb": held(lambda: for_pairs(size, device)),
        "skewed/relative_mb": held(lambda: for_distances(size, device)),
    }
    curve: dict[str, list[dict[str, float]]] = {}
    notes: tuple[str, ...] = ()
    unknown = dict.fromkeys((*OF_KERNEL, "skewed/ms", "flash/ms"), math.nan)
    if device.type == "cuda":
        found, curve = beside_flash(size, device)
        numbers |= unknown | found
    else:
        numbers |= unknown
        notes = ("no GPU: neither time nor the kernel's memory was measured",)
    return Measured(
        numbers={name: Number({1: value}) for name, value in numbers.items()},
        curve=curve,
        seeds=(1,),
        seconds=time.monotonic() - began,
        notes=notes,
    )


OF_KERNEL = ("kernel/times_flash", "kernel/memory_times_flash", "kernel/memory_exponent")


def for_pairs(size: Size, device: torch.device) -> Tensor:
    """A vector for every pair, as it was done first: [H, L, L, E]."""
    bias, at = Skew(size.heads, size.width, True, size.length), line(size.length)
    # On a CPU it is only counted: few have room for it.
    place = device if device.type == "cuda" else torch.device("meta")
    rows, types = bias.keys(torch.float32), bias.reach.types(distance(at, at))[0, 0]
    return rows.detach().to(place)[:, types.to(place)]


def for_distances(size: Size, device: torch.device) -> Tensor:
    """A vector for every distance: [H, L, E]."""
    bias = Skew(size.heads, size.width, True, size.length).to(device)
    return line_of(bias.keys(torch.float32), bias.reach, size.length, True).detach()


def held(make: Callable[[], Tensor]) -> float:
    """Megabytes that a tensor holds, as its storage says."""
    return make().untyped_storage().nbytes() / 1e6


def beside_flash(
    size: Size, device: torch.device
) -> tuple[dict[str, float], dict[str, list[dict[str, float]]]]:
    """Milliseconds and gigabytes of each way at one size, and the kernel's memory by length."""
    found: dict[str, float] = {}
    for name, way in WAYS.items():
        found[f"{name}/ms"], found[f"{name}/gb"] = taken(way, size, size.length, size.batch, device)
    found["kernel/times_flash"] = found["kernel/ms"] / found["flash/ms"]
    found["kernel/memory_times_flash"] = found["kernel/gb"] / found["flash/gb"]
    points = [
        {"length": float(n), "gb": taken(WAYS["kernel"], size, n, 1, device)[1]}
        for n in size.lengths
    ]
    found["kernel/memory_exponent"] = slope([(p["length"], p["gb"]) for p in points])
    return found, {"kernel": points}


def skewed(q: Tensor, k: Tensor, v: Tensor, sight: Sight, bias: Skew) -> Tensor:
    return fused(q, k, v, sight, bias(q, sight.q, sight.k))


def kernel(q: Tensor, k: Tensor, v: Tensor, sight: Sight, bias: Skew) -> Tensor:
    assert not refusal(q, sight, bias, 0.0)
    return relative(q, k, v, sight, bias)


def flash(q: Tensor, k: Tensor, v: Tensor, sight: Sight, bias: Skew) -> Tensor:
    """PyTorch's, by whichever of its kernels it takes: the one to beat."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


WAYS = {"flash": flash, "skewed": skewed, "kernel": kernel}


def taken(
    way: Callable[..., Tensor], size: Size, length: int, batch: int, device: torch.device
) -> tuple[float, float]:
    """Milliseconds of forward and backward, and the most gigabytes held, inputs included."""
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated(device)
    torch.manual_seed(1)
    shape, low = (batch, size.heads, length, size.width), torch.bfloat16
    q, k, v, back = (torch.randn(shape, device=device, dtype=low) for _ in range(4))
    bias = Skew(size.heads, size.width, True, length).to(device, low)
    moved = [x.requires_grad_() for x in (q, k, v)]
    moved += [] if way is flash else list(bias.parameters())
    at = line(length, batch=batch, device=device)
    sight = Sight(Visible() & Causal(), at, at)

    def work() -> None:
        torch.autograd.grad(way(q, k, v, sight, bias), moved, back)

    for _ in range(3):
        work()
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    most = torch.cuda.max_memory_allocated(device) - before
    replay = Recorded(work)  # as a step of training is: Python takes longer to start it all
    replay()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(REPEATS):
        replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / REPEATS, most / 1e9


REPEATS = 20


def slope(points: list[tuple[float, float]]) -> float:
    """The exponent of a power law through points, by least squares on their logarithms."""
    x, y = (torch.tensor([math.log(p[i]) for p in points], dtype=torch.double) for i in (0, 1))
    away = x - x.mean()
    return float((away @ y) / (away @ away))


# Nothing is trained for this claim.
TRAININGS = Trainings(arms=(), budget=Budget(steps=1), small=SMALL_TRANSLATION)
