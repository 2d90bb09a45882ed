"""A translation told while it is decoded: one JSON object a line."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import HTTPException

from heedful.serve.answers import line, told, whole
from heedful.serve.queue import Desk, Manner
from heedful.serve.service import Service


async def lines(
    service: Service, desk: Desk, text: str, manner: Manner, several: bool
) -> AsyncIterator[bytes]:
    """What is said so far, whenever there is something new; then the translation."""
    said, news = "", asyncio.Event()

    def hear(partial: str) -> None:
        nonlocal said
        if partial != said:
            said = partial
            news.set()

    work = asyncio.ensure_future(desk.translate([text], manner, hear))
    work.add_done_callback(lambda _: news.set())
    begun = False
    try:
        with service.refusing():
            await asyncio.sleep(0)  # whether there is room in the queue is said at once
            if not work.done():
                begun = True
                yield line({"partial": ""})
            while not work.done():
                await news.wait()
                news.clear()
                if not work.done():
                    yield line({"partial": said})
            (found,) = whole(work.result())
        yield line({"translation": told(found, several)})
    except HTTPException as refusal:
        if not begun:
            raise
        yield line({"error": refusal.detail})
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def after(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines of which the first is known already."""
    try:
        yield first
        async for one in rest:
            yield one
    finally:
        await rest.aclose()  # type: ignore[attr-defined]
