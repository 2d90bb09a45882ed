"""Every registered family keeps every law; and a model that breaks one is caught."""

import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest
from torch import nn

from heedful.laws import LAWS, LawBroken, Subject, check, enrolled
from heedful.nn import products
from heedful.nn.alignment import Alignment
from heedful.nn.between import Between
from heedful.nn.layout import line
from heedful.nn.patterns import Causal, Full, Visible
from heedful.nn.products import has_onednn
from heedful.nn.summaries import Attend

TRACING = "traced_equals_eager"
SHARES = 4  # processes that hold all families to the law of tracing


@cache
def subject(name: str) -> Subject:
    return Subject(name)


@pytest.mark.parametrize("name", enrolled())
@pytest.mark.parametrize("law", [law for law in LAWS if law != TRACING])
def test_law(law: str, name: str) -> None:
    LAWS[law](subject(name))


def trace(subjects: list[tuple]) -> None:
    """Hold subjects to the law of tracing, in a process that checks no shapes: what checks them
    cannot be traced. A process takes seconds to begin, so several share one; the last that it
    speaks of broke the law."""
    code = (
        "from heedful.laws import LAWS, Subject\n"
        f"for subject in {subjects!r}:\n"
        "    print(subject, flush=True)\n"
        f"    LAWS[{TRACING!r}](Subject(*subject))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.parametrize("first", range(SHARES))
def test_law_of_tracing(first: int) -> None:
    trace([(name,) for name in enrolled()[first::SHARES]])


@pytest.mark.skipif(not has_onednn(), reason="this PyTorch has no way to oneDNN")
@pytest.mark.parametrize("name", enrolled())
def test_a_run_by_onednn_is_resumed_as_if_it_had_not_stopped(name: str, monkeypatch) -> None:
    monkeypatch.setattr(products, "held_back", lambda: True)
    monkeypatch.setattr(products, "LARGE", 1)
    LAWS["resumed_equals_uninterrupted"](subject(name))


# Slots that make no family of their own are held to the laws too. Memory-compressed attention alone
# does not hear the tokens of a group that is not whole yet; and which tokens look into a cluster of
# an adaptive softmax is only known from the tokens, so that no one graph holds it.
SLOTS = [
    ("transformer_tiny", {"model.attention.pool": "strided:3"}, {"all_of_the_past_is_heard"}),
    ("transformer_lm_tiny", {"model.attention.pool": "strided:2"}, {"all_of_the_past_is_heard"}),
    ("transformer_lm_tiny", {"model.attention.pool": "areas:3"}, set()),
    (
        "transformer_tiny",
        {"model.attention.bias": "bucket", "model.attention.turn": "rotary"},
        set(),
    ),
    ("transformer_encoder_tiny", {"model.attention.bias": "skew:8"}, set()),
    ("transformer_lm_tiny", {"model.attention.bias": "shaw:4"}, set()),
    (
        "transformer_lm_tiny",
        {"loss": "adaptive", "loss.cutoffs": (4, 8)},
        {TRACING},
    ),
]


@pytest.mark.parametrize(("name", "settings", "excused"), SLOTS, ids=str)
def test_laws_hold_with_other_slots(name, settings, excused) -> None:
    subject = Subject(name, settings)
    for law in LAWS.keys() - {TRACING} - excused:
        LAWS[law](subject)


def test_law_of_tracing_with_other_slots() -> None:
    trace([(name, settings) for name, settings, excused in SLOTS if TRACING not in excused])


def test_the_transformers_are_enrolled() -> None:
    assert {"transformer_tiny", "transformer_encoder_tiny", "transformer_lm_tiny"} <= set(
        enrolled()
    )


class Broken:
    """A tiny Transformer with one thing wrong, to see the laws notice."""

    def __init__(self, breaks) -> None:
        self.subject = Subject("transformer_tiny")
        breaks(self.subject.model)


def peek_ahead(model) -> None:
    for layer in model.body.decoder.layers:
        layer.attention.pattern = Visible()


def ignore_segments(model) -> None:
    for stack in (model.body.encoder, model.body.decoder):
        for layer in stack.layers:
            layer.attention.pattern = Causal() if stack is model.body.decoder else Full()


def forget_positions(model) -> None:
    """Positions restart at every step, as when a cache forgets how far it is."""
    positions = model.body.decoder.positions
    forward = positions.forward
    positions.forward = lambda at: forward(line(at.positions.shape[1], batch=len(at.positions)))


def take_the_mean(model) -> None:
    """What is read is divided by how many tokens there are, of which there may be none."""
    encode = model.body.encode

    def divided(x, at):
        encoded = encode(x, at)
        return replace(encoded, x=encoded.x / at.real.sum(1)[:, None, None])

    model.body.encode = divided


class Asking(nn.Module):
    """A part that asks a layer of its own how wide that is."""

    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.part = part
        self.name = next(n for n, p in part.named_modules() if isinstance(p, nn.Linear))

    def forward(self, *given, **named):
        assert self.part.get_submodule(self.name).out_features
        return self.part(*given, **named)


def ask_a_layer(model) -> None:
    layer = model.body.decoder.layers[0]
    layer.feed_forward = Asking(layer.feed_forward)


@pytest.mark.parametrize(
    ("breaks", "law"),
    [
        (ask_a_layer, "layers_are_used_by_calling_them"),
        (ignore_segments, "the_shortest_are_no_exception"),
        (take_the_mean, "a_row_of_padding_is_nothing"),
        (peek_ahead, "the_future_does_not_leak"),
        (peek_ahead, "all_of_the_past_is_heard"),
        (ignore_segments, "packing_changes_nothing"),
        (ignore_segments, "a_batch_equals_its_rows"),
        (ignore_segments, "padding_changes_nothing"),
        (forget_positions, "pieces_equal_the_whole"),
    ],
)
def test_a_model_that_breaks_a_law_is_caught(breaks, law) -> None:
    with pytest.raises(LawBroken):
        LAWS[law](Broken(breaks).subject)


class Unseen(nn.Module):
    """Attention that nobody finds."""

    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.hidden = (part,)

    def forward(self, *given, **named):
        return self.hidden[0](*given, **named)


@pytest.mark.parametrize("kernel", ["dense", "fused"])
def test_attention_that_nobody_finds_is_noticed(kernel: str) -> None:
    one = Subject("transformer_tiny", {"model.attention.kernel": kernel})
    LAWS["every_look_is_seen"](one)
    layer = one.model.body.encoder.layers[0]
    layer.attention = Unseen(layer.attention)
    with pytest.raises(LawBroken, match="a softmax over 41 tokens, and whoever watches"):
        LAWS["every_look_is_seen"](one)


@pytest.mark.parametrize(
    ("name", "settings", "part"),
    [
        ("text_classifier_tiny", {}, Attend),
        ("pair_classifier_tiny", {"model.summary": "max"}, Between),
        ("gnmt_tiny", {"model.context": "current"}, Alignment),
    ],
)
def test_a_look_that_is_not_told_is_noticed(name, settings, part, monkeypatch) -> None:
    one = Subject(name, settings)
    LAWS["every_look_is_seen"](one)
    monkeypatch.setattr(part, "noted", lambda *_: None)
    with pytest.raises(LawBroken, match="whoever watches is told of 0"):
        LAWS["every_look_is_seen"](one)


def test_check_holds_a_preset_to_every_law(monkeypatch) -> None:
    held = []
    monkeypatch.setattr("heedful.laws.base.LAWS", {"one": held.append, "two": held.append})
    check("transformer_tiny")
    assert [subject.name for subject in held] == ["transformer_tiny"] * 2
