"""GNMT: who looks, what residuals carry, and what depends on what."""

import pytest
import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.laws.base import LAWS, Subject
from heedful.nn.watching import watch


def seen(subject: Subject) -> Tensor:
    batch = subject.batch(subject.pairs(3))
    with torch.no_grad(), watch(subject.model) as found:
        subject.model.hidden(batch)
    return found.weights[0][1]


def disturbed(subject: Subject, part: torch.nn.Module) -> Tensor:
    with torch.no_grad():
        for weight in part.parameters():
            weight.add_(torch.randn_like(weight))
    return seen(subject)


@pytest.mark.parametrize("context", ["previous", "current"])
def test_where_it_looks_depends_on_the_bottom_layer_alone(context: str) -> None:
    subject = Subject("gnmt_tiny", {"model.context": context})
    before = seen(subject)
    assert torch.equal(before, disturbed(subject, subject.model.body.upper))
    assert not torch.equal(before, disturbed(subject, subject.model.body.bottom.layers))


def test_layers_that_say_nothing_pass_on_what_the_second_said() -> None:
    subject = Subject("gnmt_tiny")
    body = subject.model.body
    batch = subject.batch(subject.pairs(3))
    with torch.no_grad():
        for layer in [*body.upper[1:], *body.encoder.layers[2:]]:
            for weight in layer.parameters():
                weight.zero_()
        for parts in body.bridge.made[2:]:
            for weight in parts.parameters():
                weight.zero_()
    whole = subject.model.hidden(batch)
    source = subject.model.encode(batch.inputs).x
    del body.upper[1:], body.encoder.layers[2:], body.bridge.made[2:]
    assert torch.equal(subject.model.encode(batch.inputs).x, source)
    assert torch.equal(subject.model.hidden(batch), whole)


def test_the_layers_above_read_what_was_seen_before_or_after() -> None:
    """With one step there is only one context before it, and another after."""
    previous, current = (
        Subject("gnmt_tiny", {"model.context": context}) for context in ("previous", "current")
    )
    current.model.load_state_dict(previous.model.state_dict())
    batch = previous.batch(previous.pairs(3))
    one, other = (s.model.hidden(batch) for s in (previous, current))
    assert (one - other).abs().max() > 1e-6


@pytest.mark.parametrize(
    "settings",
    [{"model.context": "current"}, {"model.bridge": "none"}, {"model.residual_from": 0}],
    ids=str,
)
def test_its_dialects_keep_the_laws_of_exactness(settings: dict) -> None:
    subject = Subject("gnmt_tiny", settings)
    for law in ("pieces_equal_the_whole", "packing_changes_nothing", "memory_follows_its_rows"):
        LAWS[law](subject)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(UsageError, match="Use 3 or more, or 0"):
        Subject("gnmt_tiny", {"model.residual_from": 2})
    with pytest.raises(UsageError, match="2 layers or more"):
        Subject("gnmt_tiny", {"model.layers": 1})
