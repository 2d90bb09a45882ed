"""torch.nn.Transformer in the shape of ours: what is the same, and what it may not see."""

import pytest
import torch
from torch.nn import functional as F

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.errors import UsageError
from heedful.models.base import Model
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.peers import torch_transformer
from heedful.registry import presets
from heedful.text.specials import PAD, START

SIZE = 300
TINY = presets.get("transformer_tiny")().model


@pytest.mark.parametrize("changes", [{}, {"norm": "post", "positions": "sinusoid"}], ids=str)
def test_it_has_as_many_weights_as_ours_but_for_biases_in_attention(changes: dict) -> None:
    config = vary(TINY, {**changes, "decoder_layers": 3})
    ours = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    theirs = torch_transformer.build(config, SIZE)
    attentions = config.layers + 2 * config.decoder_layers
    counts = [sum(p.numel() for p in model.parameters()) for model in (theirs, ours)]
    assert counts[0] == counts[1] + attentions * 4 * config.dim


def test_every_number_of_the_shape_arrives() -> None:
    config = vary(
        TINY,
        {"decoder_layers": 1, "dropout": 0.25, "attention_dropout": 0.15, "relu_dropout": 0.05},
    )
    body = torch_transformer.build(config, SIZE).body
    assert (len(body.encoder.layers), len(body.decoder.layers)) == (config.layers, 1)
    for layer in (body.encoder.layers[0], body.decoder.layers[0]):
        assert layer.norm_first and layer.linear1.out_features == config.ff
        assert layer.self_attn.num_heads == config.heads
        assert (layer.dropout.p, layer.dropout1.p, layer.self_attn.dropout) == (0.05, 0.25, 0.15)
    assert body.decoder.layers[0].multihead_attn.dropout == 0.15


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_with_its_weights_ours_says_the_same(norm: str) -> None:
    """Biases in attention begin as zeros, so the two are one function."""
    config = vary(TINY, {"norm": norm, "decoder_layers": 1})
    theirs = torch_transformer.build(config, SIZE).eval()
    ours = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing()).eval()
    give(theirs, ours)
    sources, targets = pad([[5, 6, 7, 1], [9, 1]]), pad([[8, 4, 1], [7, 6, 5, 4, 1]])
    given = F.pad(targets.ids[:, :-1], (1, 0), value=START)
    with torch.no_grad():
        wanted = ours.logits(Batch({"inputs": sources, "targets": targets}))
        said = theirs(sources.ids, (sources.ids != PAD).long(), given).logits
    real = targets.at.real
    torch.testing.assert_close(said[real], wanted[real], atol=1e-3, rtol=1e-3)


@torch.no_grad()
def give(theirs: torch_transformer.TorchTransformer, ours: Model) -> None:
    """Our model the weights of theirs."""
    ours.targets.weight.copy_(theirs.embedding.weight)
    for mine, other in (
        (ours.body.encoder, theirs.body.encoder),
        (ours.body.decoder, theirs.body.decoder),
    ):
        if other.norm is not None:
            mine.norm.load_state_dict(other.norm.state_dict())
        for layer, source in zip(mine.layers, other.layers, strict=True):
            norms = [source.norm1, source.norm2, getattr(source, "norm3", None)]
            layer.attention.to_qkv.weight.copy_(source.self_attn.in_proj_weight)
            layer.attention.to_out.weight.copy_(source.self_attn.out_proj.weight)
            layer.attention_residual.norm.load_state_dict(norms.pop(0).state_dict())
            if layer.reading is not None:
                both = source.multihead_attn.in_proj_weight
                layer.reading.to_q.weight.copy_(both[: len(both) // 3])
                layer.reading.to_kv.weight.copy_(both[len(both) // 3 :])
                layer.reading.to_out.weight.copy_(source.multihead_attn.out_proj.weight)
                layer.reading_residual.norm.load_state_dict(norms.pop(0).state_dict())
            layer.feed_forward.inner.load_state_dict(source.linear1.state_dict())
            layer.feed_forward.outer.load_state_dict(source.linear2.state_dict())
            layer.feed_forward_residual.norm.load_state_dict(norms.pop(0).state_dict())


def test_padding_and_the_future_are_not_seen() -> None:
    model = torch_transformer.build(TINY, SIZE).eval()
    source = torch.tensor([[5, 6, 7]])
    given = torch.tensor([[0, 8, 9, 4]])
    with torch.no_grad():
        said = model(source, torch.ones_like(source), given).logits
        padded = torch.tensor([[5, 6, 7, 0, 0]])
        again = model(padded, (padded != 0).long(), given).logits
        other = model(source, torch.ones_like(source), torch.tensor([[0, 8, 9, 11]])).logits
    torch.testing.assert_close(again, said)
    torch.testing.assert_close(other[:, :3], said[:, :3])
    assert not torch.allclose(other[:, 3], said[:, 3])


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
    with pytest.raises(UsageError, match=said):
        torch_transformer.build(vary(presets.get(name)().model, changes), SIZE)
