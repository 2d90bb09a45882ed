"""Recurrent layers that look at a source at every step: the loop that the equations force.

All that does not depend on the state is computed before it, for all steps at once.
R rows, L length, D what is read, H hidden, C what the encoder put out.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.nn.alignment import Alignment, Carried, Scene
from heedful.nn.attention import Encoded
from heedful.nn.cells import Cell, State
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.products import plus_times
from heedful.nn.recurrent import Dropout
from heedful.nn.states import Table, of_rows, of_tokens, spread

Query = Literal["previous", "current"]


class Attended(NamedTuple):
    """What the loop gave at every step."""

    out: Float[Tensor, "R L H"]  # the last layer's state
    before: Float[Tensor, "R L H"]  # and as it was the step before
    context: Float[Tensor, "R L C"]  # what was looked at
    fed: Float[Tensor, "R L F"]  # what was made of state and context for the next step


class Now(NamedTuple):
    """All that goes from step to step."""

    states: tuple[State, ...]  # of each layer
    fed: Tensor  # what was said last, [R, F]
    carried: Carried


class Attending(nn.Module):
    """Recurrent layers, of which the first or the next step is told what was looked at.

    With the query `previous`, a step looks from the last layer's state before it, and its first
    layer reads what was seen (Bahdanau). With `current` it looks from the state it has just made;
    what `feed` makes of state and context is read by the next step (Luong's input feeding).
    """

    def __init__(
        self,
        cell: Cell,
        inside: int,
        dim: int,
        layers: int,
        alignment: Alignment,
        *,
        query: Query,
        context: int,
        fed: int = 0,
        dropout: Dropout,
    ) -> None:
        super().__init__()
        self.alignment, self.query, self.fed, self.dropout = alignment, query, fed, dropout
        read = inside + (context if query == "previous" else 0) + fed
        self.layers = nn.ModuleList(
            cell.build(dim if number else read, dim) for number in range(layers)
        )

    def forward(
        self,
        x: Float[Tensor, "R L D"],
        at: Layout,
        source: Encoded,
        starts: tuple[Table, ...] | None,
        feed: Callable[[Tensor, Tensor], Tensor] | None = None,
        memory: Memory = FORGET,
    ) -> Attended:
        keys = memory["keys"].once(lambda: self.alignment.prepare(source))
        scene = self.alignment.scene(keys, source.at, at)
        now = memory.recall(lambda: self.begin(self.tables(starts, x), x, at, scene))
        bottom = self.layers[0]
        first: Tensor = bottom.project(x)  # type: ignore[operator]
        weight: Tensor = bottom.columns(x.shape[2])  # type: ignore[operator]
        drops = [self.dropout.mask(x, self.dim) for _ in self.layers[1:]]
        fresh = self.fresh(starts, x, at)
        outs, befores, contexts, feds, weights = [], [], [], [], []
        for t, read in enumerate(first.unbind(1)):
            now = fresh(t, Now(*now))
            before = now.states[-1][0]
            if self.query == "previous":
                looked = self.alignment(before[:, None], scene.step(t), now.carried)
                read = plus_times(read, looked.context[:, 0], weight)
            elif self.fed:
                read = plus_times(read, now.fed, weight)
            states = self.up(read, now.states, [None if d is None else d[:, t] for d in drops])
            out = states[-1][0]
            if self.query == "current":
                looked = self.alignment(out[:, None], scene.step(t), now.carried)
            context = looked.context[:, 0]
            fed = now.fed if feed is None else feed(out, context)
            now = Now(states, fed, looked.carried)
            outs.append(out)
            befores.append(before)
            contexts.append(context)
            feds.append(fed)
            weights.append(looked.weights)
        memory.keep(tuple(now))
        if not outs:
            widths = (self.dim, self.dim, keys[0].shape[2], self.fed)
            return Attended(*(x.new_zeros(len(x), 0, width) for width in widths))
        if self.alignment.note is not None:
            self.alignment.tell(torch.cat(weights, 1), source.at)
        return Attended(*(torch.stack(part, 1) for part in (outs, befores, contexts, feds)))

    @property
    def dim(self) -> int:
        width: int = self.layers[0].dim  # type: ignore[assignment]
        return width

    def up(
        self, read: Tensor, states: tuple[State, ...], drops: list[Tensor | None]
    ) -> tuple[State, ...]:
        """One step through all layers."""
        made: list[State] = []
        for number, (layer, state) in enumerate(zip(self.layers, states, strict=True)):
            if number:
                below, drop = made[-1][0], drops[number - 1]
                read = layer.project(below if drop is None else below * drop)  # type: ignore[operator]
            made.append(layer.step(read, state))  # type: ignore[operator]
        return tuple(made)

    def tables(self, starts: tuple[Table, ...] | None, x: Tensor) -> tuple[Table, ...]:
        """What each layer begins with, for the rows of `x`."""
        if starts is None:
            return tuple(
                tuple(part[:, None] for part in layer.zeros(x))  # type: ignore[operator]
                for layer in self.layers
            )
        return tuple(spread(table, len(x)) for table in starts)

    def begin(self, tables: tuple[Table, ...], x: Tensor, at: Layout, scene: Scene) -> Now:
        if at.several and at.segments.shape[1]:
            states = tuple(tuple(part[:, 0] for part in of_tokens(t, at)) for t in tables)
        else:
            states = tuple(of_rows(table, at) for table in tables)
        return Now(states, x.new_zeros(len(x), self.fed), self.alignment.fresh(x, scene))

    def fresh(
        self, starts: tuple[Table, ...] | None, x: Tensor, at: Layout
    ) -> Callable[[int, Now], Now]:
        """What a step begins with: where a sequence of a packed row begins, what belongs to it."""
        if not at.several or at.segments.shape[1] < 2:
            return lambda t, now: now
        begins = [of_tokens(table, at) for table in self.tables(starts, x)]
        new = at.segments[:, 1:] != at.segments[:, :-1]

        def begun(t: int, now: Now) -> Now:
            if not t:
                return now
            here = new[:, t - 1, None]
            states = tuple(
                tuple(torch.where(here, b[:, t], s) for b, s in zip(table, state, strict=True))
                for table, state in zip(begins, now.states, strict=True)
            )
            covered, moved = (part.masked_fill(here, 0.0) for part in now.carried)
            return Now(states, now.fed.masked_fill(here, 0.0), (covered, moved))

        return begun
