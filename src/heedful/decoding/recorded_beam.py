"""Beam search on a GPU with whole turns recorded: a step of the model and all that is made of it.

The search is that of beam.py, turn by turn. Several turns are replayed before anybody looks whether
rows are done: a row that is done stays as it is. B rows, K growing hypotheses a row, T room.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.decoding.beam import BeamState, Finished, begin, choice, gone, hypotheses, turn
from heedful.decoding.choosing import Chooser, standing, trusted
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable, Hypothesis
from heedful.decoding.recorded import Playing, Recorded, Take, by_halves
from heedful.decoding.scores import no_number
from heedful.nn.slate import pour
from heedful.presets.base import Decode

TURNS = 4  # between two looks
ROOM = 32  # for tokens is a whole number of these
NONE = -1  # the turn of a row that the model never failed


def beam_search(
    recorded: Recorded, batch: Batch, limits: Sequence[int], prefix: Prefix, config: Decode
) -> list[list[Hypothesis]]:
    """As `beam.beam_search`: up to `config.nbest` hypotheses a row, best first."""
    room = max(limits) + TURNS
    state = begin(batch, limits, prefix, config, room + -room % ROOM)
    rows = list(range(len(limits)))  # which row of the batch each row of the state is
    left: list[tuple[list[int], Finished]] = []
    memory = recorded.start(batch)
    while True:
        growing = state.tokens.shape[1] < config.beam or not (recorded.steady and memory.is_regular)
        if growing or int(state.step) < prefix.longest:
            state, done, failed = _plain(recorded, memory, state, config)
        else:
            state, done, failed = _replayed(recorded, memory, state, config)
        done_now, failed_now = torch.stack([done.long(), failed]).tolist()
        for row, step in zip(rows, failed_now, strict=True):
            if step != NONE:
                raise no_number(row, step)
        kept = [] if all(done_now) else by_halves([bool(is_done) for is_done in done_now])
        if kept is None:
            continue
        left.append(gone(state, rows, kept))
        if not kept:
            return hypotheses(left, len(limits))
        rows = [rows[place] for place in kept]
        places = torch.tensor(kept, device=state.limits.device)
        state = state.select(places)
        memory.select_sources(places)
        memory.reorder(_rows(places, torch.arange(state.tokens.shape[1], device=places.device)))


def _plain(
    model: Decodable, memory: Playing, state: BeamState, config: Decode
) -> tuple[BeamState, Tensor, Tensor]:
    """One turn that is not recorded, since its shapes differ from the next one's, or its tokens are
    forced: the state, which rows are done, and at which step the model failed each."""
    before, step = state.tokens.shape[1], int(state.step)
    state, parents, done, bad = turn(model, memory, state, config)
    places = torch.arange(len(parents), device=parents.device)
    memory.reorder(_rows(places, parents, before))
    return state, done, torch.where(bad, step, NONE)


def _replayed(
    recorded: Recorded, memory: Playing, state: BeamState, config: Decode
) -> tuple[BeamState, Tensor, Tensor]:
    """So many turns, replayed; as `_plain`. The state is overwritten by the next."""
    shape = memory.shape(TURNS)
    key = (shape, state.growing.ids.shape[2], config)
    tape = recorded.tape(key, lambda: Turns(recorded, memory, state, config))
    if memory.held is not tape.slate:
        memory.move(tape.slate)
        tape.load(state)
    for _ in range(TURNS):
        tape.take()
    memory.length += TURNS
    memory.order = tape.order
    after = replace(tape.state, step=int(state.step) + TURNS)
    return after, tape.done, tape.failed


class Turns:
    """A turn over a slate and a state that stay where they are, of one shape."""

    def __init__(
        self, recorded: Recorded, memory: Playing, state: BeamState, config: Decode
    ) -> None:
        shape, device = memory.shape(TURNS), state.limits.device
        self.recorded, self.model, self.config = recorded, recorded.model, config
        self.slate = recorded.slate(memory.held, shape)
        self.state = standing(state)
        self.places = torch.arange(shape.sources, device=device)
        self.order = torch.arange(shape.rows, device=device)  # that rows are yet to be put in
        self.done = torch.zeros(shape.sources, dtype=torch.bool, device=device)
        self.failed = torch.full((shape.sources,), NONE, device=device)
        self.choose = Chooser(self.state, self.order, self.done, self.failed, config)
        self.take = Take(self.turn, device, recorded.pool)

    def load(self, state: BeamState) -> None:
        """Go on from this state; the slate is loaded already."""
        step = torch.tensor([int(state.step)], device=self.order.device)
        pour(replace(state, step=step), self.state)
        self.order.copy_(torch.arange(len(self.order), device=self.order.device))
        self.failed.fill_(NONE)

    def turn(self) -> None:
        before = self.state.step
        self.slate.reorder(self.order)
        logits = self.model.step(self.state.tokens.reshape(-1, 1), self.slate)[:, -1]
        self.slate.advance()
        if self.recorded.kernels and trusted(logits, self.config):
            self.choose(logits)
            return
        state, parents, done, bad = choice(logits, self.state, self.config)
        self.failed.copy_(torch.where(bad & (self.failed == NONE), before, self.failed))
        self.done.copy_(done)
        self.order.copy_(_rows(self.places, parents, self.config.beam))
        pour(state, self.state)


def _rows(places: Tensor, beams: Tensor, width: int | None = None) -> Tensor:
    """The rows of a memory, `width` for each place, that belong to these beams [B, K] of it."""
    return (places[:, None] * (width or beams.shape[-1]) + beams).flatten()
