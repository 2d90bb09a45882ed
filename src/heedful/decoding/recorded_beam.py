"""Beam search on a GPU with whole turns recorded: a step of the model and all that is made of it.

The search is that of beam.py, turn by turn. Several turns are replayed before anybody looks whether
rows are done: a row that is done stays as it is. The last of them goes on while what was seen just
before it is on its way, so that the GPU need not wait. All that comes before them, from the source
to the first token, is recorded too once a search of its shape has gone by, and so is what is copied
when rows leave. B rows, K growing hypotheses a row, T room.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from heedful.data.batch import Batch, Rows
from heedful.decoding.beam import BeamState, begin, choice, turn
from heedful.decoding.choosing import Chooser, standing, trusted
from heedful.decoding.finished import Found
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Hypothesis
from heedful.decoding.recorded import Playing, Recorded, Shape, Take, by_quarters, padding
from heedful.decoding.scores import no_number
from heedful.nn.layout import Layout
from heedful.nn.memory import Memory
from heedful.nn.stacks import pour
from heedful.presets.base import Decode

TURNS = 4  # between two looks
ROOM = 64  # for tokens is a whole number of these
NONE = -1  # the turn of a row that the model never failed


class Told(NamedTuple):
    """How a search stands after a turn."""

    state: BeamState
    done: Tensor  # [B] bool: the rows that are
    failed: Tensor  # [B] int64: the turn in which the model failed each, or NONE


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
        told = _plain(recorded, memory, state, config)
    else:
        memory, told = opening(batch, limits)
    look, tape = Look(told), None if opening is None else opening.tape
    while True:
        state = told.state
        done, failed = look.here()
        if max(failed) != NONE:
            place = next(place for place, step in enumerate(failed) if step != NONE)
            raise no_number(rows[place], failed[place])
        kept = [] if all(done) else by_quarters(done)
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
            told = _plain(recorded, memory, state, config)
            look = Look(told)
            continue
        before, tape = tape, _tape(recorded, memory, state, places, config)
        if key is not None and opening is None and state.step == 1 and places is None:
            tape.openings[key] = Opening(recorded, tape, batch, room)
        if before is not None and before is not tape and places is not None:
            _passage(recorded, before, tape)(memory, places)
        elif before is not tape:
            tape.load(memory, told, places)
        told, look = tape.play(memory, int(state.step))


class Look:
    """Which rows are done and when the model failed each, as it stands; on its way from the device,
    which goes on meanwhile."""

    def __init__(self, told: Told) -> None:
        self._told = torch.stack([told.done.long(), told.failed]).to("cpu", non_blocking=True)
        self._sent = torch.cuda.Event() if told.done.is_cuda else None
        if self._sent is not None:
            self._sent.record()

    def here(self) -> tuple[list[bool], list[int]]:
        """The two, once they are here."""
        if self._sent is not None:
            self._sent.synchronize()
        done, failed = self._told.tolist()
        return [row == 1 for row in done], failed


def _plain(recorded: Recorded, memory: Playing, state: BeamState, config: Decode) -> Told:
    """One turn by itself, since its shapes differ from the next one's, or its tokens are forced."""
    before, step = state.tokens.shape[1], state.step
    state, parents, done, bad = turn(recorded, memory, state, config)
    if before > 1 or parents.shape[1] > 1:
        places = torch.arange(len(parents), device=parents.device)
        memory.reorder(_rows(places, parents, before))
    return Told(state, done, torch.where(bad, step, NONE))


def _tape(
    recorded: Recorded, memory: Playing, state: BeamState, places: Tensor | None, config: Decode
) -> "Turns":
    """The one for the next turns, of the rows of the state at these places; None is for all."""

    def make() -> Turns:
        rows = state if places is None else state.select(places)
        return Turns(recorded, memory, rows, config)

    return recorded.tape(_key(memory.shape(TURNS), state, config), make)


def _key(shape: Shape, state: BeamState, config: Decode) -> Hashable:
    """What searches have in common whose turns one tape holds."""
    return shape, state.growing.ids.shape[2], config


def _passage(recorded: Recorded, here: "Turns", to: "Turns") -> "Passage":
    """The one from here to there."""
    ends = here.key, to.key
    if ends not in recorded.passages:
        recorded.passages[ends] = Passage(here, to)
    found: Passage = recorded.passages[ends]
    return found


class Turns:
    """A turn over a slate and a state that stay where they are, of one shape."""

    def __init__(
        self, recorded: Recorded, memory: Playing, state: BeamState, config: Decode
    ) -> None:
        shape, device = memory.shape(TURNS), state.limits.device
        self.key = _key(shape, state, config)
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

    def play(self, memory: Playing, step: int) -> tuple[Told, Look]:
        """So many turns, after so many tokens. What is told is overwritten by the next. The look is
        from before the last turn."""
        for _ in range(TURNS - 1):
            self.take()
        look = Look(self.told(0))
        self.take()
        memory.length += TURNS
        return self.told(step + TURNS), look

    def load(self, memory: Playing, told: Told, places: Tensor | None = None) -> None:
        """Go on from where a search is, with its rows at these places; None is for all."""
        memory.move(self.slate)
        pour((replace(told.state, step=0), *told[1:]), (*self.told(0),), places)
        step, mine = told.state.step, self.state.step
        assert isinstance(mine, Tensor)
        if isinstance(step, Tensor):
            mine.copy_(step)
        else:
            mine.fill_(step)

    def told(self, step: int) -> Told:
        """How things stand after so many tokens."""
        return Told(replace(self.state, step=step), self.done, self.failed)

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


class Passage:
    """Some rows of a tape go on on a smaller one: all that is copied for it."""

    def __init__(self, here: Turns, to: Turns) -> None:
        self.here, self.to = here, to
        self.places = torch.zeros_like(to.places)
        self.take = Take(self.work, to.places.device, to.recorded.pool)

    def __call__(self, memory: Playing, places: Tensor) -> None:
        """For a search that remembers this, and its rows at these places."""
        self.places.copy_(places)
        self.take()
        memory.moved(self.to.slate)

    def work(self) -> None:
        here, to = self.here, self.to
        beams = torch.arange(to.config.beam, device=self.places.device)
        # All that there is room for: how much of it is written is known on the device alone.
        to.slate.load(here.slate, here.slate.length, _rows(self.places, beams), self.places)
        to.slate.place.copy_(here.slate.place)
        pour((*here.told(0),), (*to.told(0),), self.places)
        assert isinstance(here.state.step, Tensor) and isinstance(to.state.step, Tensor)
        to.state.step.copy_(here.state.step)


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
        told = _plain(self.recorded, memory, state, config)
        memory.shape(TURNS)
        tape.load(memory, told)
        self.length = memory.length


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
