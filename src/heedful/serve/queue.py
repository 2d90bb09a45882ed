"""The queue of one model: texts of many clients wait together and are decoded together.

One thread works for one model. It takes the text that has waited longest, and with it those that
are to be decoded in the same way and are about as long, as many as the decode token budget has
room for. So nobody waits for ever, and little is padding. Whatever else is done with the model
(looking at its attention) is done by the same thread, in turn.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torch import Tensor

from heedful.decoding.decoded import Decoded
from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import Model
from heedful.presets.base import Decode
from heedful.serve.limits import Limits
from heedful.serve.metrics import Metrics
from heedful.serve.overhearing import overhearing

LINGER = 0.004  # seconds to wait for company, where there was some in the batch before
ALIKE = 32  # tokens; texts up to this length are all alike
FURTHEST = 3  # how many times as long a text may be as another in its batch, if longer than that


class Full(Exception):
    """There is no room in the queue; `seconds` says when there may be."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Closed(Exception):
    """The server is on its way out and takes nothing more."""


class Broken(Exception):
    """The work failed in a way that nobody foresaw."""


class _Abandoned(Exception):
    """Nobody waits for this batch any more."""


@dataclass(frozen=True)
class Manner:
    """How a text is to be decoded."""

    decode: Decode
    to: str | None = None

    def joins(self, other: "Manner") -> bool:
        """Whether both can be decoded together. A search for the n best finds the same ones first
        for any n, so only what is drawn at random must be wanted in the same number."""
        mine = self.decode if self.decode.sample else replace(self.decode, nbest=other.decode.nbest)
        return self.to == other.to and mine == other.decode


@dataclass(eq=False)
class Ticket:
    """A place in the queue: one text, or one other thing to do with the model."""

    until: float  # time.monotonic() after which nobody wants the answer
    answer: "asyncio.Future[Any]"
    text: str = ""
    manner: Manner | None = None
    hear: Callable[[str], None] | None = None  # given the best output so far, in the event loop
    work: Callable[[], Any] | None = None  # in place of a text
    length: int = 0  # tokens
    gone: bool = False  # whether whoever asked has left

    def wanted(self, now: float) -> bool:
        return not self.gone and now < self.until


class Desk:
    """Where texts for one model are handed in. Open from the beginning until `close`."""

    def __init__(self, name: str, translator: Translator, limits: Limits, metrics: Metrics) -> None:
        if not isinstance(translator.model, Model):
            raise UsageError(f"cannot serve a {type(translator.model).__name__}: only a Model")
        self.name, self.translator, self.limits, self.metrics = name, translator, limits, metrics
        self._model = translator.model
        self._waiting: deque[Ticket] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._working = 0  # tickets in hand
        self._last = 0  # texts in the batch before
        self._pace = 0.1  # seconds a text, of late
        self._thread = threading.Thread(target=self._run, name=f"decode {name}", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def working(self) -> int:
        return self._working

    async def translate(
        self,
        texts: Sequence[str],
        manner: Manner,
        hear: Callable[[str], None] | None = None,
    ) -> list[Decoded]:
        """What became of each text, or a TimeoutError. Left by its caller, it frees its places."""
        return await self._wait(
            [self._ticket(text=text, manner=manner, hear=hear) for text in texts]
        )

    async def do(self, work: Callable[[], Any]) -> Any:
        """What `work` gives, when it is its turn to have the model for itself."""
        (found,) = await self._wait([self._ticket(work=work)])
        return found

    def close(self) -> None:
        """Take nothing more, finish what was accepted, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _ticket(self, **fields: Any) -> Ticket:
        until = time.monotonic() + self.limits.seconds
        return Ticket(until, asyncio.get_running_loop().create_future(), **fields)

    async def _wait(self, tickets: list[Ticket]) -> list[Any]:
        self._enter(tickets)
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await asyncio.gather(*(ticket.answer for ticket in tickets))
        finally:
            self._leave(tickets)

    def _enter(self, tickets: list[Ticket]) -> None:
        with self._changed:
            if self._closed:
                raise Closed
            if len(self._waiting) + len(tickets) > self.limits.waiting:
                raise Full(self._retry_after())
            self._waiting.extend(tickets)
            self._changed.notify()

    def _leave(self, tickets: list[Ticket]) -> None:
        left = {
            ticket for ticket in tickets if not ticket.answer.done() or ticket.answer.cancelled()
        }
        for ticket in left:
            ticket.gone = True
        if left:
            with self._changed:
                self._waiting = deque(t for t in self._waiting if t not in left)

    def _retry_after(self) -> int:
        """Seconds until those who wait are served, as far as one can tell."""
        return max(1, min(60, round(self._pace * len(self._waiting))))

    def _run(self) -> None:
        while group := self._take():
            began = time.monotonic()
            try:
                found = self._work(group)
            except _Abandoned:
                found = [TimeoutError()] * len(group)
            except HeedfulError as error:
                found = [error] * len(group)
            except Exception as error:
                self.metrics.errors.add("decoding")
                found = [Broken(f"{type(error).__name__}: {error}")] * len(group)
            spent = time.monotonic() - began
            if group[0].work is None:
                self.metrics.batches.observe(len(group), self.name)
                self.metrics.decoding.observe(spent, self.name)
                self._last = len(group)
                self._pace = 0.8 * self._pace + 0.2 * spent / len(group)
            _hand_out(group, found)
            self._working = 0

    def _take(self) -> list[Ticket]:
        """Who is served next; none when the desk is closed and the queue empty."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return []
                if not self._closed:
                    self._changed.wait_for(lambda: len(self._waiting) >= self._last, LINGER)
                new = [ticket for ticket in self._waiting if not ticket.length]
            for ticket in new:
                ticket.length = self._measure(ticket)
            with self._changed:
                now = time.monotonic()
                late = [ticket for ticket in self._waiting if not ticket.wanted(now)]
                here = [t for t in self._waiting if t.wanted(now) and t.length]
                group = _together(here, self.limits.batch)
                gone = {*late, *group}
                self._waiting = deque(ticket for ticket in self._waiting if ticket not in gone)
                self._working = len(group)
            _hand_out(late, [TimeoutError()] * len(late))
            if group:
                return group

    def _measure(self, ticket: Ticket) -> int:
        """How many tokens a text has, the end symbol counted."""
        tokenizers = self.translator.tokenizers
        try:
            return 1 + len(tokenizers.get("inputs", tokenizers["targets"]).encode(ticket.text))
        except Exception:
            return 1  # what is wrong with it is said when it is decoded

    def _work(self, group: list[Ticket]) -> list[Any]:
        first = group[0]
        if first.work is not None:
            return [first.work()]
        assert first.manner is not None
        most = max(ticket.manner.decode.nbest for ticket in group if ticket.manner is not None)
        config = replace(first.manner.decode, nbest=most)
        with overhearing(self._model, lambda lines, said: self._heard(group, lines, said)):
            texts = [ticket.text for ticket in group]
            found = self.translator.decode(texts, config, to=first.manner.to)
        written = sum(len(h.pieces) for decoded in found for h in decoded.hypotheses[:1])
        self.metrics.tokens.add(self.name, "read", by=sum(ticket.length for ticket in group))
        self.metrics.tokens.add(self.name, "written", by=written)
        return [_cut(decoded, ticket) for decoded, ticket in zip(found, group, strict=True)]

    def _heard(self, group: list[Ticket], lines: Tensor, said: Tensor) -> None:
        """Once a step: stop if nobody waits, and tell those who listen what is said so far."""
        now = time.monotonic()
        if not any(ticket.wanted(now) for ticket in group):
            raise _Abandoned
        if all(ticket.hear is None for ticket in group):
            return
        rows = lines.tolist()
        for place, ticket in enumerate(group):
            if ticket.hear is not None and place in rows and said.shape[1] > 1:
                ids = said[rows.index(place)].tolist()
                text = self.translator.tokenizers["targets"].decode(ids).rstrip("\ufffd")
                _tell(ticket, partial(ticket.hear, text))


def _cut(decoded: Decoded, ticket: Ticket) -> Decoded:
    """No more of the best than were asked for."""
    assert ticket.manner is not None
    return replace(decoded, hypotheses=decoded.hypotheses[: ticket.manner.decode.nbest])


def _together(waiting: Sequence[Ticket], most: int) -> list[Ticket]:
    """The one that came first, and those that can be decoded with it under its token budget."""
    if not waiting or waiting[0].work is not None:
        return list(waiting[:1])
    first = waiting[0]
    assert first.manner is not None
    width = first.manner.decode.nbest if first.manner.decode.sample else first.manner.decode.beam
    group, longest = [first], first.length
    for ticket in waiting[1:]:
        if len(group) == most:
            break
        if not _alike(first, ticket):
            continue
        longest = max(longest, ticket.length)
        if (len(group) + 1) * width * longest > first.manner.decode.batch_tokens:
            break
        group.append(ticket)
    return group


def _alike(first: Ticket, other: Ticket) -> bool:
    """Whether two texts can share a batch: the same manner, and lengths not too far apart."""
    if first.manner is None or other.manner is None or not first.manner.joins(other.manner):
        return False
    short, long = sorted((first.length, other.length))
    return long <= max(ALIKE, FURTHEST * short)


def _hand_out(tickets: Sequence[Ticket], found: Sequence[Any]) -> None:
    """Give each its answer, where the event loop is; all those of one loop at once."""
    if not tickets:
        return

    def give() -> None:
        for ticket, answer in zip(tickets, found, strict=True):
            if ticket.answer.done():
                continue
            if isinstance(answer, Exception):
                ticket.answer.set_exception(answer)
            else:
                ticket.answer.set_result(answer)

    _tell(tickets[0], give)


def _tell(ticket: Ticket, something: Callable[[], None]) -> None:
    """Have something done in the event loop, unless it is closed and nobody is left to be told."""
    with suppress(RuntimeError):
        ticket.answer.get_loop().call_soon_threadsafe(something)
