"""The shortest there is: nothing but an end symbol, one symbol, or not even an end."""

import torch

from heedful.data.batch import Batch
from heedful.decoding.search import decode
from heedful.laws.base import LawBroken, Pair, Subject, law, same
from heedful.presets.base import Decode


@law
def the_shortest_are_no_exception(subject: Subject) -> None:
    """A source and a target of 0 or 1 symbols have a loss, the same alone and beside longer ones,
    and such a source has an output."""
    longer = subject.pairs(1, seed=14)
    for length in (0, 1):
        pairs = subject.pairs(2, seed=15, longest=length, shortest=length)
        alone = subject.batch(pairs)
        real = alone.targets.at.real
        found = subject.model.logits(alone)[real]
        beside = subject.model.logits(subject.batch([*pairs, *longer]))[: len(pairs)]
        same(beside[:, : real.shape[1]][real], found, f"{length} symbols beside more, and alone")
        _is_finite(subject, alone, f"{length} symbols")
        if not all(decode(subject.model, Batch({"inputs": alone.inputs}), Decode(beam=2))):
            raise LawBroken(f"a source of {length} symbols has no output")


@law
def a_row_of_padding_is_nothing(subject: Subject) -> None:
    """A row without a token says nothing, and the others are as they are without it."""
    pairs = subject.pairs(2, seed=16)
    plain, more = subject.batch(pairs), subject.batch([*pairs, Pair((), ())])
    same(
        subject.model.loss(more).sum,
        subject.model.loss(plain).sum,
        "loss with a row of padding, and without",
        1e-8,
    )
    _is_finite(subject, more, "a row of padding")


def _is_finite(subject: Subject, batch: Batch, what: str) -> None:
    """Raise unless the loss and all its gradients are numbers."""
    loss = subject.model.loss(batch).sum
    weights = [p for p in subject.model.parameters() if p.requires_grad]
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    if not all(bool(x.isfinite().all()) for x in (loss.detach(), *found) if x is not None):
        raise LawBroken(f"{what}: the loss or its gradient is no number")
