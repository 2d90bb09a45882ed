"""The Transformer against its closed parameter count and against torch.nn's layers."""

import pytest
import torch
from torch import nn

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import LanguageModel
from heedful.models.building import build
from heedful.models.transformer import (
    Stack,
    Transformer,
    TransformerConfig,
    TransformerEncoderConfig,
    TransformerLMConfig,
)
from heedful.nn.attention import Encoded
from heedful.nn.layout import ragged
from heedful.nn.losses import Smoothing
from heedful.nn.memory import FORGET
from heedful.nn.patterns import Causal, Full, Visible
from heedful.registry import presets

SMALL = TransformerConfig(dim=16, heads=2, ff=32, layers=2, dropout=0.0, positions="none")
V = 11


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def closed_form(c: TransformerConfig, vocabulary: int) -> int:
    d, f, n = c.dim, c.ff, c.layers
    encoder = n * (4 * d * d + 2 * d * f + f + 5 * d)
    decoder = n * (8 * d * d + 2 * d * f + f + 7 * d)
    return encoder + decoder + (4 * d if c.norm == "pre" else 0) + vocabulary * d


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("transformer_base_paper", 63.0),
        ("transformer_big_paper", 214.2),
        ("transformer_base", 63.0),
        ("transformer_tiny", None),
        ("transformer_small", None),
    ],
)
def test_parameter_count_equals_the_closed_formula(name, millions) -> None:
    config = presets.get(name)().model
    with torch.device("meta"):
        found = count(build(config, {"inputs": 37_000, "targets": 37_000}, True, Smoothing()))
    assert found == closed_form(config, 37_000)
    if millions is not None:
        assert round(found / 1e6, 1) == millions


@pytest.mark.parametrize(
    ("tie", "shared", "matrices"),
    [
        ("all", True, 1),
        ("all", False, 2),
        ("targets", True, 2),
        ("none", True, 3),
        ("none", False, 3),
    ],
)
def test_ties_decide_how_many_embeddings_there_are(tie, shared, matrices) -> None:
    config = vary(SMALL, {"tie": tie})
    one = count(build(config, {"inputs": V, "targets": V}, shared, Smoothing()))
    assert one - count(Transformer(config)) == matrices * V * 16


def copy_attention(ours, theirs) -> None:
    weight = (
        ours.to_qkv.weight
        if ours.to_qkv is not None
        else torch.cat([ours.to_q.weight, ours.to_kv.weight])
    )
    theirs.in_proj_weight.copy_(weight)
    theirs.in_proj_bias.zero_()
    theirs.out_proj.weight.copy_(ours.to_out.weight)
    theirs.out_proj.bias.zero_()


@torch.no_grad()
def copy_layer(ours, theirs, decoder: bool) -> None:
    copy_attention(ours.attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    norms = [ours.attention_residual.norm, ours.feed_forward_residual.norm]
    if decoder:
        copy_attention(ours.reading, theirs.multihead_attn)
        norms.insert(1, ours.reading_residual.norm)
    for number, norm in enumerate(norms, start=1):
        nn.init.normal_(norm.weight), nn.init.normal_(norm.bias)
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_layers_equal_torchs_with_the_same_weights(norm) -> None:
    torch.manual_seed(0)
    config = vary(SMALL, {"norm": norm})
    body = Transformer(config).double().eval()
    kwargs = {"dropout": 0.0, "layer_norm_eps": 1e-6, "batch_first": True}
    kwargs["norm_first"] = norm == "pre"
    encoder = (
        nn.ModuleList(nn.TransformerEncoderLayer(16, 2, 32, **kwargs) for _ in range(2))
        .double()
        .eval()
    )
    decoder = (
        nn.ModuleList(nn.TransformerDecoderLayer(16, 2, 32, **kwargs) for _ in range(2))
        .double()
        .eval()
    )
    for mine, theirs in zip(body.encoder.layers, encoder, strict=True):
        copy_layer(mine, theirs, decoder=False)
    for mine, theirs in zip(body.decoder.layers, decoder, strict=True):
        copy_layer(mine, theirs, decoder=True)
    x, y = torch.randn(2, 5, 16).double(), torch.randn(2, 4, 16).double()
    source_at, target_at = ragged([5, 3]), ragged([4, 2])
    with torch.no_grad():
        source = body.encode(x, source_at)
        ours = body.decode(y, target_at, source)
        hidden = x
        for layer in encoder:
            hidden = layer(hidden, src_key_padding_mask=~source_at.real)
        hidden = body.encoder.norm(hidden)
        out = y
        causal = torch.ones(4, 4, dtype=torch.bool).triu(1)
        for layer in decoder:
            out = layer(
                out,
                hidden,
                tgt_mask=causal,
                memory_key_padding_mask=~source_at.real,
                tgt_key_padding_mask=~target_at.real,
            )
        out = body.decoder.norm(out)
    torch.testing.assert_close(source.x[source_at.real], hidden[source_at.real])
    torch.testing.assert_close(ours[target_at.real], out[target_at.real])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_layers_that_leave_their_sums_to_the_next_are_those_one_after_the_other(norm) -> None:
    """In training, too: what dropout forgets is the same, and so are the gradients."""
    noisy = {"norm": norm, "dropout": 0.4, "attention_dropout": 0.3, "relu_dropout": 0.2}
    stack = Stack(vary(SMALL, noisy), 2, Causal(), reads=True).double().train()
    x, read = (torch.randn(2, 5, 16).double().requires_grad_() for _ in range(2))
    at, source = ragged([5, 3]), Encoded(read, ragged([5, 4]))
    found = []
    for plainly in (False, True):
        torch.manual_seed(3)
        if plainly:
            y = torch.nn.functional.dropout(x + stack.signal(at, FORGET, x), 0.4)
            for layer in stack.layers:
                y = layer(y, at, source)
            y = stack.norm(y)
        else:
            y = stack(x, at, source)
        slopes = torch.autograd.grad(y.square().sum(), [x, read, *stack.parameters()])
        found.append([y, *slopes])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_pre_norm_ends_in_a_norm_and_post_norm_does_not() -> None:
    assert isinstance(Stack(SMALL, 1, Full(), reads=False).norm, nn.LayerNorm)
    assert isinstance(
        Stack(vary(SMALL, {"norm": "post"}), 1, Full(), reads=False).norm, nn.Identity
    )


def test_without_positions_an_encoder_cannot_tell_order_and_with_them_it_can() -> None:
    torch.manual_seed(0)
    x, order = torch.randn(1, 6, 16).double(), torch.tensor([3, 1, 5, 0, 2, 4])
    at = ragged([6])
    for positions, same in [("none", True), ("sinusoid", False), ("sinusoid_t2t", False)]:
        body = Transformer(vary(SMALL, {"positions": positions})).double().eval()
        moved, stayed = body.encode(x[:, order], at).x, body.encode(x, at).x[:, order]
        assert torch.allclose(moved, stayed) is same


def test_a_decoder_with_its_pattern_is_causal_and_an_encoder_is_not() -> None:
    assert Transformer(SMALL).decoder.layers[0].attention.pattern.other == Causal()
    assert Transformer(SMALL).encoder.layers[0].attention.pattern == Visible()


def test_embeddings_are_scaled_on_the_way_in_and_padding_is_zero() -> None:
    model = build(SMALL, {"inputs": V, "targets": V}, True, Smoothing())
    x = model.targets(torch.tensor([[0, 3]]))
    assert x[0, 0].abs().sum() == 0
    torch.testing.assert_close(x[0, 1], model.targets.weight[3] * 4)
    torch.testing.assert_close(model.head(torch.ones(1, 1, 16))[0, 0], model.targets.weight.sum(1))


def test_a_language_model_without_a_source_and_with_one() -> None:
    config = TransformerLMConfig(**vars(vary(SMALL, {"positions": "sinusoid"})))
    batch = Batch({"targets": pad([[3, 4, 1], [5, 1]])})
    alone = build(config, {"targets": V}, True, Smoothing()).eval()
    assert isinstance(alone, LanguageModel) and alone.inputs is None
    memory = alone.start(batch)
    stepped = alone.step(torch.tensor([[0, 3, 4], [0, 5, 1]]), memory)
    real = batch.targets.at.real
    torch.testing.assert_close(stepped[real], alone.logits(batch)[real])


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(UsageError, match="reads a source, and this problem has none"):
        build(SMALL, {"targets": V}, True, Smoothing())
    tagger = build(
        TransformerEncoderConfig(**vars(SMALL)), {"inputs": V, "targets": V}, True, Smoothing()
    )
    with pytest.raises(UsageError, match="says one thing about each input token"):
        tagger.loss(Batch({"inputs": pad([[3, 4, 1]]), "targets": pad([[3, 1]])}))
    model = build(SMALL, {"inputs": V, "targets": V}, True, Smoothing())
    with pytest.raises(UsageError, match="call start"):
        from heedful.nn.memory import Memory

        model.step(torch.zeros(1, 1, dtype=torch.long), Memory())


def test_learned_positions_give_the_model_a_longest_sequence() -> None:
    model = build(
        vary(SMALL, {"positions": "learned:4"}), {"inputs": V, "targets": V}, True, Smoothing()
    )
    assert model.longest == 4
    with pytest.raises(HeedfulError, match="longer than the 4"):
        model.start(Batch({"inputs": pad([[3, 4, 5, 6, 1]])}))
