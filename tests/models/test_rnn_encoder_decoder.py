"""Models without attention: what passes from encoder to decoder, and that nothing else does."""

import pytest
import torch
from torch import Tensor

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.errors import UsageError
from heedful.laws.base import VOCABULARY, Subject
from heedful.models.building import build
from heedful.models.recurrent_lm import RecurrentLMConfig
from heedful.models.rnn_encoder_decoder import RNNEncoderDecoderConfig, Seq2SeqConfig
from heedful.nn.layout import line
from heedful.nn.losses import Smoothing
from heedful.nn.recurrent import Dropout
from heedful.nn.states import Recalled
from heedful.registry import presets

SIZES = {"inputs": VOCABULARY, "targets": VOCABULARY}


def detached(source: Recalled) -> Recalled:
    ends = tuple(tuple(part.detach() for part in table) for table in source.ends)
    return Recalled(source.x, source.at, ends)


def gradient_to_source(body: torch.nn.Module, dim: int, cut: bool) -> float:
    x = torch.randn(2, 5, dim, dtype=torch.double, requires_grad=True)
    source = body.encode(x, line(5, batch=2))
    if cut:
        source = detached(source)
    out = body.decode(torch.randn(2, 4, dim, dtype=torch.double), line(4, batch=2), source)
    found = torch.autograd.grad(out.square().sum(), x, allow_unused=True)[0]
    return 0.0 if found is None else float(found.abs().sum())


@pytest.mark.parametrize("name", ["lstm_seq2seq_tiny", "rnn_encoder_decoder_tiny"])
def test_only_the_last_state_goes_from_encoder_to_decoder(name: str) -> None:
    subject = Subject(name)
    body, dim = subject.model.body, subject.preset.model.dim
    assert gradient_to_source(body, dim, cut=False) > 0
    assert gradient_to_source(body, dim, cut=True) == 0


@pytest.mark.parametrize("config", [RNNEncoderDecoderConfig, Seq2SeqConfig])
def test_one_mask_reaches_every_dropout(config: type[RNNEncoderDecoderConfig]) -> None:
    for one_mask in (True, False):
        model = build(
            config(dim=8, hidden=8, dropout=0.5, one_mask=one_mask), SIZES, True, Smoothing()
        )
        found = [part.one_mask for part in model.modules() if isinstance(part, Dropout)]
        assert len(found) >= 2 and set(found) == {one_mask}


@pytest.mark.parametrize("reading", ["forward", "backward"])
def test_one_network_that_reads_and_writes_is_a_language_model(reading: str) -> None:
    """Encoder and decoder with one set of weights say what a decoder alone says of the whole: of
    source and target, the source from its end where it is read so."""
    shared = Seq2SeqConfig(dim=8, hidden=12, layers=2, share=True, reading=reading, tie="all")
    alone = RecurrentLMConfig(dim=8, hidden=12, layers=2, tie="all", dropout=0.0)
    one, other = (build(c, SIZES, True, Smoothing()).double().eval() for c in (shared, alone))
    other.body.stack.load_state_dict(one.body.writer.state_dict())
    other.body.to_out.load_state_dict(one.body.to_out.state_dict())
    other.targets.load_state_dict(one.targets.state_dict())
    subject = Subject("lstm_seq2seq_tiny")
    batch = seen = subject.batch(subject.pairs(5))
    if reading == "backward":
        rows = zip(batch.inputs.ids, batch.inputs.at.real, strict=True)
        turned = [ids[real].flip(0).tolist() for ids, real in rows]
        seen = Batch({"inputs": pad(turned), "targets": batch.targets})
    real = batch.targets.at.real
    torch.testing.assert_close(
        one.logits(batch)[real].log_softmax(-1),
        other.logits(seen)[real].log_softmax(-1),
        atol=1e-10,
        rtol=0,
    )


def test_reading_from_the_end_is_reading_what_was_turned_round() -> None:
    backward = Subject("lstm_seq2seq_tiny")
    forward = Subject("lstm_seq2seq_tiny", {"model.reading": "forward"})
    forward.model.load_state_dict(backward.model.state_dict())
    inputs, targets = [[4, 5, 6, 7], [8, 9]], [[5, 6, 1], [7, 1]]

    def logits(subject: Subject, sources: list[list[int]]) -> Tensor:
        return subject.model.logits(Batch({"inputs": pad(sources), "targets": pad(targets)}))

    turned = [row[::-1] for row in inputs]
    torch.testing.assert_close(logits(backward, inputs), logits(forward, turned), atol=0, rtol=0)
    assert (logits(backward, inputs) - logits(forward, inputs)).abs().max() > 1e-3


def test_the_source_is_seen_at_every_step() -> None:
    """Cho's decoder reads the summary at each step: also where its state has been forgotten."""
    subject = Subject("rnn_encoder_decoder_tiny")
    body = subject.model.body
    with torch.no_grad():
        body.gates.weight_h.zero_()
        body.gates.bias[64:128] = -50.0  # z: nothing of the old state is kept
    x = torch.randn(1, 4, 32, dtype=torch.double)
    one, other = (
        body.decode(x, line(4), body.encode(torch.randn_like(x), line(4))) for _ in range(2)
    )
    assert ((one - other).abs().amax(-1) > 1e-6).all()


def test_sutskevers_model_is_as_large_as_the_paper_says() -> None:
    config = presets.get("lstm_seq2seq_paper")().model
    with torch.device("meta"):
        model = build(config, {"inputs": 160_000, "targets": 80_000}, False, Smoothing())
    count = sum(p.numel() for p in model.parameters())
    recurrent = sum(p.numel() for p in model.body.parameters())
    assert round(count / 1e6) == 384 and round(recurrent / 1e6) == 64


@pytest.mark.parametrize(
    "name",
    [
        "lstm_seq2seq_tiny",
        "rnn_encoder_decoder_tiny",
        "rnn_search_tiny",
        "luong_tiny",
        "gnmt_tiny",
        "recurrent_lm_tiny",
    ],
)
def test_sequences_of_no_and_one_token_go_through(name: str) -> None:
    subject = Subject(name)
    rows = {"inputs": pad([[], [5], [5, 6, 1]]), "targets": pad([[1], [], [5, 1]])}
    batch = Batch(rows)
    loss = subject.model.loss(batch)
    assert torch.isfinite(loss.sum) and int(loss.weight) == 3
    alone = Batch({"inputs": pad([[5]]), "targets": pad([[1]])})
    assert torch.isfinite(subject.model.loss(alone).sum)
    nothing = Batch({"inputs": pad([[]]), "targets": pad([[7, 1]])})
    assert torch.isfinite(subject.model.loss(nothing).sum)


def test_maxout_needs_units() -> None:
    config = vary(RNNEncoderDecoderConfig(dim=8, hidden=8), {"maxout": 0})
    with pytest.raises(UsageError, match="1 unit or more"):
        build(config, SIZES, True, Smoothing())
