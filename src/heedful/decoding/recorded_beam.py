"""Beam search on a GPU with whole turns recorded: a step of the model and all that is made of it.

The search is that of beam.py, turn by turn. Several turns are replayed before anybody looks whether
rows are done: a row that is done stays as it is. All that comes before them, from the source to the
first token, is recorded too once a search of its shape has gone by. B rows, K growing hypotheses a
row, T room.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from heedful.data.batch import Batch, Rows
from heedful.decoding.beam import BeamState, begin, choice, turn
from heedful.decoding.choosing import Chooser, standing, trusted
from heedful.decoding.finished import Found
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Hypothesis
from heedful.decoding.recorded import Playing, Recorded, Take, by_quarters, padding
from heedful.decoding.scores import no_number
from heedful.nn.layout import Layout
from heedful.nn.memory import Memory
from heedful.nn.stacks import pour
from heedful.presets.base import Decode

TURNS = 4  # between two looks
ROOM = 64  # for tokens is a whole number of these
NONE = -1  # the turn of a row that the model never failed

Told = tuple[BeamState, Tensor, Tensor]  # the state, which rows are done, when it failed each


def beam_search(
    recorded: Recorded, batch: Batch, limits: Sequence[int], prefix: Prefix, config: Decode
) -> list[list[Hypothesis]]:
    """As `beam.beam_search`: up to `config.nbest` hypotheses a row, best first."""
    room = max(limits) + TURNS
    room += -room % ROOM
    rows = list(range(len(limits)))  # which row of the batch each row of the state is
    found = Found()
    key = None if prefix.longest else _shape(recorded, batch, room, config)
    opening = _opening(recorded, key)
    if opening is None:
        memory, state = recorded.start(batch), begin(batch, limits, prefix, config, room)
        state, done, failed = _plain(recorded, memory, state, config)
    else:
        memory, (state, done, failed) = opening(batch, limits)
    while True:
        done_now, failed_now = torch.stack([done.long(), failed]).tolist()
        if max(failed_now) != NONE:
            place = next(place for place, step in enumerate(failed_now) if step != NONE)
            raise no_number(rows[place], failed_now[place])
        kept = [] if all(done_now) else by_quarters(done_now)
        places = None  # those of the rows that stay
        if kept is not None:
            found.add(state.finished, rows, kept)
            if not kept:
                return found.hypotheses(len(limits))
            rows = [rows[place] for place in kept]
            places = torch.tensor(kept, device=state.limits.device)
            memory.select_sources(places)
            memory.reorder(_rows(places, torch.arange(state.tokens.shape[1], device=places.device)))
        growing = state.tokens.shape[1] < config.beam or not (recorded.steady and memory.is_regular)
        if growing or int(state.step) < prefix.longest:
            state = state if places is None else state.select(places)
            state, done, failed = _plain(recorded, memory, state, config)
            continue
        tape = _tape(recorded, memory, state, places, config)
        if key is not None and opening is None and state.step == 1 and places is None:
            tape.openings[key] = Opening(recorded, tape, batch, room)
        state, done, failed = tape.play(memory, state, places)


def _plain(recorded: Recorded, memory: Playing, state: BeamState, config: Decode) -> Told:
    """One turn by itself, since its shapes differ from the next one's, or its tokens are forced."""
    before, step = state.tokens.shape[1], state.step
    state, parents, done, bad = turn(recorded, memory, state, config)
    if before > 1 or parents.shape[1] > 1:
        places = torch.arange(len(parents), device=parents.device)
        memory.reorder(_rows(places, parents, before))
    return state, done, torch.where(bad, step, NONE)


def _tape(
    recorded: Recorded, memory: Playing, state: BeamState, places: Tensor | None, config: Decode
) -> "Turns":
    """The one for the next turns, of the rows of the state at these places; None is for all."""

    def make() -> Turns:
        rows = state if places is None else state.select(places)
        return Turns(recorded, memory, rows, config)

    return recorded.tape((memory.shape(TURNS), state.growing.ids.shape[2], config), make)


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
        self.order = torch.arange(shape.rows, device=device)  # where each row comes from
        self.done = torch.zeros(shape.sources, dtype=torch.bool, device=device)
        self.failed = torch.full((shape.sources,), NONE, device=device)
        self.choose = Chooser(self.state, self.order, self.done, self.failed, config)
        self.take = Take(self.turn, device, recorded.pool)
        self.openings: dict[Hashable, Opening] = {}

    def play(self, memory: Playing, state: BeamState, places: Tensor | None) -> Told:
        """So many turns, from where a search is, of the rows at these places; None is for all. What
        is told is overwritten by the next."""
        if memory.held is not self.slate:
            self.load(memory, state, places)
        for _ in range(TURNS):
            self.take()
        memory.length += TURNS
        return self.told(int(state.step) + TURNS)

    def load(self, memory: Playing, state: BeamState, places: Tensor | None = None) -> None:
        """Go on from where a search is."""
        memory.move(self.slate)
        pour(replace(state, step=0), replace(self.state, step=0), places)
        assert isinstance(self.state.step, Tensor)
        if isinstance(state.step, Tensor):
            self.state.step.copy_(state.step)
        else:
            self.state.step.fill_(state.step)
        self.failed.fill_(NONE)

    def told(self, step: int) -> Told:
        """How things stand after so many tokens."""
        return replace(self.state, step=step), self.done, self.failed

    def turn(self) -> None:
        self.slate.forget()
        logits = self.model.step(self.state.tokens.reshape(-1, 1), self.slate)[:, -1]
        if self.recorded.kernels and trusted(logits, self.config):
            self.choose(logits)
        else:
            before = self.state.step
            state, parents, done, bad = choice(logits, self.state, self.config)
            self.failed.copy_(torch.where(bad & (self.failed == NONE), before, self.failed))
            self.done.copy_(done)
            self.order.copy_(_rows(self.places, parents, self.config.beam))
            pour(state, self.state)
        self.slate.advance(self.order if self.config.beam > 1 else None)


class Opening:
    """All that comes before the turns of a tape: the source is read, one hypothesis a row grows to
    as many as there are to be, and the tape is loaded. Of one shape, and nothing forced."""

    def __init__(self, recorded: Recorded, tape: Turns, batch: Batch, room: int) -> None:
        self.recorded, self.tape, self.room = recorded, tape, room
        device, rows = tape.order.device, len(tape.done)
        self.prefix = Prefix.of(None, rows, device)
        self.limits, self.step = torch.zeros_like(tape.state.limits), tape.order.new_zeros(1)
        self.fillings = {name: padding(rows).filled for name, rows in batch.features.items()}
        self.features = {  # ids, positions and segments of each
            name: rows.ids.new_zeros(3, len(rows.ids), padding(rows).length)
            for name, rows in batch.features.items()
        }
        self.examples = batch.examples
        self.length = 0  # tokens on the slate when it is done
        self.take = Take(self.work, device, recorded.pool)

    def __call__(self, batch: Batch, limits: Sequence[int]) -> tuple[Playing, Told]:
        """What a search of this batch remembers and knows after its first turn."""
        for name, rows in batch.features.items():
            here, length = self.features[name], rows.ids.shape[1]
            here[..., :length].copy_(torch.stack([rows.ids, rows.at.positions, rows.at.segments]))
            here[..., length:].zero_()
        self.limits.copy_(torch.tensor(limits))
        self.examples = batch.examples
        self.take()
        memory = self.playing(self.tape.slate)
        memory.rows, memory.length = len(self.tape.order), self.length
        return memory, self.tape.told(1)

    def playing(self, held: Memory) -> Playing:
        """A memory for as many rows and as much source as there are here."""
        _, rows, source = next(iter(self.features.values())).shape
        return Playing(held, rows, source)

    def work(self) -> None:
        features = {  # layouts of their own each time: they remember masks
            name: Rows(ids, Layout(positions, segments, filled=self.fillings[name]))
            for name, (ids, positions, segments) in self.features.items()
        }
        batch = Batch(features, self.examples)
        config, tape = self.tape.config, self.tape
        memory = self.playing(self.recorded.model.start(batch))
        state = replace(begin(batch, self.limits, self.prefix, config, self.room), step=self.step)
        state, done, failed = _plain(self.recorded, memory, state, config)
        memory.shape(TURNS)
        tape.load(memory, state)
        self.length = memory.length
        tape.done.copy_(done)
        tape.failed.copy_(failed)


def _shape(recorded: Recorded, batch: Batch, room: int, config: Decode) -> Hashable | None:
    """What searches have in common that one opening serves; None where there is none for it."""
    if "start" in getattr(recorded.model, "__dict__", {}):
        return None  # it is lent, by somebody who listens to each search
    features = []
    for name, rows in batch.features.items():
        if type(rows) is not Rows or rows.ids.dtype != torch.long:
            return None
        features.append((name, len(rows.ids), *padding(rows)))
    return tuple(features), room, config


def _opening(recorded: Recorded, key: Hashable | None) -> "Opening | None":
    """The one of this key, if it is there."""
    tapes = (tape for tape in recorded.tapes.values() if isinstance(tape, Turns))
    return next((tape.openings[key] for tape in tapes if key in tape.openings), None)


def _rows(places: Tensor, beams: Tensor, width: int | None = None) -> Tensor:
    """The rows of a memory, `width` for each place, that belong to these beams [B, K] of it."""
    return (places[:, None] * (width or beams.shape[-1]) + beams).flatten()
