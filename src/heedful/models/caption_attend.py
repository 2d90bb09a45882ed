"""Show, Attend and Tell: a recurrent network that looks at a part of a picture for every word.

Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel and Bengio, "Show, Attend and Tell: Neural Image
Caption Generation with Visual Attention", ICML 2015, https://arxiv.org/abs/1502.03044. Equation
numbers below are the paper's. Departs from the paper: cells come from convolutions that are trained
along (see modalities/pictures.py), not from a VGG net; hard attention looks at the most likely cell
when it does not learn, as in the authors' code.
S pictures, R rows that read them, L length, K cells, D model.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.modalities.pictures import CellsConfig
from heedful.models.base import ModelConfig, Penalty
from heedful.nn.alignment import Alignment
from heedful.nn.attention import Encoded
from heedful.nn.cells import LSTM
from heedful.nn.initial import linear
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.products import plus_times
from heedful.nn.rewards import MovingBaseline, draw, of_sequence, reward_loss
from heedful.nn.scores import Additive
from heedful.registry import models


@dataclass(frozen=True, kw_only=True)
class CaptionAttendConfig(ModelConfig, kind="caption_attend"):
    """Its numbers; the defaults are the authors' for soft attention."""

    tie: Literal["all", "targets", "none"] = "none"
    hidden: int = 1_800  # that the LSTM remembers
    score: int = 512  # width of the layer that scores cells
    attend: Literal["soft", "hard", "mean"] = "soft"
    """The weighted mean of all cells; one cell, drawn by its weight; or the plain mean, which is
    no attention and the baseline."""
    dropout: float = 0.5
    doubly: float = 1.0
    """λ of the doubly stochastic regulariser, λ Σ (τ - Σ α)²: over a caption each cell is to be
    looked at as much as any other."""
    even: bool = False
    """τ: 1 as in the paper, which no caption with fewer words than cells can reach; or even,
    words / cells, which one can."""
    reward: float = 1.0  # λ of what hard attention learns by
    entropy: float = 0.002  # λ of the entropy of its weights, which keeps it looking around
    cells: CellsConfig = field(default_factory=CellsConfig)


@models.register("caption_attend")
class CaptionAttend(nn.Module):
    """An LSTM that attends to the cells of a picture (Xu et al. 2015)."""

    def __init__(self, config: CaptionAttendConfig) -> None:
        super().__init__()
        self.config = c = config
        if c.hidden < 1 or c.score < 1:
            raise UsageError(
                f"model.hidden and model.score must be 1 or more, got {c.hidden} and {c.score}"
            )
        self.begin_h = _beginning(c.dim, c.hidden)
        self.begin_c = _beginning(c.dim, c.hidden)
        self.gaze = None
        if c.attend != "mean":
            self.gaze = Alignment(Additive(width=c.score), c.hidden, c.dim)
        self.gate = linear(c.hidden, 1)
        self.gates = LSTM().build(2 * c.dim, c.hidden)
        self.say_h = linear(c.hidden, c.dim, bias=False)
        self.say_z = linear(c.dim, c.dim, bias=False)
        self.baseline = MovingBaseline() if c.attend == "hard" else None

    def encode(self, x: Float[Tensor, "S K D"], at: Layout) -> Encoded:
        """Cells are looked at as they are."""
        return Encoded(x, at)

    def decode(
        self,
        x: Float[Tensor, "R L D"],
        at: Layout,
        source: Encoded | None,
        memory: Memory = FORGET,
    ) -> Float[Tensor, "R L D"]:
        assert source is not None
        return self.unrolled(x, at, source, memory).out

    def decode_with_penalty(
        self, x: Float[Tensor, "R L D"], at: Layout, source: Encoded | None
    ) -> tuple[Float[Tensor, "R L D"], Penalty]:
        assert source is not None
        done = self.unrolled(x, at, source, FORGET)
        c, learns = self.config, self.training and self.baseline is not None
        added = x.new_zeros(())
        if c.attend != "mean" and c.doubly:
            added = c.doubly * doubly_stochastic(done.weights, at, source.at, c.even)
        if not learns:
            return done.out, lambda _: added
        assert self.baseline is not None and done.drawn is not None
        baseline, drawn = self.baseline, done.drawn

        def penalty(unlikeliness: Callable[[], Tensor]) -> Tensor:
            with torch.no_grad():
                nll = of_sequence(unlikeliness(), at)
            more = reward_loss(done.weights, drawn, -nll, at, baseline, c.reward, c.entropy)
            return added + more

        return done.out, penalty

    def unrolled(
        self, x: Float[Tensor, "R L D"], at: Layout, source: Encoded, memory: Memory
    ) -> "Unrolled":
        """Word by word, since what is looked at depends on what was said."""
        c, gaze = self.config, self.gaze
        x = F.dropout(x, c.dropout, self.training)
        evenly = shares(at, source.at, x.dtype)
        if not x.shape[1]:
            return Unrolled(x, evenly, None)
        scene = None
        if gaze is not None:
            keys = memory["source"].once(lambda: gaze.prepare(source))
            scene = gaze.scene(keys, source.at, at)
        mean = over(evenly, source.x)
        first = (self.begin_h(mean), self.begin_c(mean))
        starts = (at.positions == 0)[..., None]
        coins = self.coins(at)
        weight = self.gates.columns(c.dim)
        state = memory["state"].recall(lambda: self.gates.zeros(x))
        weights, drawn, said, seen = [], [], [], []
        steps = zip(
            *(part.unbind(1) for part in (self.gates.project(x), mean, *first)), strict=True
        )
        for t, (read, z, *new) in enumerate(steps):
            begun = zip(new, state, strict=True)
            h, cell = (torch.where(starts[:, t], begin, old) for begin, old in begun)
            if gaze is not None and scene is not None:
                here = scene.step(t)
                looked = gaze(h[:, None], here, gaze.fresh(h, here))
                weights.append(looked.weights)
                z = looked.context[:, 0]
            if c.attend == "hard":
                drawn.append(chosen(weights[-1], None if coins is None else coins[:, t]))
                z = over(drawn[-1], source.x)[:, 0]
            z = self.gate(h).sigmoid() * z
            state = self.gates.step(plus_times(read, z, weight), (h, cell))
            said.append(state[0])
            seen.append(z)
        memory["state"].keep(state)
        h, z = torch.stack(said, 1), torch.stack(seen, 1)
        out = x + self.say_h(F.dropout(h, c.dropout, self.training)) + self.say_z(z)
        alpha = torch.cat(weights, 1) if weights else evenly
        if gaze is not None:
            gaze.tell(torch.cat(drawn, 1) if drawn else alpha, source.at)
        only = None if coins is None else torch.cat(drawn, 1) * ~coins[..., None]
        return Unrolled(F.dropout(out, c.dropout, self.training), alpha, only)

    def coins(self, at: Layout) -> Tensor | None:
        """Where hard attention, while it learns, takes the weighted mean after all: for half of
        the captions, [R, L]. None where nothing is drawn."""
        if self.baseline is None or not self.training:
            return None
        coins = torch.rand(at.segments.shape, device=at.segments.device) < 0.5
        return coins.gather(1, at.segments.clamp(max=coins.shape[1] - 1))


@dataclass(frozen=True, eq=False)
class Unrolled:
    """What came of a pass."""

    out: Tensor  # [R, L, D]
    weights: Tensor  # α, [R, L, K]
    drawn: Tensor | None  # [R, L, K]: 1 at the cell that was drawn, nothing where none was


def doubly_stochastic(
    weights: Float[Tensor, "R L K"], at: Layout, cells: Layout, even: bool
) -> Float[Tensor, ""]:
    """Σ (τ - Σ α)², of each cell the sum over the words of its caption, eq. 14."""
    looked = weights.masked_fill(~at.real[..., None], 0.0).sum(1)  # [R, K]
    if even:
        words = (at.segments[:, :, None] == cells.segments[:, None]).sum(1)
        others = (cells.segments[:, :, None] == cells.segments[:, None]).sum(1)
        target = words.to(weights.dtype) / others
    else:
        target = torch.ones_like(looked)
    return (target - looked).square().masked_fill(~cells.real, 0.0).sum()


def _beginning(dim: int, hidden: int) -> nn.Module:
    """The first state from the mean of the cells, by a small net of its own."""
    return nn.Sequential(linear(dim, hidden), nn.Tanh(), linear(hidden, hidden), nn.Tanh())


def shares(at: Layout, cells: Layout, kind: torch.dtype) -> Float[Tensor, "R L K"]:
    """As if every cell of its picture were looked at as much by a word; padding looks at none."""
    segments = cells.segments.repeat_interleave(len(at.segments) // len(cells.segments), 0)
    may = (at.segments[:, :, None] == segments[:, None]) & (segments > 0)[:, None]
    return may.to(kind) / may.sum(-1, keepdim=True).clamp(min=1)


def over(weights: Float[Tensor, "R Q K"], x: Float[Tensor, "S K D"]) -> Float[Tensor, "R Q D"]:
    """The weighted sum of the cells; rows that read the same picture stand together."""
    rows, queries = weights.shape[:2]
    return (weights.reshape(len(x), -1, x.shape[1]) @ x).reshape(rows, queries, -1)


def chosen(weights: Float[Tensor, "R 1 K"], soft: Tensor | None) -> Float[Tensor, "R 1 K"]:
    """What hard attention looks at: one cell, drawn; but where `soft` says so, all by weight. With
    None it does not learn, and looks at the most likely one."""
    if soft is None:
        one = F.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype)
        return one * (weights > 0)
    return torch.where(soft[:, None, None], weights, draw(weights))
