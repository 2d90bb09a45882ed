"""A toy model to search over: what it says next depends on all it said before and on its source."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from heedful.data.batch import Batch, pad
from heedful.nn.memory import Memory
from heedful.text.specials import EOS, PAD, START

DIM = 16


@dataclass
class Toy:
    """A recurrent net with random weights; `ending` makes the end symbol likelier or less."""

    size: int = 5
    seed: int = 0
    ending: float = 0.0
    sharpness: float = 3.0
    dtype: torch.dtype = torch.float32
    rows_seen: list[int] = field(default_factory=list)  # how many rows each step had

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(self.seed)

        def random(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.double)

        self.again, self.words = random(DIM, DIM) / 2, random(max(self.size, 50), DIM)
        self.out = random(DIM, self.size) * self.sharpness / DIM**0.5

    def start(self, batch: Batch) -> Memory:
        memory = Memory()
        rows = next(iter(batch.features.values()))
        vectors = self.words[rows.ids] * rows.at.real[..., None]
        memory["source"].once(lambda: vectors.sum(1))
        return memory

    def step(self, ids: Tensor, memory: Memory) -> Tensor:
        source = memory["source"].once(lambda: None)
        assert len(ids) % len(source) == 0
        source = source.repeat_interleave(len(ids) // len(source), 0)
        self.rows_seen.append(len(ids))
        logits = []
        for column in ids.T:
            state = memory["state"].recall(lambda: torch.zeros(len(ids), DIM, dtype=torch.double))
            state = torch.tanh(state @ self.again + self.words[column] + 0.3 * source)
            memory["state"].keep(state)
            logits.append(state @ self.out)
        found = torch.stack(logits, 1)
        found[..., EOS] += self.ending
        return found.to(self.dtype)


def all_outputs(
    model: Toy, source: list[int], limit: int
) -> Iterator[tuple[tuple[int, ...], list[float]]]:
    """Every finished output of at most `limit` tokens, with its token scores: brute force."""

    def grow(prefix: tuple[int, ...], scores: list[float]) -> Iterator:
        memory = model.start(Batch({"inputs": pad([source])}))
        ids = torch.tensor([[START, *prefix]])
        following = model.step(ids, memory)[0, -1].double().log_softmax(-1).tolist()
        for token in range(model.size):
            if token == EOS:
                yield prefix, [*scores, following[token]]
            elif token != PAD and len(prefix) + 1 < limit:
                yield from grow((*prefix, token), [*scores, following[token]])

    yield from grow((), [])


@pytest.fixture(scope="session")
def toy() -> type[Toy]:
    return Toy


@pytest.fixture(scope="session")
def every_output() -> Callable[..., Iterator[tuple[tuple[int, ...], list[float]]]]:
    return all_outputs


@pytest.fixture
def sources() -> Batch:
    """Seven sources of different lengths."""
    generator = torch.Generator().manual_seed(3)
    lengths = (1, 6, 3, 2, 9, 4, 1)
    rows = [torch.randint(3, 40, (n,), generator=generator).tolist() for n in lengths]
    return Batch({"inputs": pad(rows)})
