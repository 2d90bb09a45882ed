import base64

import numpy as np
import pytest
import torch

from heedful.data.batch import Batch, pad
from heedful.errors import HeedfulError, UsageError
from heedful.nn.watching import watch
from heedful.presets.base import Decode
from heedful.seeing.attention import look
from heedful.seeing.looks import pack
from heedful.text.specials import EOS

TEXT, TARGET = "The cow ate the hay.", "it was hungry"


def computed(translator, text: str, target: str) -> dict[str, np.ndarray]:
    """The model's weights in one pass of training, by the names of its parts."""
    tokenizer = translator.tokenizers["targets"]
    rows = {"targets": pad([[*tokenizer.encode(target), EOS]])}
    if "inputs" in translator.tokenizers:
        rows["inputs"] = pad([[*tokenizer.encode(text), EOS]])
    with torch.no_grad(), watch(translator.model) as seen:
        translator.model.hidden(Batch(rows))
    return {name: weights[0].numpy() for name, weights in seen.weights}


def test_what_is_seen_is_what_was_computed(make) -> None:
    translator = make()
    seen = look(translator, TEXT, TARGET)
    expected = computed(translator, TEXT, TARGET)
    found = {layer.name: layer.weights for one in seen.attended for layer in one.layers}
    assert found.keys() == expected.keys() and len(found) == 6
    for name, weights in expected.items():
        np.testing.assert_allclose(found[name], weights, atol=1e-6)
    assert [one.kind for one in seen.attended] == ["encoder", "decoder", "cross"]
    assert seen.target == TARGET


def test_tokens_stand_where_they_were_read_and_said(make) -> None:
    seen = look(make(), TEXT, TARGET)
    assert "".join(seen.of("encoder").queries.tokens) == f"{TEXT}<eos>"
    assert "".join(seen.of("decoder").queries.tokens) == f"<start>{TARGET}"
    assert "".join(seen.of("cross").queries.tokens) == f"{TARGET}<eos>"
    assert seen.of("cross").keys == seen.of("encoder").keys


def test_without_a_target_it_is_what_the_model_writes(make) -> None:
    translator = make()
    seen = look(translator, TEXT)
    best = translator.decode([TEXT])[0].hypotheses[0]
    assert seen.target == best.text
    assert seen.of("cross").queries.tokens == best.pieces


def test_looking_leaves_the_model_as_it_was(make) -> None:
    translator = make(dropout=0.5)
    translator.model.train()
    kernels = [part.kernel for part in translator.model.modules() if hasattr(part, "kernel")]
    one, other = look(translator, TEXT, TARGET), look(translator, TEXT, TARGET)
    np.testing.assert_array_equal(one.of("cross").mean(), other.of("cross").mean())
    assert translator.model.training
    assert kernels == [p.kernel for p in translator.model.modules() if hasattr(p, "kernel")]


def test_a_language_model_looks_back_at_its_text(make) -> None:
    translator = make("transformer_lm", source=False)
    seen = look(translator, TEXT)
    (one,) = seen.attended
    assert one.kind == "decoder" and "".join(one.keys.tokens) == f"<start>{TEXT}"
    expected = computed(translator, "", TEXT)
    for layer in one.layers:
        np.testing.assert_allclose(layer.weights, expected[layer.name], atol=1e-6)
        assert np.triu(layer.weights, 1).max() == 0


def test_a_language_model_with_a_source_reads_it_first(make) -> None:
    translator = make("transformer_lm")
    (one,) = look(translator, TEXT, TARGET).attended
    assert "".join(one.keys.tokens) == f"{TEXT}<eos><start>{TARGET}"
    expected = computed(translator, TEXT, TARGET)
    for layer in one.layers:
        np.testing.assert_allclose(layer.weights, expected[layer.name], atol=1e-6)


def test_an_encoder_alone_is_seen_reading(make) -> None:
    translator = make("transformer_encoder", decode=Decode(extra_length=0))
    seen = look(translator, TEXT)
    assert [one.kind for one in seen.attended] == ["encoder"] and seen.alignment() is None
    expected = computed_encoder(translator)
    for layer in seen.of("encoder").layers:
        np.testing.assert_allclose(layer.weights, expected[layer.name], atol=1e-6)


def computed_encoder(translator) -> dict[str, np.ndarray]:
    source = pad([[*translator.tokenizers["inputs"].encode(TEXT), EOS]])
    with torch.no_grad(), watch(translator.model) as seen:
        translator.model.body.encode(translator.model.inputs(source.ids), source.at)
    return {name: weights[0].numpy() for name, weights in seen.weights}


def test_pooled_keys_are_named_after_their_tokens(make, characters) -> None:
    seen = look(make(pool="strided:3", tokenizer=characters), "cow ate", "hay")
    one = seen.of("encoder")
    assert one.pooled and not one.rollout
    assert one.keys.tokens == ("c+o+w", "+a+t", "e+<eos>")
    np.testing.assert_allclose(one.mean(0).sum(-1), 1, atol=1e-5)
    assert seen.of("decoder").keys.tokens[:1] == ("<start>+h+a",)
    assert not seen.of("cross").pooled and not seen.of("cross").rollout


def test_areas_are_named_after_their_tokens(make, characters) -> None:
    one = look(make(pool="areas:2", tokenizer=characters), "cow", "it").of("encoder")
    assert one.keys.tokens == ("c", "o", "w", "<eos>", "c+o", "o+w", "w+<eos>")
    np.testing.assert_allclose(one.mean(0).sum(-1), 1, atol=1e-5)


def test_areas_of_pictures_are_refused(make, characters) -> None:
    with pytest.raises(UsageError, match="cannot say which tokens the keys of the pool Areas"):
        look(make(pool="areas:2:2:4", tokenizer=characters), "cow ate", "hay")


def test_an_alignment_is_between_words(make) -> None:
    rows, columns, weights = look(make(), TEXT, TARGET).alignment()
    assert rows == ["it", "was", "hungry", "<eos>"]
    assert columns == ["The", "cow", "ate", "the", "hay", ".", "<eos>"]
    assert weights.shape == (4, 7)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_packed_weights_are_off_by_half_a_part() -> None:
    weights = np.random.default_rng(1).random((2, 3, 4)).astype(np.float32)
    back = np.frombuffer(base64.b64decode(pack(weights)), "<u2").reshape(2, 3, 4) / 65_535
    assert 0 < np.abs(back - weights).max() <= 0.5001 / 65_535


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda seen: seen.of("encoder").mean(2), "no layer 3: encoder self-attention has 2"),
        (lambda seen: seen.of("encoder").mean(0, 2), "no head 3: body.encoder.layers.0"),
        (lambda seen: seen.of("sideways"), "It has: encoder, decoder, cross"),
    ],
)
def test_what_is_not_there_is_said(make, ask, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ask(look(make(), TEXT, TARGET))


def test_an_empty_text_is_nothing_to_look_at(make) -> None:
    with pytest.raises(UsageError, match="there is no text to look at"):
        look(make(), "  ")


def test_every_look_of_a_layer_is_told(make) -> None:
    translator = make()
    encoder = translator.model.body.encoder
    encoder.layers[1] = encoder.layers[0]  # one layer, applied twice
    one = look(translator, TEXT, TARGET).of("encoder")
    names = [layer.name for layer in one.layers]
    assert names == ["body.encoder.layers.0.attention", "body.encoder.layers.0.attention, time 2"]
    assert np.abs(one.layers[0].weights - one.layers[1].weights).max() > 1e-3


@pytest.mark.parametrize("kind", ["transformer", "transformer_lm"])
def test_what_is_longer_than_the_positions_is_refused(make, kind: str) -> None:
    model = make(kind, positions="learned:30", source=kind == "transformer")
    long = "the animal " * 10
    assert look(model, "the animal", "the animal").to_json()
    for text, target in [("the animal", long), (long, "the animal")]:
        with pytest.raises(HeedfulError, match="longer than the 30 positions"):
            look(model, text, target)
