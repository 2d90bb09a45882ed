"""Listening: uvicorn with an end to everything a client may keep waiting for."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import torch
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from heedful.errors import HeedfulError
from heedful.serve.limits import Limits


class Listener(uvicorn.Server):
    """A server that says when it is ready, and stops without noise.

    Asked to stop, it takes no more connections, finishes what it accepted, and ends.
    """

    def __init__(self, app: FastAPI, limits: Limits, ready: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            http=hasty(limits.patience),
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            limit_concurrency=limits.connections,
            timeout_keep_alive=int(limits.patience) or 1,
            timeout_graceful_shutdown=int(limits.seconds + 2 * limits.patience) + 1,
        )
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 for any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise HeedfulError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}. "
            "Choose another --port or --host"
        ) from error
    return listening


def use_threads(count: int | None) -> None:
    """Let so many threads compute; without a number, one is left for the clients.

    More threads than free cores wait for each other at every step of a small model.
    """
    free = len(os.sched_getaffinity(0)) - 1
    torch.set_num_threads(count or max(1, free))


def url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(
    app: FastAPI, limits: Limits, listening: socket.socket, ready: Callable[[], None]
) -> None:
    """Serve until a signal says to stop."""
    with _stopped_by_sigterm():
        Listener(app, limits, ready).run([listening])


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """uvicorn repeats the signal that stopped it; SIGTERM, once obeyed, is no failure."""
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def hasty(patience: float) -> type[H11Protocol]:
    """A connection that is closed if a request's head does not come within `patience` seconds."""

    class Hasty(H11Protocol):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.hurry: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._rest()

        def _watch(self) -> None:
            """Whether a head is being waited for: then it has so long, counted from its begin."""
            if self.conn.their_state is not h11.IDLE:
                self._rest()
            elif self.hurry is None:
                self.hurry = self.loop.call_later(patience, self.transport.close)

        def _rest(self) -> None:
            if self.hurry is not None:
                self.hurry.cancel()
                self.hurry = None

    return Hasty
