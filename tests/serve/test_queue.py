"""The queue of a model: who is decoded together, who gets which answer, and what frees a place."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from heedful.errors import UsageError
from heedful.serve.limits import Limits
from heedful.serve.loading import Served
from heedful.serve.metrics import Metrics
from heedful.serve.queue import Broken, Closed, Desk, Full, Manner

from .conftest import finished

Open = Callable[..., Desk]


@pytest.fixture
def open_desk(served: list[Served]) -> Iterator[Open]:
    """`open_desk(waiting=3)`: a desk of the model that learnt its sentences."""
    opened: list[Desk] = []

    def make(**limits: float) -> Desk:
        desk = Desk("late", served[0].translator, Limits(**limits), Metrics())  # type: ignore[arg-type]
        opened.append(desk)
        return desk

    yield make
    for desk in opened:
        desk.close()


@asynccontextmanager
async def busy(desk: Desk) -> AsyncIterator[threading.Event]:
    """While open, or until the event is set, the desk has its hands full."""
    begun, over = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        over.wait(30)

    task = asyncio.create_task(desk.do(work))
    await begun.wait()
    try:
        yield over
    finally:
        over.set()
        with suppress(TimeoutError):
            await task


@contextmanager
def slowed(model: Any, seconds: float = 0.02) -> Iterator[None]:
    """While open, every step of the model takes so much longer."""
    step = model.step

    def slow(ids: Any, memory: Any) -> Any:
        time.sleep(seconds)
        return step(ids, memory)

    model.step = slow
    try:
        yield
    finally:
        del model.step


def usual(desk: Desk, **changes: float) -> Manner:
    return Manner(replace(desk.translator.config, **changes))  # type: ignore[arg-type]


def batches(desk: Desk) -> list[str]:
    """What the metrics say of batch sizes: their sum, and how many there were."""
    return [line for line in desk.metrics.batches.lines() if "_count" in line or "_sum" in line]


async def gathered(desk: Desk, asked: list[tuple[str, Manner]]) -> list[str]:
    """All of it handed in while the desk is busy, so that all of it waits together."""
    async with busy(desk):
        tasks = [asyncio.create_task(desk.translate([text], how)) for text, how in asked]
        await asyncio.sleep(0.05)
        assert desk.waiting == len(asked)
    return [(await task)[0].text for task in tasks]


def test_what_waits_is_decoded_together_and_each_gets_its_own(open_desk: Open, pairs) -> None:
    desk, alike = open_desk(), pairs[:10]
    asked = [(english, usual(desk)) for english, _ in alike]
    assert finished(gathered(desk, asked)) == [french for _, french in alike]
    assert batches(desk) == [
        'heedful_batch_texts_sum{model="late"} 10',
        'heedful_batch_texts_count{model="late"} 1',
    ]


def test_other_settings_are_another_batch(open_desk: Open, pairs) -> None:
    desk, alike = open_desk(), pairs[:10]
    asked = [(english, usual(desk, beam=1 + n % 2)) for n, (english, _) in enumerate(alike)]
    assert finished(gathered(desk, asked)) == [french for _, french in alike]
    assert desk.metrics.batches.count("late") == 2


def test_another_number_of_outputs_is_not(open_desk: Open, pairs, offline) -> None:
    desk = open_desk()

    async def ask() -> list[int]:
        async with busy(desk):
            tasks = [
                asyncio.create_task(desk.translate([pairs[n][0]], usual(desk, beam=4, nbest=n)))
                for n in (1, 3, 2)
            ]
            await asyncio.sleep(0.05)
        found = [(await task)[0] for task in tasks]
        for n, one in zip((1, 3, 2), found, strict=True):
            config = replace(offline.config, beam=4, nbest=n)
            expected = offline.decode([pairs[n][0]], config)[0].hypotheses
            assert [h.text for h in one.hypotheses] == [h.text for h in expected]
        return [len(one.hypotheses) for one in found]

    assert finished(ask()) == [1, 3, 2]
    assert desk.metrics.batches.count("late") == 1


def test_a_long_text_does_not_keep_short_ones_waiting(open_desk: Open, pairs) -> None:
    desk = open_desk()
    short, long = pairs[0][0], " ".join(english for english, _ in pairs[:8])
    asked = [(text, usual(desk)) for text in (short, long, short)]
    finished(gathered(desk, asked))
    assert desk.metrics.batches.count("late") == 2
    assert batches(desk)[0].endswith(" 3")


def test_a_batch_keeps_to_the_token_budget_and_to_the_limit(open_desk: Open, pairs) -> None:
    desk = open_desk(batch=5)
    finished(gathered(desk, [(english, usual(desk)) for english, _ in pairs[:10]]))
    assert desk.metrics.batches.count("late") == 2
    desk = open_desk()
    tight = usual(desk, beam=4, batch_tokens=1)
    finished(gathered(desk, [(english, tight) for english, _ in pairs[:3]]))
    assert desk.metrics.batches.count("late") == 3


def test_a_full_queue_says_so_and_when_to_come_again(open_desk: Open, pairs) -> None:
    desk = open_desk(waiting=2)

    async def ask() -> None:
        async with busy(desk):
            first = asyncio.create_task(desk.translate([pairs[0][0]] * 2, usual(desk)))
            await asyncio.sleep(0)
            with pytest.raises(Full) as full:
                await desk.translate([pairs[1][0]], usual(desk))
            assert full.value.seconds >= 1
        assert [one.text for one in await first] == [pairs[0][1]] * 2

    finished(ask())


def test_who_leaves_frees_the_place(open_desk: Open, pairs) -> None:
    desk = open_desk(waiting=1)

    async def ask() -> str:
        async with busy(desk):
            first = asyncio.create_task(desk.translate([pairs[0][0]], usual(desk)))
            await asyncio.sleep(0.02)
            first.cancel()
            await asyncio.sleep(0.02)
            assert desk.waiting == 0
            second = asyncio.create_task(desk.translate([pairs[1][0]], usual(desk)))
            await asyncio.sleep(0.02)
        return (await second)[0].text

    assert finished(ask()) == pairs[1][1]
    assert batches(desk)[0].endswith(" 1")


def test_a_batch_that_nobody_waits_for_is_given_up(open_desk: Open, pairs) -> None:
    desk = open_desk()
    steps = []

    async def ask() -> None:
        said = asyncio.Event()

        def hear(partial: str) -> None:
            steps.append(partial)
            said.set()

        task = asyncio.create_task(desk.translate([pairs[0][0]], usual(desk), hear))
        await said.wait()
        task.cancel()
        found = await desk.translate([pairs[1][0]], usual(desk))
        assert found[0].text == pairs[1][1]

    with slowed(desk.translator.model):
        finished(ask())
    assert 1 <= len(steps) <= 3


def test_past_its_deadline_a_request_is_over(open_desk: Open, pairs) -> None:
    desk = open_desk(seconds=0.1)

    async def ask() -> None:
        async with busy(desk):
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                await desk.translate([pairs[0][0]], usual(desk))
            assert time.monotonic() - began < 5
            assert desk.waiting == 0

    finished(ask())
    assert desk.metrics.batches.count("late") == 0


def test_what_was_accepted_is_finished_and_nothing_more_is_taken(open_desk: Open, pairs) -> None:
    desk = open_desk()

    async def ask() -> list[str]:
        async with busy(desk) as over:
            tasks = [asyncio.create_task(desk.translate([e], usual(desk))) for e, _ in pairs[:4]]
            await asyncio.sleep(0.02)
            closing = asyncio.get_running_loop().run_in_executor(None, desk.close)
            await asyncio.sleep(0.05)
            with pytest.raises(Closed):
                await desk.translate([pairs[0][0]], usual(desk))
            over.set()
        found = [(await task)[0].text for task in tasks]
        await closing
        return found

    assert finished(ask()) == [french for _, french in pairs[:4]]


def test_what_breaks_breaks_alone(open_desk: Open, pairs) -> None:
    desk = open_desk()

    def breaks() -> None:
        raise ZeroDivisionError("no")

    def refuses() -> None:
        raise UsageError("not so")

    async def ask() -> str:
        with pytest.raises(Broken, match="ZeroDivisionError: no"):
            await desk.do(breaks)
        with pytest.raises(UsageError, match="not so"):
            await desk.do(refuses)
        return (await desk.translate([pairs[0][0]], usual(desk)))[0].text

    assert finished(ask()) == pairs[0][1]
    assert desk.metrics.errors.value("decoding") == 1


@pytest.mark.parametrize("beam", [1, 4])
def test_a_listener_hears_the_output_grow(open_desk: Open, pairs, beam: int) -> None:
    desk = open_desk()
    heard: dict[int, list[str]] = {n: [] for n in range(6)}

    async def ask() -> list[str]:
        async with busy(desk):
            tasks = [
                asyncio.create_task(
                    desk.translate([pairs[n][0]], usual(desk, beam=beam), heard[n].append)
                )
                for n in heard
            ]
            await asyncio.sleep(0.02)
        return [(await task)[0].text for task in tasks]

    found = finished(ask())
    assert desk.metrics.batches.count("late") == 1
    for n, text in enumerate(found):
        assert text == pairs[n][1]
        assert len(heard[n]) > 3 and heard[n][0] != text
        assert all(text.startswith(partial) for partial in heard[n][-3:])
        assert text.startswith(heard[n][1][:2])
