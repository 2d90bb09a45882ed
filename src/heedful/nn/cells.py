"""Recurrent cells: what a network remembers, and how each thing it reads changes that.

LSTM: Hochreiter and Schmidhuber, "Long Short-Term Memory", Neural Computation 1997, with the forget
gate of Gers et al. 2000 and no peepholes; its bias begins at 1 (Jozefowicz et al., "An Empirical
Exploration of Recurrent Network Architectures", ICML 2015). GRU: Cho et al., "Learning Phrase
Representations using RNN Encoder-Decoder", EMNLP 2014, https://arxiv.org/abs/1406.1078.

A cell says how one step is taken; where a library computes all steps of a row at once, it says how
that is asked for. Gates are stored in PyTorch's order: i f g o, and r z n. There is one bias where
the mathematics has one. B batch, L length, I what is read, H what is remembered.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.config import Choice
from heedful.nn.initial import xavier
from heedful.nn.products import are_quicker, plus_times, times
from heedful.nn.sweep import sweep

State = tuple[Tensor, ...]  # h of a GRU; h and c of an LSTM
SHUT = 1e3  # added to a gate's argument this makes it 0 or 1 exactly, and its gradient 0
WHOLE = 8  # columns: rows that are longer by less do not begin where a GPU reads at once


class Cell(Choice, ABC):
    """Which cell, and its dialect (`--set model.cell=gru model.cell.reset=before`)."""

    @abstractmethod
    def build(self, inside: int, dim: int) -> "Gates":
        """The cell that reads vectors of `inside` numbers and remembers `dim`."""


@dataclass(frozen=True, kw_only=True)
class LSTM(Cell, kind="lstm"):
    """A long short-term memory."""

    forget_bias: float = 1.0  # of the forget gate in the beginning

    def build(self, inside: int, dim: int) -> "Gates":
        return LSTMGates(inside, dim, self.forget_bias)


@dataclass(frozen=True, kw_only=True)
class GRU(Cell, kind="gru"):
    """A gated recurrent unit, in any of its dialects, which do not read each other's weights."""

    reset: Literal["after", "before"] = "after"
    """Whether the reset gate works on what was made of the state (PyTorch, cuDNN: fast) or on the
    state itself (Cho, Bahdanau)."""
    update: Literal["keep", "renew"] = "keep"
    """What the update gate is the share of: the old state (Cho, PyTorch) or the new (Bahdanau)."""

    def build(self, inside: int, dim: int) -> "Gates":
        return GRUGates(inside, dim, self.reset, self.update)


class Gates(nn.Module, ABC):
    """The weights of a cell. The read part is projected for all steps at once; a step does the
    rest."""

    states: int  # how many tensors a state has
    fused: bool  # whether `run` can be asked

    def __init__(self, inside: int, dim: int, gates: int) -> None:
        super().__init__()
        self.inside, self.dim, self.gates = inside, dim, gates
        self.weight_x = nn.Parameter(torch.empty(gates * dim, inside))
        self.weight_h = nn.Parameter(torch.empty(gates * dim, dim))
        self.bias = nn.Parameter(torch.zeros(gates * dim))
        xavier(self.weight_x, gates)
        with torch.no_grad():
            for part in self.weight_h.chunk(gates):
                nn.init.orthogonal_(part)

    def project(self, x: Float[Tensor, "*N I"], begin: int = 0) -> Float[Tensor, "*N G"]:
        """What is read makes of the gates; the bias is in it. `x` may be only the columns from
        `begin` on: then the bias is in the first ones."""
        weight: Tensor = self.weight_x
        if x.shape[-1] < self.inside:
            weight = weight[:, begin : begin + x.shape[-1]]
        return times(x, weight, None if begin else self.bias)

    def columns(self, begin: int) -> Float[Tensor, "G J"]:
        """What the numbers read from `begin` on are multiplied by. A loop takes it once: a part of
        the weights that is taken at every step costs as much again as all of them."""
        part = self.weight_x[:, begin:]
        return part.contiguous() if are_quicker(part) else part

    @abstractmethod
    def step(self, gates: Float[Tensor, "B G"], state: State) -> State:
        """The next state, from what was read and the state before. The first of it is put out."""

    def sweep(
        self, gates: Float[Tensor, "B L G"], state: State, beside: Tensor | None
    ) -> State | None:
        """The states after each of these steps, [B, L, H] each, by an operation of our own; None
        where there is none. `beside` is what else each step is given."""
        return None

    def runs(self, x: Tensor) -> bool:
        """Whether `run` is the quickest way for these."""
        return self.fused

    @abstractmethod
    def run(
        self, x: Float[Tensor, "B L I"], state: State, real: Tensor | None
    ) -> tuple[Float[Tensor, "B L H"], State]:
        """All steps at once, by the library's kernel. `real` says where `x` is not padding, which
        must come last; None where there is none. The state at the end is that of the last real
        step."""

    def zeros(self, like: Tensor) -> State:
        """The state that remembers nothing, one a row of `like`."""
        return tuple(like.new_zeros(len(like), self.dim) for _ in range(self.states))


class LSTMGates(Gates):
    """c' = f∘c + i∘g, h' = o∘tanh(c')."""

    states = 2
    fused = True

    def __init__(self, inside: int, dim: int, forget_bias: float = 1.0) -> None:
        super().__init__(inside, dim, gates=4)
        with torch.no_grad():
            self.bias[dim : 2 * dim] = forget_bias

    def step(self, gates: Float[Tensor, "B G"], state: State) -> State:
        h, c = state
        gates = plus_times(gates, h, self.weight_h)
        both, g, o = gates.split((2 * self.dim, self.dim, self.dim), 1)
        i, f = both.sigmoid().chunk(2, 1)
        c = torch.addcmul(f * c, i, g.tanh())
        return o.sigmoid() * c.tanh(), c

    def run(
        self, x: Float[Tensor, "B L I"], state: State, real: Tensor | None
    ) -> tuple[Float[Tensor, "B L H"], State]:
        h0, c0 = state
        x, weight = held(x, self.weight_x, real, (-SHUT, SHUT, 0.0, 0.0))
        weights = (weight, self.weight_h, self.bias, torch.zeros_like(self.bias))
        begin = (h0[None].contiguous(), c0[None].contiguous())
        with unpacked_weights(x):
            out, h, c = torch.lstm(x, begin, weights, True, 1, 0.0, self.training, False, True)
        if real is None:
            return out, (h[0], c[0])
        # c is carried over padding, h is not: the output gate stays open.
        return out, (last(out, h0, real), c[0])


class GRUGates(Gates):
    """h' = z∘h + (1 - z)∘n, or with z and 1 - z changed about."""

    states = 1

    def __init__(
        self,
        inside: int,
        dim: int,
        reset: Literal["after", "before"] = "after",
        update: Literal["keep", "renew"] = "keep",
    ) -> None:
        super().__init__(inside, dim, gates=3)
        self.reset, self.update = reset, update
        self.fused = reset == "after"
        # Inside the reset gate's reach the state has a bias of its own.
        self.bias_h = nn.Parameter(torch.zeros(dim)) if reset == "after" else None

    def step(
        self, gates: Float[Tensor, "B G"], state: State, beside: Tensor | None = None
    ) -> State:
        """`beside` [B, H] is added to what the reset gate works on."""
        (h,) = state
        parts = (2 * self.dim, self.dim)
        both, new = gates.split(parts, 1)
        if self.bias_h is not None:
            more, inner = times(h, self.weight_h).split(parts, 1)
            r, z = (both + more).sigmoid().chunk(2, 1)
            inner = inner + self.bias_h
            n = torch.addcmul(new, r, inner if beside is None else inner + beside).tanh()
        else:
            weight, new_weight = self.weight_h.split(parts)
            r, z = plus_times(both, h, weight).sigmoid().chunk(2, 1)
            n = plus_times(new, r * h, new_weight).tanh()
        return (torch.lerp(n, h, z) if self.update == "keep" else torch.lerp(h, n, z),)

    def sweep(
        self, gates: Float[Tensor, "B L G"], state: State, beside: Tensor | None
    ) -> State | None:
        if gates.shape[1] == 1 or torch.compiler.is_compiling():
            return None
        inside: Tensor | None = self.bias_h
        if inside is not None:
            inside = inside.expand_as(gates[..., : self.dim]) if beside is None else inside + beside
        return (sweep(gates, state[0], self.weight_h, inside, self.update == "renew"),)

    def runs(self, x: Tensor) -> bool:
        return self.fused and not are_quicker(x)  # the library's kernel has PyTorch's products

    def run(
        self, x: Float[Tensor, "B L I"], state: State, real: Tensor | None
    ) -> tuple[Float[Tensor, "B L H"], State]:
        assert self.bias_h is not None
        weight_x: Tensor = self.weight_x
        weight_h: Tensor = self.weight_h
        bias: Tensor = self.bias
        if self.update == "renew":  # σ(-a) = 1 - σ(a)
            sign = bias.new_ones(3, self.dim)
            sign[1] = -1.0
            sign = sign.flatten()
            weight_x, weight_h = weight_x * sign[:, None], weight_h * sign[:, None]
            bias = bias * sign
        x, weight_x = held(x, weight_x, real, (0.0, SHUT, 0.0))
        bias_h = F.pad(self.bias_h, (2 * self.dim, 0))
        weights = (weight_x, weight_h, bias, bias_h)
        begin = state[0][None].contiguous()
        with unpacked_weights(x):
            out, h = torch.gru(x, begin, weights, True, 1, 0.0, self.training, False, True)
        return out, (h[0],)


def held(
    x: Tensor, weight: Tensor, real: Tensor | None, shut: tuple[float, ...]
) -> tuple[Tensor, Tensor]:
    """One column more, 1 at padding, whose weights shut the gates there: the state stays as it is,
    and its gradient too. Lengths need not be known to the host for that. Zeros make it `WHOLE`."""
    if real is None:
        return x, weight
    column = torch.stack([weight.new_full((len(weight) // len(shut),), s) for s in shut]).flatten()
    padding = (~real)[..., None].to(x.dtype)
    more = 0, WHOLE - 1
    return (
        torch.cat([x, F.pad(padding, more)], 2),
        torch.cat([weight, F.pad(column[:, None], more)], 1),
    )


def last(out: Tensor, before: Tensor, real: Tensor) -> Tensor:
    """The output of each row's last real step; what was before where there is none."""
    count = real.sum(1)
    if not out.shape[1]:
        return before
    there = (count - 1).clamp(min=0)[:, None, None].expand(-1, 1, out.shape[2])
    return torch.where((count > 0)[:, None], out.gather(1, there)[:, 0], before)


@contextmanager
def unpacked_weights(x: Tensor) -> Iterator[None]:
    """Without cuDNN's warning that weights do not lie in one piece: it lays them so at every call,
    which costs little beside the steps."""
    if not x.is_cuda or torch.compiler.is_compiling():
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous")
        yield
