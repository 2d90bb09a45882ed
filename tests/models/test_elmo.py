"""ELMo: neither direction sees what it guesses, the mix is of layers, and a mirror shows it all."""

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, Rows, pad
from heedful.models.building import build
from heedful.models.elmo import BothWays, Elmo, ElmoConfig, ScalarMix, about
from heedful.models.text_classifier import ElmoReading
from heedful.nn.layout import Layout, line, ragged
from heedful.nn.losses import Smoothing
from heedful.registry import presets
from heedful.text.specials import EOS, RESERVED

CONFIG = ElmoConfig(dim=6, layers=2, hidden=10, dropout=0.0)
LENGTH = 5


def elmo() -> Elmo:
    torch.manual_seed(0)
    return Elmo(CONFIG).double().eval()


def language_model() -> BothWays:
    torch.manual_seed(0)
    made = build(CONFIG, {"targets": 15}, False, Smoothing(amount=0.0))
    assert isinstance(made, BothWays)
    return made.double().eval()


def heard(out: torch.Tensor, x: torch.Tensor) -> list[bool]:
    (slope,) = torch.autograd.grad(out.square().sum(), x, retain_graph=True)
    return (slope[0].abs().sum(-1) > 0).tolist()


def test_forwards_never_hears_what_comes_and_backwards_never_what_was() -> None:
    x = torch.randn(1, LENGTH, 6, dtype=torch.double, requires_grad=True)
    layers = elmo().layers(x, line(LENGTH))
    words = range(LENGTH - 1)  # the last is the end symbol, which looks like nothing
    for layer in layers[1:]:
        ahead, back = layer[0].chunk(2, -1)
        for place in words:
            assert heard(ahead[place], x) == [i <= place for i in words] + [False]
            assert heard(back[place], x) == [i >= place for i in words] + [False]
            assert heard(layer[0, place], x) == [True] * len(words) + [False]


@pytest.mark.parametrize("place", range(3))
def test_a_word_is_guessed_from_none_of_itself(place) -> None:
    """Nor, on, from what comes after it; nor, back, from what comes before it."""
    model, text, other = language_model(), [4, 5, 6], [11, 12, 13]

    def on_and_back(words: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        rows = pad([[*words, EOS]])
        turned = Batch({"targets": about(rows)})
        back = model.read(turned, model.body.decode_back)
        return model.hidden(Batch({"targets": rows})), back

    ahead, back = on_and_back(text)
    later, _ = on_and_back([*text[:place], *other[place:]])
    assert torch.equal(later[:, : place + 1], ahead[:, : place + 1])
    assert not torch.equal(later[:, place + 1], ahead[:, place + 1])
    _, earlier = on_and_back([*other[: place + 1], *text[place + 1 :]])
    there = 2 - place  # where the word is guessed when read back
    assert torch.equal(earlier[:, : there + 1], back[:, : there + 1])
    assert not torch.equal(earlier[:, there + 1], back[:, there + 1])


def test_the_loss_is_the_mean_of_both_directions() -> None:
    model = language_model()
    batch = Batch({"targets": pad([[4, 5, 6, 7, EOS], [8, EOS]])})
    turned = Batch({"targets": about(batch.targets)})
    at = batch.targets.at
    ahead = model.head.loss(model.hidden(batch), batch.targets.ids, at)
    back = model.head.loss(model.read(turned, model.body.decode_back), turned.targets.ids, at)
    loss = model.loss(batch)
    torch.testing.assert_close(loss.sum, (ahead.sum + back.sum) / 2)
    assert float(loss.weight) == 7 and not torch.isclose(ahead.sum, back.sum)


def test_words_are_turned_about_and_the_end_stays() -> None:
    ids = torch.tensor([[4, 5, 6, EOS, 7, EOS, 0]])
    at = Layout(torch.tensor([[0, 1, 2, 3, 0, 1, 0]]), torch.tensor([[1, 1, 1, 1, 2, 2, 0]]))
    assert about(Rows(ids, at)).ids.tolist() == [[6, 5, 4, EOS, 7, EOS, 0]]


def test_features_are_what_the_language_model_was_trained_to_make() -> None:
    """What has read a word is where the next one is guessed."""
    model = language_model()
    batch = Batch({"targets": pad([[4, 5, 6, 7, EOS], [8, EOS]])})
    rows = batch.targets
    top = model.body.layers(model.targets(rows.ids), rows.at)[-1]
    ahead, back = top.chunk(2, -1)
    torch.testing.assert_close(ahead[0, :4], model.hidden(batch)[0, 1:])
    turned = model.read(Batch({"targets": about(rows)}), model.body.decode_back)
    torch.testing.assert_close(back[0, :4].flip(0), turned[0, 1:])
    torch.testing.assert_close(ahead[1, 0], model.hidden(batch)[1, 1])


def test_a_mirrored_sentence_and_swapped_weights_give_the_mirror() -> None:
    one, other = elmo(), elmo()
    other.forwards.load_state_dict(one.backwards.state_dict())
    other.backwards.load_state_dict(one.forwards.state_dict())
    x = torch.randn(1, LENGTH, 6, dtype=torch.double)
    mirror = torch.cat([x[:, :-1].flip(1), x[:, -1:]], 1)
    at = line(LENGTH)
    for there, here in zip(other.layers(mirror, at), one.layers(x, at), strict=True):
        ahead, back = here[:, :-1].flip(1).chunk(2, -1)
        torch.testing.assert_close(there[:, :-1], torch.cat([back, ahead], -1))


def test_packed_texts_have_the_features_that_each_has_alone() -> None:
    one = elmo()
    x = torch.randn(1, 7, 6, dtype=torch.double)
    at = Layout(torch.tensor([[0, 1, 2, 0, 1, 2, 0]]), torch.tensor([[1, 1, 1, 2, 2, 2, 0]]))
    for packed, first, second in zip(
        one.layers(x, at),
        one.layers(x[:, :3], line(3)),
        one.layers(x[:, 3:6], line(3)),
        strict=True,
    ):
        torch.testing.assert_close(packed[:, :6], torch.cat([first, second], 1))


def test_all_of_one_layer_is_that_layer_exactly() -> None:
    layers = [torch.randn(2, 3, 4) for _ in range(3)]
    mix = ScalarMix(3)
    for number, layer in enumerate(layers):
        with torch.no_grad():
            mix.shares.fill_(-torch.inf)[number] = 0.0
        assert torch.equal(mix(layers), layer)
    with torch.no_grad():
        mix.shares.zero_()
        mix.scale.fill_(3.0)
    torch.testing.assert_close(mix(layers), layers[0] + layers[1] + layers[2])


def test_a_frozen_language_model_learns_nothing_and_drops_nothing() -> None:
    config = vary(presets.get("elmo_classifier_tiny")().model, {"features.frozen": True})
    sizes = {"inputs": 20, "targets": RESERVED + 2}
    model = build(config, sizes, False, Smoothing(amount=0.0)).train()
    assert isinstance(model.body.reading, ElmoReading) and not model.body.reading.lm.training
    batch = Batch({"inputs": pad([[5, 6, EOS]]), "targets": pad([[RESERVED, EOS]])})
    model.loss(batch).sum.backward()
    for name, parameter in model.named_parameters():
        learnt = parameter.grad is not None and bool(parameter.grad.abs().sum() > 0)
        assert learnt == (".lm." not in name), name


def test_padding_has_no_say_in_features() -> None:
    one = elmo()
    x = torch.randn(2, 6, 6, dtype=torch.double)
    at = ragged([6, 3])
    other = x.clone()
    other[1, 3:] = 7.0
    for a, b in zip(one.layers(x, at), one.layers(other, at), strict=True):
        assert torch.equal(a[0], b[0]) and torch.equal(a[1, :3], b[1, :3])
