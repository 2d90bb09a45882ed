"""Many hands: several processes that decode a file on a CPU, with a share of the cores each.

A step of decoding is many short operations, of which more threads make few any shorter. So two
processes with a core each decode more together than one with both. Each takes a block of lines at a
time; what comes back is in the order of the lines.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from heedful.decoding.decoded import Candidate, Decoded
from heedful.decoding.job import Job
from heedful.errors import HeedfulError, UsageError

BLOCK = 1024  # lines that a process is given at a time, at most


class Hands:
    """So many processes, until `close`."""

    def __init__(self, job: Job, count: int, warn: Callable[[str], None]) -> None:
        threads = max(1, cores() // count)
        asked = {"job": asdict(job), "threads": threads}
        self._hands: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(count):
                self._hands.append(_start(threads))
                _ask(self._hands[-1], asked)
            answers = [_hear(hand) for hand in self._hands]
        except BaseException:
            self.close()
            raise
        for text in answers[0]["warnings"]:  # the others have the same
            warn(text)

    def decode_stream(
        self, lines: Iterable[str], *, prefix: str = "", seed: int = 0
    ) -> Iterator[Decoded]:
        """As a translator's, for any number of lines: a few blocks of them are held at a time."""
        blocks = _blocks(iter(lines), len(self._hands))
        busy: deque[subprocess.Popen[bytes]] = deque()

        def give(hand: subprocess.Popen[bytes]) -> None:
            for first, texts in islice(blocks, 1):
                prefixes = [prefix] * len(texts)
                _ask(hand, {"texts": texts, "prefixes": prefixes, "seed": seed, "first": first})
                busy.append(hand)

        for hand in self._hands:
            give(hand)
        while busy:  # who was asked first answers first
            hand = busy.popleft()
            found = _hear(hand)["decoded"]
            give(hand)
            yield from map(_decoded, found)

    def close(self) -> None:
        """End them all."""
        for hand in self._hands:
            hand.kill()
            hand.wait()
            for pipe in (hand.stdin, hand.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):  # what it did not read
                        pipe.close()


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _blocks(lines: Iterator[str], count: int) -> Iterator[tuple[int, list[str]]]:
    """The lines in blocks, each with the number of its first; few lines are shared out evenly."""
    first = 0
    while window := list(islice(lines, count * BLOCK)):
        size = -(-len(window) // count)
        for begin in range(0, len(window), size):
            yield first + begin, window[begin : begin + size]
        first += len(window)


def _start(threads: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "heedful.decoding.hand"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "OMP_NUM_THREADS": str(threads),
        },
        start_new_session=True,  # ctrl-C is this process's to answer
    )


def _ask(hand: "subprocess.Popen[bytes]", asked: dict[str, Any]) -> None:
    assert hand.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has died: listening will say so
        hand.stdin.write(json.dumps(asked).encode() + b"\n")
        hand.stdin.flush()


def _hear(hand: "subprocess.Popen[bytes]") -> dict[str, Any]:
    assert hand.stdout is not None
    line = hand.stdout.readline()
    if not line.endswith(b"\n"):
        code = hand.wait()
        fate = f"signal {-code}" if code < 0 else f"exit status {code}"
        raise HeedfulError(
            f"a process that decodes died ({fate}). Is memory short? Use fewer --processes, or set "
            "decode.batch_tokens lower"
        )
    said: dict[str, Any] = json.loads(line)
    if "error" in said:
        raise (UsageError if said["usage"] else HeedfulError)(said["error"])
    return said


def _decoded(said: dict[str, Any]) -> Decoded:
    candidates = [
        Candidate(
            **{**one, "pieces": tuple(one["pieces"]), "token_scores": tuple(one["token_scores"])}
        )
        for one in said["hypotheses"]
    ]
    return Decoded(**{**said, "hypotheses": tuple(candidates)})
