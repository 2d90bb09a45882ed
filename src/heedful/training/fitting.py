"""Steps that fit in memory: a batch that does not is taken in halves, and the run goes on.

What is learnt is the same, since a step's gradient is a sum over its rows; only dropout is drawn
anew. The size that did not fit is remembered, and later batches of it are halved beforehand.
"""

import gc
from collections.abc import Callable

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.errors import HeedfulError
from heedful.training.step import Outcome, TrainStep

SHOWN = 12  # examples that are named


class Fitting:
    """Takes a model's steps, and says so when a batch had to be halved."""

    def __init__(self, step: TrainStep, note: Callable[[str], None]) -> None:
        self.step, self.note = step, note
        self.too_much: int | None = None  # slots of the smallest batch that did not fit
        self.told = False  # that steps cannot be recorded

    def __call__(self, number: int, parts: list[Batch]) -> Outcome:
        while True:
            pieces = [self.pieces(part) for part in parts]
            failed = None
            try:
                losses = self.step.collect(number, [piece for part in pieces for piece in part])
                break
            except (RuntimeError, MemoryError) as error:
                if not about_memory(error):
                    raise
                failed = str(error).strip().splitlines()[0]
            # Only out here is the memory of the failed try free again: the error held on to it.
            self.give_way(number, pieces, failed)
        recorder = self.step.recorder
        if recorder is not None and recorder.unable and not self.told:
            self.told = True
            self.note(f"steps cannot be recorded and stay plain: {recorder.unable}")
        together = [part.sum() for part in torch.stack(losses).split([len(p) for p in pieces])]
        return self.step.finish(number, together)

    def pieces(self, part: Batch) -> list[Batch]:
        """The part, in halves of halves until each is smaller than what did not fit."""
        if self.too_much is None or slots(part) < self.too_much or height(part) == 1:
            return [part]
        return [piece for half in halves(part) for piece in self.pieces(half)]

    def give_way(self, number: int, pieces: list[list[Batch]], reason: str) -> None:
        """Make the next try smaller, or say which example cannot be made smaller."""
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self.step.forget()
        largest = max((piece for part in pieces for piece in part), key=slots)
        names = ", ".join(map(str, largest.examples[:SHOWN]))
        names += ", …" if len(largest.examples) > SHOWN else ""
        if height(largest) == 1:
            raise HeedfulError(
                f"step {number}: a single row of {slots(largest)} tokens does not fit in memory "
                f"({reason}); training examples {names}. Lower batch.longest (or batch.row), or "
                "take a smaller model"
            )
        self.too_much = slots(largest)
        self.note(
            f"step {number}: a batch of {self.too_much} tokens a side does not fit in memory; it "
            f"and others of its size are taken in halves (training examples {names}). A lower "
            "batch.tokens with more training.parts does the same without trying"
        )


def about_memory(error: Exception) -> bool:
    """Whether an error says that there was not enough memory."""
    said = str(error).lower()
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        "out of memory" in said or "allocate memory" in said
    )


def slots(batch: Batch) -> int:
    """Tokens of the larger side, padding counted."""
    return max(rows.ids.numel() for rows in batch.sides.values())


def height(batch: Batch) -> int:
    return len(next(iter(batch.features.values())).ids)


def halves(batch: Batch) -> list[Batch]:
    """The upper and the lower rows; which of the examples are in which is not known."""
    rows: Tensor = torch.arange(height(batch))
    return [
        Batch({name: r.select(some) for name, r in batch.features.items()}, batch.examples)
        for some in rows.chunk(2)
    ]
