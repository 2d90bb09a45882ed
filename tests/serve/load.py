"""Many clients at once: every answer compared with the offline decoder, and how fast it went.

As a script, with a trained run, it starts `heedful serve` in a process of its own:

    python tests/serve/load.py runs/demo --clients 64 --requests 20000
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from heedful.decoding.decoded import Decoded
from heedful.decoding.translator import Translator
from heedful.registry import problems

MANNERS: tuple[dict[str, Any], ...] = ({}, {}, {}, {"beam": 1}, {"beam": 4, "nbest": 2})
NEAR = 1e-3  # how far two scores of one output may lie apart: rounding differs with the batch


@dataclass(frozen=True)
class Question:
    """A request, and what the offline decoder says to it."""

    body: bytes
    answer: list[dict[str, Any]]


@dataclass
class Report:
    """What came of many requests."""

    seconds: float = 0.0
    answered: int = 0
    wrong: list[str] = field(default_factory=list)
    ties: int = 0  # another output with the same score: the batch decided
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.answered / self.seconds


def sentences(count: int, seed: int = 1) -> list[str]:
    """Texts of one to sixty words: sentences of the demo, some of them several together."""
    rng = random.Random(seed)
    made = problems.get("translate_demo_en_fr")().examples("test", rng)
    singles = [str(pair["inputs"]) for pair in islice(made, count)]
    return [" ".join(rng.choices(singles, k=rng.choice((1, 1, 1, 1, 1, 2, 4)))) for _ in singles]


def questions(
    translator: Translator, texts: Sequence[str], count: int, seed: int = 1
) -> list[Question]:
    """Requests of one to four texts, in several manners, with their answers."""
    rng = random.Random(seed)
    found: dict[tuple[str, int], Decoded] = {}
    for number in (0, 3, 4):
        config = replace(translator.config, **MANNERS[number])
        for text, decoded in zip(texts, translator.decode(texts, config), strict=True):
            found[text, number] = decoded
    made = []
    for _ in range(count):
        number = rng.randrange(len(MANNERS))
        chosen = rng.choices(texts, k=rng.choice((1, 1, 1, 1, 2, 4)))
        body = json.dumps({"text": chosen, **MANNERS[number]}).encode()
        answer = [told(found[text, max(number, 2) if number > 2 else 0]) for text in chosen]
        made.append(Question(body, answer))
    return made


def told(decoded: Decoded) -> dict[str, Any]:
    return {"text": decoded.text, "score": decoded.score}


async def attack(
    address: tuple[str, int], asked: Sequence[Question], clients: int, token: str = ""
) -> Report:
    """Let so many clients ask all this, each as fast as it is answered."""
    report, coming = Report(), iter(asked)
    began = time.monotonic()
    await asyncio.gather(*(_client(address, coming, report, token) for _ in range(clients)))
    report.seconds = time.monotonic() - began
    return report


async def _client(
    address: tuple[str, int], coming: Iterator[Question], report: Report, token: str
) -> None:
    reader, writer = await asyncio.open_connection(*address)
    for question in coming:
        began = time.monotonic()
        writer.write(
            b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
            % (token.encode(), len(question.body), question.body)
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        report.latencies.append(time.monotonic() - began)
        report.answered += 1
        if not head.startswith(b"HTTP/1.1 200 "):
            report.wrong.append(f"{head.splitlines()[0]!r} {body!r}")
            continue
        _compare(question, json.loads(body)["translations"], report)
    writer.close()
    await writer.wait_closed()


def _compare(question: Question, got: list[dict[str, Any]], report: Report) -> None:
    if len(got) != len(question.answer):
        report.wrong.append(f"{len(got)} answers to {len(question.answer)} texts")
    for mine, expected in zip(got, question.answer, strict=False):
        near = abs(mine["score"] - expected["score"]) < NEAR
        if mine["text"] == expected["text"] and near:
            continue
        if near:
            report.ties += 1
        else:
            report.wrong.append(f"{mine} is not {expected}")


@contextmanager
def server(run: Path, *options: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """`heedful serve` in a process of its own: its process id and its address."""
    command = [sys.executable, "-m", "heedful", "serve", str(run), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        host, _, port = said.strip().rpartition("http://")[2].rpartition(":")
        yield process.pid, (host, int(port))
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def batch_sizes(address: tuple[str, int]) -> tuple[float, float]:
    """How many texts were decoded, and in how many batches, as the server counts them."""
    found = httpx.get(f"http://{address[0]}:{address[1]}/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in found.splitlines() if line.startswith("heedful_"))
    counts = [lines[name] for name in lines if name.startswith("heedful_batch_texts_")]
    return float(counts[-2]), float(counts[-1])


def memory(pid: int) -> float:
    """Resident megabytes of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measured(pid: int, address: tuple[str, int], asked: list[Question], clients: int) -> Any:
    """The report, and the memory of the server at every eighth of the way."""
    sizes, report = [memory(pid)], Report()
    part = max(1, len(asked) // 8)
    for first in range(0, len(asked), part):
        some = await attack(address, asked[first : first + part], clients)
        report.seconds += some.seconds
        report.answered += some.answered
        report.ties += some.ties
        report.wrong += some.wrong
        report.latencies += some.latencies
        sizes.append(memory(pid))
    return report, sizes


def main() -> int:
    import heedful

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--texts", type=int, default=1_500)
    parser.add_argument("--alone", type=int, default=500, help="Requests served one by one.")
    given = parser.parse_args()
    asked = questions(heedful.load(given.run, device="cpu"), sentences(given.texts), given.requests)
    print(f"{len(asked)} requests of {given.clients} clients, {os.cpu_count()} cores", flush=True)
    wrong: Counter[str] = Counter()
    rates, costs = [], []
    few = asked[: given.alone]
    for name, some, options in (
        ("one by one", few, ["--max-batch", "1"]),
        ("together", asked, []),
        ("one by one again", few, ["--max-batch", "1"]),
    ):
        with server(given.run, "--max-waiting", "1024", *options) as (pid, address):
            used = processor(pid)
            report, sizes = asyncio.run(measured(pid, address, some, given.clients))
            used = (processor(pid) - used) / report.answered
            texts, batches = batch_sizes(address)
        times = sorted(report.latencies)
        rates.append(report.rate)
        costs.append(used)
        wrong.update(report.wrong)
        print(
            f"{name}: {report.answered} requests in {report.seconds:.1f} s, {report.rate:.1f}/s, "
            f"median {times[len(times) // 2]:.3f} s, p99 {times[len(times) * 99 // 100]:.3f} s, "
            f"{texts / batches:.1f} texts a batch, {1000 * used:.1f} ms of processor a request, "
            f"{len(report.wrong)} wrong, {report.ties} ties, "
            f"memory {' '.join(f'{size:.0f}' for size in sizes)} MB, "
            f"load average {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    alone, cost = (rates[0] + rates[2]) / 2, (costs[0] + costs[2]) / 2
    print(
        f"together is {rates[1] / alone:.1f} times as fast as one by one, "
        f"and takes 1/{cost / costs[1]:.1f} of the processor time"
    )
    for reason, count in wrong.most_common(5):
        print(f"{count} x {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
