"""Recurrent layers over rows of any layout: padded, packed, in pieces.

Where a row holds one sequence a cell's own kernel computes all of its steps, the library's or ours
(sweep.py), whichever is quicker; where rows hold several a plain scan does, which is also the
reference. Packed sequences begin each with a state of their own, and what is remembered at the end
is kept for each.
B batch, L length, D what is read, H what is remembered.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import UsageError
from heedful.nn.cells import Cell, Gates, State, last
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.states import Table, ends_of, of_rows, of_tokens, spread


class Recurrent(nn.Module):
    """One recurrent layer, read from the first token to the last."""

    def __init__(self, cell: Cell, inside: int, dim: int) -> None:
        super().__init__()
        if dim < 1:
            raise UsageError(f"a recurrent layer must remember 1 number or more, got {dim}")
        self.gates = cell.build(inside, dim)

    def forward(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        start: Table | None = None,
        memory: Memory = FORGET,
        ends: bool = True,
    ) -> tuple[Float[Tensor, "B L H"], Table]:
        """What is put out at each token, and what is remembered at the end.

        Goes on from what `memory` holds, or else from `start`, or else from nothing. Without `ends`
        nobody but the memory looks at what is remembered, and it may be anything.
        """
        begin = memory.recall(lambda: self.begin(start, x))
        if at.several or not self.gates.runs(x):
            out, end = scan(self.gates, self.gates.project(x), at, begin)
        else:
            out, end = run(self.gates, x, at, begin, ends or memory.keeps)
        memory.keep(end)
        return out, end

    def begin(self, start: Table | None, x: Tensor) -> Table:
        if start is None:
            return tuple(part[:, None] for part in self.gates.zeros(x))
        return spread(start, len(x))


def run(
    gates: Gates, x: Float[Tensor, "B L D"], at: Layout, start: Table, ends: bool = True
) -> tuple[Float[Tensor, "B L H"], Table]:
    """All steps by the cell's kernel, for rows that hold one sequence each.

    Where nobody asks for the `ends`, padding behind the last token is read as if it were tokens:
    that is quicker than to hold the state there.
    """
    begin = of_rows(start, at)
    if not x.shape[1]:
        return x.new_zeros(len(x), 0, gates.dim), _alone(begin)
    if at.filling == "single":  # padding stands before tokens: it is moved behind them
        order, back = gathering(at)
        out, end = gates.run(_moved(x, order), begin, at.real.gather(1, order) if ends else None)
        return _moved(out, back), _alone(end)
    holds = ends and at.filling != "full"
    out, end = gates.run(x, begin, at.real if holds else None)
    return out, _alone(end)


def scan(
    gates: Gates,
    projected: Float[Tensor, "B L G"],
    at: Layout,
    start: Table,
    beside: Tensor | None = None,
) -> tuple[Float[Tensor, "B L H"], Table]:
    """Step by step, from what the gates make of the input. Where a sequence begins, its own state
    is put in place of the one before. `beside` [B, L, H] is given to each step of a GRU."""
    if not projected.shape[1]:
        return projected.new_zeros(len(projected), 0, gates.dim), start
    filling, back = at.filling, None
    if filling in ("packed", "single"):  # a sequence's tokens are brought together
        order, back = gathering(at)
        projected = _moved(projected, order)
        beside = None if beside is None else _moved(beside, order)
        at = Layout(
            at.positions.gather(1, order),
            at.segments.gather(1, order),
            filled="in_turn" if filling == "packed" else "padded",
        )
    out, states = _steps(gates, projected, at, start, beside)
    end = ends_of(states, start, at) if at.several else _at_end(states, start, at)
    return (out if back is None else _moved(out, back)), end


def _steps(
    gates: Gates, projected: Tensor, at: Layout, start: Table, beside: Tensor | None
) -> tuple[Tensor, Table]:
    """The outputs, and the states after every token."""
    several = at.several
    begins = of_tokens(start, at) if several else ()
    state = of_rows(start, at) if not several else tuple(part[:, 0] for part in begins)
    swept = None if several else gates.sweep(projected, state, beside)
    if swept is not None:
        return swept[0], swept
    new = at.segments[:, 1:] != at.segments[:, :-1]
    made: list[State] = []
    for t, gates_t in enumerate(projected.unbind(1)):
        if several and t:
            fresh = new[:, t - 1, None]
            state = tuple(
                torch.where(fresh, part[:, t], old) for part, old in zip(begins, state, strict=True)
            )
        # Only a GRU is ever given something beside.
        more = () if beside is None else (beside[:, t],)
        state = gates.step(gates_t, state, *more)
        made.append(state)
    states = tuple(torch.stack(part, 1) for part in zip(*made, strict=True))
    return states[0], states


def _at_end(states: Table, start: Table, at: Layout) -> Table:
    """The states after the last token of rows with one sequence each."""
    if at.filling == "full":
        return tuple(part[:, -1:] for part in states)
    begin = of_rows(start, at)
    return _alone(tuple(last(p, b, at.real) for p, b in zip(states, begin, strict=True)))


def gathering(at: Layout) -> tuple[Tensor, Tensor]:
    """Where to take tokens from so that those of a sequence stand together and padding last, and
    where to take them from to put them back, [B, L] each."""
    if "gathering" not in at.seen:
        number = at.segments.masked_fill(~at.real, at.segments.shape[1] + 1)
        order = number.argsort(stable=True, dim=1)
        at.seen["gathering"] = order, order.argsort(1)
    found: tuple[Tensor, Tensor] = at.seen["gathering"]
    return found


def mirrored(at: Layout) -> Tensor:
    """Where to take tokens from to read each sequence backwards in its own place; padding stays
    where it is, [B, L]. The same again puts them back."""
    if "mirrored" not in at.seen:
        length = at.segments.shape[1]
        here = torch.arange(length, device=at.segments.device).expand_as(at.segments)
        counts = at.segments.new_zeros(len(at.segments), length + 1)
        counts = counts.scatter_add(1, at.segments, torch.ones_like(at.segments))
        there = here + counts.gather(1, at.segments) - 1 - 2 * at.positions
        at.seen["mirrored"] = torch.where(at.real, there, here)
    found: Tensor = at.seen["mirrored"]
    return found


def backwards(x: Float[Tensor, "B L D"], at: Layout) -> Float[Tensor, "B L D"]:
    """Each sequence read backwards, within its own length."""
    return _moved(x, mirrored(at)) if x.shape[1] else x


def _moved(x: Tensor, places: Tensor) -> Tensor:
    return x.gather(1, places[..., None].expand(-1, -1, x.shape[2]))


def _alone(state: State) -> Table:
    return tuple(part[:, None] for part in state)


class Bidirectional(nn.Module):
    """Two recurrent layers side by side, one reading each sequence from its end.

    Schuster and Paliwal, "Bidirectional Recurrent Neural Networks", IEEE Transactions on Signal
    Processing 1997. What is put out at a token is what both remember there, [forwards; backwards].
    """

    def __init__(self, cell: Cell, inside: int, dim: int) -> None:
        super().__init__()
        self.forwards = Recurrent(cell, inside, dim)
        self.backwards = Recurrent(cell, inside, dim)

    def forward(
        self, x: Float[Tensor, "B L D"], at: Layout, ends: bool = True
    ) -> tuple[Float[Tensor, "B L H2"], Table, Table]:
        """Outputs, and what each of the two remembers at its end, where the `ends` are asked for:
        the backward one's is that at the first token."""
        ahead, end = self.forwards(x, at, ends=ends)
        back, beginning = self.backwards(backwards(x, at), at, ends=ends)
        return torch.cat([ahead, backwards(back, at)], 2), end, beginning


class Dropout(nn.Module):
    """Dropout of what goes from layer to layer, never of what goes from step to step.

    Zaremba, Sutskever and Vinyals, "Recurrent Neural Network Regularization", 2014,
    https://arxiv.org/abs/1409.2329. With `one_mask`, the same units are dropped at every step of a
    row: Gal and Ghahramani, "A Theoretically Grounded Application of Dropout in Recurrent Neural
    Networks", NeurIPS 2016, https://arxiv.org/abs/1512.05287.
    """

    def __init__(self, rate: float, one_mask: bool = False) -> None:
        super().__init__()
        if not 0.0 <= rate < 1.0:
            raise UsageError(f"dropout must be 0 or more and less than 1, got {rate}")
        self.rate, self.one_mask = rate, one_mask

    def forward(self, x: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        if not self.one_mask or not self.training or not self.rate:
            return F.dropout(x, self.rate, self.training)
        return x * F.dropout(x.new_ones(len(x), 1, x.shape[2]), self.rate)

    def mask(self, x: Float[Tensor, "B L D"], width: int) -> Tensor | None:
        """What vectors of this width are to be multiplied by at each step of `x`, [B, L, width];
        None for nothing."""
        if not self.training or not self.rate:
            return None
        return self(x.new_ones(len(x), x.shape[1], width))


class RecurrentStack(nn.Module):
    """Recurrent layers above each other, with dropout before each.

    From layer number `residual_from` on (the first is 1; 0 for none), what goes into a layer is
    added to what comes out of it.
    """

    def __init__(
        self,
        cell: Cell,
        inside: int,
        dim: int,
        layers: int,
        *,
        dropout: float = 0.0,
        one_mask: bool = False,
        residual_from: int = 0,
    ) -> None:
        super().__init__()
        if layers < 1:
            raise UsageError(f"a recurrent network must have 1 layer or more, got {layers}")
        self.dropout = Dropout(dropout, one_mask)
        self.residual_from = residual_from
        self.layers = nn.ModuleList(
            Recurrent(cell, dim if number else inside, dim) for number in range(layers)
        )
        first = residual_from == 1 and inside != dim
        if first:
            raise UsageError(
                f"the first layer reads {inside} numbers and puts out {dim}: they cannot be added. "
                "Begin residuals at a later layer"
            )

    def forward(
        self,
        x: Float[Tensor, "B L D"],
        at: Layout,
        starts: tuple[Table, ...] | None = None,
        memory: Memory = FORGET,
        ends: bool = True,
    ) -> tuple[Float[Tensor, "B L H"], tuple[Table, ...]]:
        """What the last layer puts out, and what each remembers at the end, where the `ends` are
        asked for."""
        found = []
        for number, layer in enumerate(self.layers):
            start = None if starts is None else starts[number]
            out, end = layer(self.dropout(x), at, start, memory[number], ends)
            x = x + out if 0 < self.residual_from <= number + 1 else out
            found.append(end)
        return x, tuple(found)
