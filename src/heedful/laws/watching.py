"""Nobody looks unseen: whoever watches a model is told of every softmax over its tokens.

A softmax that is written out by hand, as exponentials and a sum, is not noticed.
"""

from collections import Counter
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from heedful.data.batch import Batch, pad
from heedful.laws.base import LawBroken, Subject, law
from heedful.models.base import Tagger
from heedful.nn.watching import Glance, watch

READ, SAID = 41, 43  # lengths that no other part of a small model has


@law
def every_look_is_seen(subject: Subject) -> None:
    """As many queries are told of as go through a softmax over as many keys, by what the processor
    is asked to do and not by what a part says of itself."""
    pairs = subject.pairs(2, seed=21)
    read = max(READ, *(len(pair.inputs) for pair in pairs))
    said = read if isinstance(subject.model, Tagger) else SAID
    batch = Batch(
        {
            "inputs": pad([pair.inputs for pair in pairs], read),
            "targets": pad([pair.targets for pair in pairs], said),
        }
    )
    with _Softmaxes() as softmaxes:
        subject.model.hidden(batch)
    told: Counter[int] = Counter()

    def note(glance: Glance) -> None:
        told[glance.weights.shape[-1]] += glance.weights[..., 0].numel()

    with watch(subject.model, tell=note):
        subject.model.hidden(batch)
    for keys in (read, said, read + said):
        if told[keys] < softmaxes.queries[keys]:
            raise LawBroken(
                f"{softmaxes.queries[keys]} queries go through a softmax over {keys} tokens, and "
                f"whoever watches is told of {told[keys]}. A part that looks is an Attention, or "
                "a Telling that says what it sees (heedful.nn.telling)"
            )


class _Softmaxes(TorchDispatchMode):
    """While open, counts the queries of every softmax by the number of its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: Counter[int] = Counter()

    def __torch_dispatch__(
        self, operation: Any, types: Any, given: tuple[Any, ...] = (), named: Any = None
    ) -> Any:
        name = str(operation)
        if "scaled_dot_product" in name and "backward" not in name:
            query, key = given[0], given[1]
            self.queries[key.shape[-2]] += query[..., 0].numel()
        elif name.startswith(("aten._softmax.", "aten._safe_softmax.", "aten.softmax.")):
            scores: Tensor = given[0]
            keys = scores.shape[given[1]]
            self.queries[keys] += scores.numel() // max(1, keys)
        return operation(*given, **(named or {}))
