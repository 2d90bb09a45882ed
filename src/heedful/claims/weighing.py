"""What a softmax takes in training: time and memory of its loss and gradient, beyond the weights.

The vectors that come to it and the words are made up; a step's other work is not counted.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from heedful.modalities.heads import head_for
from heedful.modalities.symbols import Embedding
from heedful.nn.layout import line
from heedful.nn.losses import Objective
from heedful.nn.noise import log_uniform
from heedful.text.specials import RESERVED


@dataclass(frozen=True, kw_only=True)
class Softmax:
    """One softmax to be measured: so many tokens of so wide vectors, over so many words."""

    objective: Objective
    tokens: int
    dim: int
    size: int
    bucket: int = 0  # words that come with a batch


@dataclass(frozen=True)
class Taken:
    """What it took."""

    seconds: float  # the median of several
    gigabytes: float | None  # None on a CPU, which does not count


def weigh(softmax: Softmax, device: torch.device, repeats: int = 5) -> Taken:
    """Time and memory of a loss and its gradient, in bf16 on a GPU as training computes."""
    s = softmax
    low = torch.bfloat16 if device.type == "cuda" else torch.float32
    torch.manual_seed(0)
    head = head_for(s.objective, Embedding(s.size, s.dim)).to(device).train()
    for parameter in head.parameters():
        parameter.data = parameter.data.to(low)
        parameter.grad = torch.zeros_like(parameter.data)
    x = torch.randn(1, s.tokens, s.dim, device=device, dtype=low, requires_grad=True)
    x.grad = torch.zeros_like(x)
    odds = log_uniform(s.size - RESERVED).to(device)
    ids = (torch.multinomial(odds.float(), s.tokens, replacement=True) + RESERVED)[None]
    at = line(s.tokens, device=device)
    words = None
    if s.bucket:
        drawn = torch.randperm(s.size - 1, device=device)[: s.bucket] + 1
        words = torch.cat([drawn, drawn.new_zeros(max(0, s.bucket - len(drawn)))])[None]

    def work() -> None:
        head.loss(x, ids, at, words).sum.backward()

    work()
    return Taken(_seconds(work, device, repeats), _gigabytes(work, device))


def _seconds(work: Callable[[], None], device: torch.device, repeats: int) -> float:
    found = []
    for _ in range(repeats):
        _settle(device)
        began = time.perf_counter()
        work()
        _settle(device)
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def _gigabytes(work: Callable[[], None], device: torch.device) -> float | None:
    if device.type != "cuda":
        return None
    _settle(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    _settle(device)
    return (torch.cuda.max_memory_allocated(device) - before) / 1e9


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
