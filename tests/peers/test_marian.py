"""Marian in the shape of ours: what is the same, what is not, and where the library comes from."""

import sys

import pytest
import torch

from heedful.config import vary
from heedful.errors import HeedfulError, UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.peers import marian
from heedful.registry import presets

SIZE = 300
NAMES = ("transformer_tiny", "transformer_tatoeba")


@pytest.mark.parametrize("name", NAMES)
def test_it_has_as_many_weights_as_ours_but_for_what_is_said(name: str) -> None:
    config = presets.get(name)().model
    ours = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    theirs = marian.build(config, SIZE)
    attentions = config.layers * 3  # one in the encoder, two in the decoder
    biases = attentions * 4 * config.dim
    last_norms = 2 * 2 * config.dim if config.norm == "pre" else 0
    trained = sum(p.numel() for p in theirs.parameters() if p.requires_grad)
    assert trained == sum(p.numel() for p in ours.parameters()) + biases - last_norms


def test_every_number_of_the_shape_arrives() -> None:
    config = vary(
        presets.get("transformer_tiny")().model,
        {"decoder_layers": 1, "dropout": 0.25, "attention_dropout": 0.15, "relu_dropout": 0.05},
    )
    model = marian.build(config, SIZE)
    layer = model.model.encoder.layers[0]
    assert len(model.model.encoder.layers) == config.layers and config.layers != 1
    assert len(model.model.decoder.layers) == 1
    assert layer.fc1.out_features == config.ff and layer.self_attn.num_heads == config.heads
    assert (layer.dropout, layer.self_attn.dropout, layer.activation_dropout) == (0.25, 0.15, 0.05)
    assert layer.activation_fn(torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]


def test_embeddings_are_one_matrix_and_special_ids_are_ours() -> None:
    model = marian.build(presets.get("transformer_tiny")().model, SIZE)
    assert model.lm_head.weight is model.model.shared.weight
    assert model.model.encoder.embed_tokens.weight is model.model.decoder.embed_tokens.weight
    config = model.config
    assert (config.pad_token_id, config.eos_token_id, config.decoder_start_token_id) == (0, 1, 0)
    assert config.forced_eos_token_id == 1
    assert model.model.encoder.embed_scale == config.d_model**0.5


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("transformer_lm_tiny", {}, "got a model 'transformer_lm'"),
        ("transformer_tiny", {"attention.turn": "rotary"}, "turn='rotary'"),
        ("transformer_tiny", {"tie": "none"}, "tie=none"),
        ("transformer_tiny", {"positions": "learned:9"}, "positions=learned:9"),
    ],
)
def test_a_shape_that_it_cannot_have_is_named(name: str, changes: dict, said: str) -> None:
    config = vary(presets.get(name)().model, changes)
    with pytest.raises(UsageError, match=said):
        marian.build(config, SIZE)


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(HeedfulError, match=r"pip install 'heedful\[bench\]'"):
        marian.build(presets.get("transformer_tiny")().model, SIZE)
    monkeypatch.undo()
    assert marian.version().startswith("transformers ")
