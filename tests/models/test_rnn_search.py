"""RNN search: when it looks, what it feeds, and that whoever watches sees what was computed."""

import pytest
import torch
from torch import Tensor

from heedful.data.batch import Batch, pad
from heedful.decoding.search import decode
from heedful.errors import UsageError
from heedful.laws.base import LAWS, Subject
from heedful.models.base import shift_right
from heedful.nn.layout import line
from heedful.nn.watching import watch
from heedful.presets.base import Decode

EXACT = (
    "pieces_equal_the_whole",
    "layers_are_used_by_calling_them",
    "padding_changes_nothing",
    "packing_changes_nothing",
    "memory_follows_its_rows",
    "outputs_of_one_source_read_it_together",
    "every_parameter_gets_a_gradient",
)
LUONG, BAHDANAU = "luong_tiny", "rnn_search_tiny"
VARIANTS = [
    *(
        (LUONG, {"model.score": score})
        for score in ("concat", "normed_additive", "dot", "scaled_dot", "cosine", "gaussian")
    ),
    *((LUONG, {"model.score": s, "model.feed": False}) for s in ("general", "location")),
    (LUONG, {"model.window": "monotonic", "model.window.width": 1}),
    (LUONG, {"model.window": "predictive", "model.window.width": 2, "model.feed": False}),
    (LUONG, {"model.reading": "both", "model.bridge": "backward", "model.output": "linear"}),
    (LUONG, {"model.reading": "first_both", "model.bridge": "linear", "model.encoder_layers": 3}),
    (LUONG, {"model.reading": "forward", "model.bridge": "none"}),
    (BAHDANAU, {"model.coverage": True}),
    (BAHDANAU, {"model.bridge": "same", "model.encoder_hidden": 16, "model.layers": 2}),
]


@pytest.mark.parametrize(("name", "settings"), VARIANTS, ids=str)
def test_every_variant_keeps_the_laws_of_exactness(name: str, settings: dict) -> None:
    subject = Subject(name, settings)
    for law in EXACT:
        LAWS[law](subject)


def seen(subject: Subject, batch: Batch) -> Tensor:
    """The weights of a whole pass, [B, Q, K]."""
    with torch.no_grad(), watch(subject.model) as found:
        subject.model.hidden(batch)
    ((_, weights),) = found.weights
    return weights[:, 0]


@pytest.mark.parametrize(("name", "hears"), [(BAHDANAU, False), (LUONG, True)])
def test_a_step_looks_before_or_after_it_reads(name: str, hears: bool) -> None:
    """Bahdanau looks from the state before the last word was read, Luong from the one after."""
    subject, inputs = Subject(name), pad([[4, 5, 6, 7, 1]])
    one, other = (
        seen(subject, Batch({"inputs": inputs, "targets": pad([[5, 6, word, 8, 1]])}))
        for word in (7, 9)
    )
    # The word at 2 is read at step 3.
    assert torch.equal(one[:, :3], other[:, :3])
    assert bool((one[:, 3] - other[:, 3]).abs().max() > 1e-6) is hears
    assert (one[:, 4] - other[:, 4]).abs().max() > 1e-6


@pytest.mark.parametrize(("feed", "heard"), [(True, True), (False, False)])
def test_what_was_said_is_fed_to_the_next_step(feed: bool, heard: bool) -> None:
    """The source reaches the decoder's states only where what it looked at is fed back."""
    subject = Subject(LUONG, {"model.feed": feed, "model.bridge": "none"})
    body, dim = subject.model.body, subject.preset.model.dim
    x = torch.zeros(1, 3, dim, dtype=torch.double)
    states = []
    for _ in range(2):
        source = body.encode(torch.randn(1, 4, dim, dtype=torch.double), line(4))
        if feed:
            states.append(body.decoder(x, line(3), source, None, body.say).out)
        else:
            states.append(body.decoder(x, line(3))[0])
    far = (states[0] - states[1]).abs().amax(-1)[0]
    assert far[0] == 0 and bool((far[1:] > 1e-6).all()) is heard


@pytest.mark.parametrize("name", [BAHDANAU, LUONG, "gnmt_tiny"])
def test_37_columns_of_padding_change_no_logits(name: str) -> None:
    subject = Subject(name)
    pairs = subject.pairs(3)
    plain, padded = subject.batch(pairs), subject.batch(pairs, extra=37)
    length = plain.targets.ids.shape[1]
    torch.testing.assert_close(
        subject.model.logits(padded)[:, :length][plain.targets.at.real],
        subject.model.logits(plain)[plain.targets.at.real],
        atol=1e-12,
        rtol=0,
    )


@pytest.mark.parametrize("name", [BAHDANAU, LUONG, "gnmt_tiny"])
def test_what_is_seen_step_by_step_is_what_is_seen_at_once(name: str) -> None:
    subject = Subject(name)
    batch = subject.batch(subject.pairs(3))
    ids = shift_right(batch.targets)
    at_once, steps = seen(subject, batch), []
    memory = subject.model.start(batch)
    with torch.no_grad(), watch(subject.model) as found:
        for step in ids.split(1, 1):
            subject.model.step(step, memory)
            steps.append(found.weights[0][1][:, 0])
    real = batch.targets.at.real
    torch.testing.assert_close(torch.cat(steps, 1)[real], at_once[real], atol=1e-12, rtol=0)
    torch.testing.assert_close(
        at_once[real].sum(-1), torch.ones(int(real.sum()), dtype=torch.double)
    )
    padding = ~batch.inputs.at.real[:, None].expand_as(at_once)
    assert at_once[padding].abs().sum() == 0


def test_watching_changes_nothing_and_ends() -> None:
    subject = Subject(LUONG)
    batch = subject.batch(subject.pairs(2))
    before = subject.model.logits(batch)
    with watch(subject.model) as found:
        assert torch.equal(subject.model.logits(batch), before)
    first = found.weights[0][1]
    subject.model.logits(subject.batch(subject.pairs(2, seed=5)))
    assert found.weights[0][1] is first
    with watch(subject.model, kinds=("self",)) as found:
        subject.model.logits(batch)
    assert not found.weights


@pytest.mark.parametrize("name", [BAHDANAU, "gnmt_tiny"])
def test_the_coverage_penalty_hears_what_a_recurrent_model_looks_at(name: str) -> None:
    subject = Subject(name)
    batch = subject.batch(subject.pairs(2))
    plain, covered = (
        decode(subject.model, batch, Decode(beam=3, coverage=c, extra_length=3)) for c in (0.0, 0.5)
    )
    assert plain[0][0].score != covered[0][0].score


def test_the_coverage_penalty_needs_a_model_that_looks() -> None:
    subject = Subject("lstm_seq2seq_tiny")
    with pytest.raises(UsageError, match=r"Set decode\.coverage=0"):
        decode(subject.model, subject.batch(subject.pairs(1)), Decode(beam=2, coverage=0.5))


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        (BAHDANAU, {"model.feed": True}, "is for query=current"),
        (LUONG, {"model.output": "maxout"}, "Use output=tanh"),
        (LUONG, {"model.bridge": "backward"}, "needs an encoder that reads both ways"),
        (LUONG, {"model.encoder_hidden": 16}, "remember 16, 16 numbers and the decoder's 32, 32"),
        (LUONG, {"model.window": "monotonic"}, "needs a width"),
        (LUONG, {"model.layers": 0}, "1 layer or more"),
    ],
)
def test_what_cannot_be_is_said(name: str, settings: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Subject(name, settings)


def test_a_step_is_bahdanaus_equations() -> None:
    """s₀ = tanh(W ←h₁); α from sᵢ₋₁; words from sᵢ₋₁, yᵢ₋₁ and cᵢ; sᵢ from sᵢ₋₁, yᵢ₋₁ and cᵢ."""
    subject = Subject(BAHDANAU)
    body, dim = subject.model.body, subject.preset.model.dim
    x = torch.randn(1, 3, dim, dtype=torch.double)
    source = body.encode(torch.randn(1, 4, dim, dtype=torch.double), line(4))
    score, gates = body.decoder.alignment.score, body.decoder.layers[0]
    s = torch.tanh(body.bridge.made[0][0](source.x[:, 0, 32:]))  # the backward reader's, at word 1
    said = []
    for t in range(3):
        fits = torch.tanh(score.to_q(s) + score.to_k(source.x[0])) @ score.v[0]
        context = fits.softmax(0)[None] @ source.x[0]
        said.append(body.to_out(body.maxout(torch.cat([s, context, x[:, t]], -1))))
        (s,) = gates.step(gates.project(torch.cat([x[:, t], context], -1)), (s,))
    found = body.decode(x, line(3), source)
    torch.testing.assert_close(found, torch.stack(said, 1), atol=1e-12, rtol=0)
