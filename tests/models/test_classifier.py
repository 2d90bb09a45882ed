"""A classifier: one label a text, whatever stands in the row; two texts told apart."""

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.decoding.search import decode
from heedful.errors import UsageError
from heedful.models.building import build
from heedful.models.classifier import NEVER, Classifier, apart
from heedful.nn.layout import Layout, ragged
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.labels import LabelTokenizer
from heedful.text.specials import EOS, RESERVED
from heedful.text.words import WordTokenizer

LABELS = 4
SIZES = {"inputs": 20, "targets": RESERVED + LABELS}


def model(name: str = "text_classifier_tiny", **changes: object) -> Classifier:
    torch.manual_seed(0)
    made = build(vary(presets.get(name)().model, changes), SIZES, False, Smoothing(amount=0.0))
    assert isinstance(made, Classifier)
    return made.double().eval()


def batch(labels: list[int]) -> Batch:
    inputs = [[5, 6, 7, EOS], [9, EOS], [8, 8, EOS]][: len(labels)]
    return Batch({"inputs": pad(inputs), "targets": pad([[i + RESERVED, EOS] for i in labels])})


def test_labels_share_all_of_the_probability() -> None:
    logits = model().logits(batch([0, 1, 2]))
    first = logits[:, 0].softmax(-1)
    torch.testing.assert_close(first[:, RESERVED:].sum(1), torch.ones(3, dtype=torch.double))
    assert (logits[:, 0, :RESERVED] == NEVER).all()
    assert (logits[:, 1].argmax(-1) == EOS).all()


def test_the_loss_is_that_of_the_labels_alone() -> None:
    one, labels = model(), [3, 0, 2]
    loss = one.loss(batch(labels))
    logp = one.logits(batch(labels))[:, 0, RESERVED:].log_softmax(-1)
    expected = -logp[range(3), labels].sum()
    torch.testing.assert_close(loss.sum, expected)
    assert float(loss.weight) == 3


def test_decoding_gives_the_likeliest_label_and_its_log_probability() -> None:
    one, given = model(), batch([0, 0, 0])
    logp = one.logits(given)[:, 0].log_softmax(-1).detach()
    for found, row in zip(decode(one, given, Decode(beam=1, alpha=0.0)), logp, strict=True):
        assert found[0].ids == (int(row.argmax()),)
        assert found[0].score == pytest.approx(float(row.max()), abs=1e-5)
    ranked = decode(one, given, Decode(beam=LABELS, nbest=LABELS, alpha=0.0))[0]
    order = [int(i) for i in logp[0].argsort(descending=True)[:LABELS]]
    assert [hypothesis.ids[0] for hypothesis in ranked] == order


def test_two_texts_are_told_apart_in_padded_and_packed_rows() -> None:
    ids = torch.tensor([[5, 6, EOS, 7, EOS, 8, EOS, 9, 9, EOS, 0]])
    at = Layout(
        torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0]]),
        torch.tensor([[1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0]]),
    )
    first, second = apart(ids, at)
    assert first.segments.tolist() == [[1, 1, 1, 0, 0, 2, 2, 0, 0, 0, 0]]
    assert second.segments.tolist() == [[0, 0, 0, 1, 1, 0, 0, 2, 2, 2, 0]]
    assert first.positions.tolist() == [[0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0]]
    assert second.positions.tolist() == [[0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0]]


def test_what_comes_after_a_third_end_symbol_is_of_the_second_text() -> None:
    ids = torch.tensor([[5, EOS, 6, EOS, 7, EOS]])
    first, second = apart(ids, ragged([6]))
    assert first.segments.tolist() == [[1, 1, 0, 0, 0, 0]]
    assert second.positions.tolist() == [[0, 0, 0, 1, 2, 3]]


def test_a_pair_without_a_second_text_is_still_judged() -> None:
    one = model("pair_classifier_tiny")
    given = Batch({"inputs": pad([[5, 6, EOS]]), "targets": pad([[RESERVED, EOS]])})
    assert torch.isfinite(one.loss(given).sum)


def test_the_texts_of_a_pair_read_each_other() -> None:
    one = model("pair_classifier_tiny")
    x = one.inputs(torch.tensor([[5, 6, EOS, 7, EOS]])).detach().requires_grad_()
    first, second = apart(torch.tensor([[5, 6, EOS, 7, EOS]]), ragged([5]))
    encoded = one.body.encode_two(x, first, second)
    (slope,) = torch.autograd.grad(encoded.x[0, 0].sum(), x)
    assert (slope[0, 3:].abs().sum(-1) > 0).all()  # the first text's word hears the second text


def test_a_classifier_wants_labels_and_a_text() -> None:
    config = presets.get("text_classifier_tiny")().model
    words = WordTokenizer(["a", "b"])
    with pytest.raises(UsageError, match="targets are words. Use a problem of labels"):
        build(config, {"inputs": words, "targets": words}, True, Smoothing())
    with pytest.raises(UsageError, match="this problem has none to read"):
        build(config, {"targets": LabelTokenizer(["a", "b"])}, False, Smoothing())


@pytest.mark.parametrize("text", [[], [EOS], [5]], ids=["nothing", "an end", "a word"])
@pytest.mark.parametrize("name", presets.names("*_classifier_tiny"))
def test_a_text_of_no_token_or_one_goes_through(name, text) -> None:
    given = Batch({"inputs": pad([text]), "targets": pad([[RESERVED, EOS]])})
    one = model(name)
    loss = one.loss(given)
    loss.sum.backward()
    assert torch.isfinite(loss.sum)
    found = decode(one, given, Decode(beam=1, alpha=0.0, extra_length=2))
    assert found[0][0].ids[0] >= RESERVED


RECURRENT = ("text_classifier_tiny", "pair_classifier_tiny")


@pytest.mark.parametrize("pooling", ["attend", "max", "mean", "first"])
def test_every_summary_makes_a_classifier(pooling) -> None:
    for name in ("transformer_classifier_tiny", *RECURRENT):
        one = model(name, summary=pooling).train()
        given = Batch({"inputs": pad([[5, 6, EOS, 7, EOS]]), "targets": pad([[RESERVED, EOS]])})
        one.loss(given).sum.backward()
        still = {n for n, p in one.named_parameters() if p.grad is None or not p.grad.any()}
        # At its first word, a recurrent layer has nothing to remember yet.
        excused = pooling == "first" and name in RECURRENT
        assert not still or (excused and all(n.endswith("forwards.gates.weight_h") for n in still))
