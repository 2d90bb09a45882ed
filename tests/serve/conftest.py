"""A run that learnt some sentences by heart, and servers of it that really listen."""

import asyncio
import random
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
import torch
from fastapi import FastAPI

from heedful.cli.main import run as run_command
from heedful.decoding.translator import Translator
from heedful.models.building import build
from heedful.registry import presets, problems
from heedful.runs.loading import load_model
from heedful.serve.app import make_app
from heedful.serve.limits import Limits
from heedful.serve.loading import Served
from heedful.serve.server import Listener, bind, url
from heedful.serve.service import Service
from heedful.text.base import Tokenizer

Found = TypeVar("Found")

SCRIPT = "<script>document.title='owned'</script>"
LEARNT = {
    "problem.text.size": 300,
    "loss.amount": 0.0,
    "model.dim": 32,
    "model.ff": 64,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 256,
    "schedule.peak": 0.02,
    "schedule.warmup": 20,
    "schedule.steps": 250,
    "training.evaluate_every": 0,
    "training.evaluate_examples": 1,
    "training.average": 0,
    "training.checkpoint_every": 50,
    "decode.longest_input": 200,
    "decode.extra_length": 40,
}


@dataclass
class Running:
    """A server that listens."""

    url: str
    app: FastAPI
    listener: Listener
    thread: threading.Thread
    said: list[str] = field(default_factory=list)

    @property
    def service(self) -> Service:
        found: Service = self.app.state.service
        return found

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=body, timeout=60, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(self.url + path, timeout=60, **options)

    def translate(self, *texts: str, **how: Any) -> list[dict[str, Any]]:
        answer = self.post("/translate", {"text": texts, **how})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["translations"]
        return found

    def stop(self) -> None:
        self.listener.should_exit = True
        self.thread.join(60)
        assert not self.thread.is_alive()


def finished(work: Coroutine[Any, Any, Found]) -> Found:
    """What a coroutine gives, in a thread of its own: a browser's loop may be in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


Serving = Callable[..., AbstractContextManager[Running]]


@contextmanager
def running(
    served: list[Served], limits: Limits | None = None, port: int = 0, **options: Any
) -> Iterator[Running]:
    """A server in a thread of this process, on a port of its own."""
    limits = limits or Limits()
    ready, said = threading.Event(), list[str]()
    app = make_app(served, limits, warn=said.append, **options)
    listening = bind("127.0.0.1", port)
    listener = Listener(app, limits, ready.set)
    thread = threading.Thread(target=lambda: asyncio.run(listener.serve([listening])))
    thread.start()
    assert ready.wait(30)
    server = Running(url(listening), app, listener, thread, said)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def corpus() -> list[tuple[str, str]]:
    """Sentences of the demo with their translations, the longest first, and at the end one whose
    translation is HTML."""
    problem = problems.get("translate_demo_en_fr")()
    made = islice(problem.examples("train", random.Random(1)), 15)
    found = [(str(p["inputs"]), str(p["targets"])) for p in made]
    return sorted(found, key=lambda pair: -len(pair[0])) + [("Say it.", SCRIPT)]


@pytest.fixture(scope="session")
def learnt(corpus: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learnt them: `step-50` does not know them yet, `step-250` does."""
    folder = tmp_path_factory.mktemp("serve")
    for place, name in enumerate(("en", "fr")):
        text = "".join(f"{pair[place]}\n" for pair in corpus)
        (folder / name).write_text(text, encoding="utf-8")
    sides = [str(folder / name) for name in ("en", "fr", "en", "fr", "en", "fr")]
    options = ("source", "target", "valid-source", "valid-target", "test-source", "test-target")
    given = [p for o, side in zip(options, sides, strict=True) for p in (f"--{o}", side)]
    sets = [part for name, value in LEARNT.items() for part in ("--set", f"{name}={value}")]
    out = folder / "learnt"
    arguments = ["train", *given, "--preset", "transformer_demo", "--out", str(out)]
    assert run_command([*arguments, "--steps", "250", *sets]) == 0
    return out


def load(run: Path, name: str, checkpoint: str) -> Served:
    loaded = load_model(run, checkpoint)
    translator = Translator(loaded.model, loaded.tokenizers, loaded.config.preset.decode)
    return Served(name, translator, loaded.checkpoint["name"], loaded.checkpoint["sha256"])


def untrained(name: str, preset: str, tokenizers: dict[str, Tokenizer]) -> Served:
    """A model with its first weights, for these vocabularies."""
    made = presets.get(preset)()
    torch.manual_seed(3)
    model = build(made.model, tokenizers, shared=False, loss=made.loss).eval()
    return Served(name, Translator(model, tokenizers, made.decode), "step-0", "0" * 64)


@pytest.fixture(scope="session")
def served(learnt: Path) -> list[Served]:
    """Two models of one run: what it was at the end, and what it was before it had learnt."""
    return [load(learnt, "late", "step-250"), load(learnt, "early", "step-50")]


@pytest.fixture(scope="session")
def offline(learnt: Path) -> Translator:
    """The first of them once more, for nobody but the test."""
    return load(learnt, "offline", "step-250").translator


@pytest.fixture(scope="session")
def pairs(corpus: list[tuple[str, str]], offline: Translator) -> list[tuple[str, str]]:
    """The sentences, and what the offline decoder makes of each."""
    texts = [english for english, _ in corpus]
    found = list(zip(texts, offline.translate(texts), strict=True))
    assert found[-1] == corpus[-1] and found[0] == corpus[0]
    return found


@pytest.fixture(scope="session")
def server(served: list[Served]) -> Iterator[Running]:
    """A server that all tests share which leave it as it is."""
    with running(served) as found:
        yield found


@pytest.fixture
def serving(served: list[Served]) -> Serving:
    """`with serving(limits, token=…) as server`: one of the test's own."""
    return lambda limits=None, **options: running(served, limits, **options)
