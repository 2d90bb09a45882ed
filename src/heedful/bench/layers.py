"""The kinds of layers whose costs "Attention Is All You Need" sets side by side, bare.

Vaswani et al., NeurIPS 2017, https://arxiv.org/abs/1706.03762, Table 1. Attention is measured
without the projections round it, as the table counts it, in heads of 64 channels: a wider layer has
more heads, as in practice. B batch, H heads, N length, D width, E per head.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn.kernels import KERNELS
from heedful.nn.layout import line
from heedful.nn.patterns import Causal, Full, Near, Pattern, Visible
from heedful.nn.sight import Sight

WIDTH = 64  # channels of a head


class Size(NamedTuple):
    """How large a layer is: length, width, and its kernel or its reach."""

    n: int
    d: int
    k: int  # of a convolution: positions it joins
    r: int  # of restricted attention: how far behind it looks


class Made(NamedTuple):
    """A layer ready to run."""

    forward: Callable[[], Tensor]
    inputs: tuple[Tensor, ...]
    weights: tuple[Tensor, ...] = ()


@dataclass(frozen=True)
class Layer:
    """A kind of layer, and what it is said to cost."""

    name: str
    cost: str  # operations, as the table writes them
    exponents: Mapping[str, int]  # of that cost, by letter
    make: Callable[[Size, torch.device, torch.dtype], Made]


def attention(kernel: str, restricted: bool) -> Callable[[Size, torch.device, torch.dtype], Made]:
    """One of our kernels, over everything or over `r` behind."""

    def make(size: Size, device: torch.device, dtype: torch.dtype) -> Made:
        q, k, v = _heads(size, device, dtype)
        at = line(size.n, device=device)
        pattern: Pattern = Causal() & Near(size.r) if restricted else Full()
        sight = Sight(Visible() & pattern, at, at)
        return Made(lambda: KERNELS[kernel](q, k, v, sight), (q, k, v))

    return make


def windowed(size: Size, device: torch.device, dtype: torch.dtype) -> Made:
    """Restricted attention in plain PyTorch."""
    q, k, v = _heads(size, device, dtype)
    return Made(lambda: windows(q, k, v, size.r), (q, k, v))


def windows(q: Tensor, k: Tensor, v: Tensor, reach: int) -> Tensor:
    """Attention to oneself and `reach` behind: rows are cut into blocks of `reach`, each of which
    reads itself and the one before, so nothing farther away is computed. [B, H, N, E]"""
    batch, heads, length, width = q.shape
    if length % reach:
        raise UsageError(f"a length must be a multiple of the reach, got {length} and {reach}")
    blocks = length // reach

    def cut(x: Tensor) -> Tensor:
        return x.view(batch, heads, blocks, reach, width).transpose(1, 2)

    def with_before(x: Tensor) -> Tensor:
        own = cut(x)
        return torch.cat([F.pad(own, (0, 0, 0, 0, 0, 0, 1, 0))[:, :-1], own], 3)

    behind = (
        torch.arange(reach, device=q.device)[:, None]
        + reach
        - torch.arange(2 * reach, device=q.device)
    )
    near = ((behind >= 0) & (behind <= reach)).expand(blocks, 1, reach, 2 * reach).clone()
    near[0, :, :, :reach] = False  # there is nothing before the first
    asked, keys, values = (t.flatten(0, 1) for t in (cut(q), with_before(k), with_before(v)))
    mask = near.repeat(batch, 1, 1, 1)
    out = F.scaled_dot_product_attention(asked, keys, values, attn_mask=mask)
    return out.view(batch, blocks, heads, reach, width).transpose(1, 2).reshape(q.shape)


def recurrence(size: Size, device: torch.device, dtype: torch.dtype) -> Made:
    """An LSTM."""
    lstm = nn.LSTM(size.d, size.d, batch_first=True).to(device, dtype)
    x = torch.randn(1, size.n, size.d, device=device, dtype=dtype, requires_grad=True)
    return Made(lambda: lstm(x)[0], (x,), tuple(lstm.parameters()))


def convolution(size: Size, device: torch.device, dtype: torch.dtype) -> Made:
    """A convolution over `k` positions."""
    layer = nn.Conv1d(size.d, size.d, size.k, padding=size.k // 2).to(device, dtype)
    x = torch.randn(1, size.d, size.n, device=device, dtype=dtype, requires_grad=True)
    return Made(lambda: layer(x), (x,), tuple(layer.parameters()))


def layers(device: torch.device) -> tuple[Layer, ...]:
    """All of them; on a GPU restricted attention through our kernel of blocks, too."""
    restricted = {"n": 1, "d": 1, "r": 1}
    found = [
        Layer("heedful self-attention, dense", "n²·d", {"n": 2, "d": 1}, attention("dense", False)),
        Layer("heedful self-attention, fused", "n²·d", {"n": 2, "d": 1}, attention("fused", False)),
        Layer("restricted attention, in windows", "r·n·d", restricted, windowed),
        Layer("recurrence, torch.nn.LSTM", "n·d²", {"n": 1, "d": 2}, recurrence),
        Layer("convolution, torch.nn.Conv1d", "k·n·d²", {"n": 1, "d": 2, "k": 1}, convolution),
    ]
    if device.type == "cuda":
        name = "heedful restricted attention, blocks"
        found.insert(2, Layer(name, "r·n·d", restricted, attention("blocks", True)))
    return tuple(found)


def _heads(size: Size, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    if size.d % WIDTH:
        raise UsageError(f"a width must be a multiple of {WIDTH}, a head's, got {size.d}")
    shape = (1, size.d // WIDTH, size.n, WIDTH)
    q, k, v = (torch.randn(shape, device=device, dtype=dtype, requires_grad=True) for _ in range(3))
    return q, k, v
