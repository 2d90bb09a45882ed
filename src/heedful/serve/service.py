"""The models of a server, each with its desk, and how they are asked."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from fastapi import HTTPException

from heedful.errors import HeedfulError, nearest
from heedful.presets.base import Decode
from heedful.serve.asks import Decoding
from heedful.serve.limits import Limits
from heedful.serve.loading import Served
from heedful.serve.metrics import Gauge, Metrics
from heedful.serve.queue import Broken, Closed, Desk, Full, Manner


class Service:
    """The models of a server, each with its desk, and how they are asked."""

    def __init__(self, served: Sequence[Served], limits: Limits) -> None:
        self.limits, self.metrics = limits, Metrics()
        self.served = {one.name: one for one in served}
        self.desks = {
            one.name: Desk(one.name, one.translator, limits, self.metrics) for one in served
        }
        self.closing = False
        for name, help, read in (
            ("heedful_queue_texts", "Texts that wait.", lambda desk: desk.waiting),
            ("heedful_decoding_texts", "Texts that are being decoded.", lambda desk: desk.working),
        ):
            self.metrics.watch(Gauge(name, help, ("model",), self._of_each(read)))

    def _of_each(self, read: Callable[[Desk], int]) -> Callable[[], dict[tuple[str, ...], float]]:
        return lambda: {(name,): read(desk) for name, desk in self.desks.items()}

    def close(self) -> None:
        """Finish what was accepted, take nothing more."""
        self.closing = True
        for desk in self.desks.values():
            desk.close()

    def desk(self, name: str | None) -> Desk:
        """The desk of a model; of the first one where no name is given."""
        if name is None:
            return next(iter(self.desks.values()))
        if name not in self.desks:
            has = ", ".join(self.desks)
            close = nearest(name[:80], self.desks)
            raise HTTPException(404, f"no model named '{name[:80]}'.{close} It can be: {has}")
        return self.desks[name]

    def manner(self, desk: Desk, ask: Decoding) -> Manner:
        """How an ask is to be decoded, where it says so; else as the run says."""
        to = desk.translator.language(ask.to)
        changes = {
            name: value
            for name in ("beam", "alpha", "nbest")
            if (value := getattr(ask, name)) is not None
        }
        config: Decode = replace(desk.translator.config, **changes)
        return Manner(replace(config, beam=max(config.beam, config.nbest)), to)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """While open, what goes wrong becomes an answer that says so."""
        try:
            yield
        except Full as full:
            self.metrics.errors.add("full")
            raise HTTPException(
                503,
                f"{self.limits.waiting} texts wait already, which is the most: come again later",
                {"Retry-After": str(full.seconds)},
            ) from None
        except Closed:
            self.metrics.errors.add("closing")
            raise HTTPException(503, "the server is about to stop", {"Retry-After": "5"}) from None
        except TimeoutError:
            self.metrics.errors.add("late")
            raise HTTPException(
                504, f"the answer was not ready within {self.limits.seconds:g} seconds"
            ) from None
        except Broken:
            raise HTTPException(500, "decoding failed for a reason that nobody foresaw") from None
        except HeedfulError as error:
            raise HTTPException(422, str(error)) from None
