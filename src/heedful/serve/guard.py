"""What stands between the network and the server: who may ask, how much, and for how long."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from heedful.serve.limits import Limits
from heedful.serve.metrics import Metrics

Found = TypeVar("Found")

LOOPBACK = ("127.0.0.1", "localhost", "::1")
NOTHING = "default-src 'none'; frame-ancestors 'none'"  # what an answer in JSON may load
HEADERS = {
    "content-security-policy": NOTHING,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Guard:
    """Outermost but for the framework: headers on every answer, an end to every request, a count
    of each, and no traceback for anybody.

    `hosts` are the names that the server answers to, none for any: a page of another name that
    leads here (DNS rebinding) then gets nothing.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        paths: set[str],
        hosts: Sequence[str],
        warn: Callable[[str], None],
    ) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self.paths, self.hosts, self.warn = paths, frozenset(hosts), warn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            async with asyncio.timeout(self.limits.seconds + 2 * self.limits.patience):
                refused = self._refused(scope)
                await (refused or self.app)(scope, receive, sending)
        except ClientDisconnect:
            self.metrics.errors.add("gone")
        except TimeoutError:  # a client that does not read its answer
            self.metrics.errors.add("slow")
        except Exception as error:
            self.metrics.errors.add("bug")
            said = str(error).partition("\n")[0]
            self.warn(f"{scope['method']} {scope['path']!r}: {type(error).__name__}: {said}")
            if not status:
                answer = JSONResponse({"detail": "something went wrong in the server"}, 500)
                await answer(scope, receive, sending)
        finally:
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.requests.add(path, _method(scope), str(status))
            self.metrics.seconds.observe(time.monotonic() - began, path)

    def _refused(self, scope: Scope) -> JSONResponse | None:
        if not self.hosts:
            return None
        host = Headers(scope=scope).get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            name = None
        if name in self.hosts:
            return None
        known = ", ".join(sorted(self.hosts))
        return JSONResponse({"detail": f"this server is called {known}, not '{host[:80]}'"}, 421)


class Token:
    """The word that a client must know, compared in a time that tells nothing about it."""

    def __init__(self, token: str) -> None:
        self._digest = hashlib.sha256(token.encode()).digest()

    def check(self, given: str | None) -> None:
        """An error with status 401 unless it is this one."""
        digest = hashlib.sha256((given or "").encode("utf-8", "replace")).digest()
        if not hmac.compare_digest(digest, self._digest):
            raise HTTPException(
                401,
                "this server asks for a token: send the header 'Authorization: Bearer TOKEN'",
                {"WWW-Authenticate": "Bearer"},
            )


async def read_body(request: Request, limits: Limits) -> bytes:
    """The JSON body of a request, no longer than allowed and in no more time than allowed."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(
            415, "the body must be JSON, with the header 'Content-Type: application/json'"
        )
    too_large = HTTPException(
        413, f"the request has more than {limits.body:,} bytes, which is the most", _CLOSE
    )
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limits.body and "expect" in request.headers:
        raise too_large
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(limits.patience):
            async for part in request.stream():
                size += len(part)
                if size <= limits.body:
                    body += part
                elif size > 16 * limits.body:  # until then it is read, so that the answer is heard
                    raise too_large
    except TimeoutError:
        raise HTTPException(
            408, f"the request did not come within {limits.patience:g} seconds", _CLOSE
        ) from None
    if size > limits.body:
        raise too_large
    return bytes(body)


async def unless_gone(request: Request, work: Coroutine[Any, Any, Found]) -> Found:
    """What the work gives; it is cancelled if the client leaves before."""
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        leaving.cancel()
        task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "other"


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_CLOSE = {"Connection": "close"}
