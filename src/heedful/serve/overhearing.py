"""Hearing a search think: what its best hypothesis says so far, while it is still decoding.

A search moves its memory with its hypotheses, so what a listener keeps in that memory moves with
them: here, the tokens said so far and which line they belong to. Search and model do not notice.
R rows of all hypotheses, best first within a line; T tokens so far.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.models.base import Model
from heedful.nn.memory import Memory

# Given which line each row belongs to [R] and what it said so far [R, T], after every step.
Listen = Callable[[Tensor, Tensor], None]

ROOM = "overheard"


@contextmanager
def overhearing(model: Model, listen: Listen) -> Iterator[None]:
    """While open, `listen` is called before each step of the model; what it raises ends the search.

    A line is known by its number in `Batch.examples`. One search at a time: open it in the thread
    that decodes.
    """
    start, step = model.start, model.step
    lent = {name: part for name, part in vars(model).items() if name in ("start", "step")}

    def started(batch: Batch) -> Memory:
        memory = start(batch)
        place = next(iter(batch.features.values())).ids.device
        memory[ROOM].keep(torch.tensor(batch.examples, device=place))
        return memory

    def stepped(ids: Tensor, memory: Memory) -> Tensor:
        (said,) = memory[ROOM].extend(ids, dims=(1,))
        listen(memory[ROOM].recall(_nobody), said)
        return step(ids, memory)

    model.start, model.step = started, stepped  # type: ignore[method-assign]
    try:
        yield
    finally:
        del model.start, model.step  # what the class has is there again,
        vars(model).update(lent)  # or what somebody else had lent


def _nobody() -> Tensor:
    return torch.zeros(0, dtype=torch.long)
