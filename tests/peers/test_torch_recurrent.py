"""Recurrent models on nn.LSTM and nn.GRU in our shapes: with our weights they say what ours say."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.errors import UsageError
from heedful.models.base import Model
from heedful.models.building import build
from heedful.nn.cells import Gates
from heedful.nn.losses import Smoothing
from heedful.nn.recurrent import Bidirectional, Recurrent
from heedful.peers import torch_recurrent
from heedful.peers.torch_search import TorchSearch
from heedful.registry import presets
from heedful.text.specials import PAD, START

SIZE = 40
SHAPES = {
    "sutskever": ("lstm_seq2seq_tiny", {}),
    "gru": ("lstm_seq2seq_tiny", {"cell": "gru", "reading": "forward", "tie": "all"}),
    "bahdanau": ("rnn_search_tiny", {"cell": "gru", "tie": "targets"}),
    "luong": ("luong_tiny", {"score": "general"}),
    "both_ways": ("luong_tiny", {"reading": "both", "bridge": "linear", "output": "linear"}),
    "from_nothing": ("rnn_search_tiny", {"cell": "lstm", "layers": 2, "bridge": "none"}),
}


def pair(name: str) -> tuple[Model, nn.Module]:
    """Ours and theirs, with the same weights."""
    preset, changes = SHAPES[name]
    config = vary(presets.get(preset)().model, {**changes, "dropout": 0.0})
    torch.manual_seed(3)
    ours = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing()).eval()
    theirs = torch_recurrent.build(config, SIZE).eval()
    give(ours, theirs)
    return ours, theirs


@torch.no_grad()
def give(ours: Model, theirs: nn.Module) -> None:
    words, body = theirs.words, ours.body
    words.target.weight.copy_(ours.targets.weight)
    words.source.weight.copy_(ours.inputs.weight)
    words.softmax.weight.copy_(ours.head.embedding.weight)
    for embedding in (words.target, words.source):
        embedding.weight[PAD] = 0.0  # ours looks up zeros there
    if isinstance(body.to_out, nn.Linear):
        theirs.to_out.weight.copy_(body.to_out.weight)
    if not isinstance(theirs, TorchSearch):
        layers(body.reader.layers, theirs.reader)
        layers(body.writer.layers, theirs.writer)
        return
    layers(body.encoder.layers, theirs.encoder)
    for gates, cell in zip(body.decoder.layers, theirs.cells, strict=True):
        gates_of(gates, cell, "")
    score = body.decoder.alignment.score
    theirs.to_k.weight.copy_(score.to_k.weight)
    if theirs.v is not None:
        theirs.to_q.weight.copy_(score.to_q.weight)
        theirs.v.weight.copy_(score.v)
    bridges = [to for parts in body.bridge.made for to in parts]
    for mine, to in zip(bridges, theirs.bridges, strict=True):
        to.load_state_dict(mine.state_dict())
    if hasattr(body, "maxout"):
        theirs.maxout.load_state_dict(body.maxout.linear.state_dict())
    else:
        theirs.to_said.weight.copy_(body.to_said.weight)


def layers(ours: nn.ModuleList, theirs: nn.Module) -> None:
    for number, layer in enumerate(ours):
        if isinstance(layer, Bidirectional):
            gates_of(layer.forwards.gates, theirs, f"_l{number}")
            gates_of(layer.backwards.gates, theirs, f"_l{number}_reverse")
        else:
            assert isinstance(layer, Recurrent)
            gates_of(layer.gates, theirs, f"_l{number}")


def gates_of(gates: Gates, theirs: nn.Module, suffix: str) -> None:
    def part(name: str) -> Tensor:
        return getattr(theirs, f"{name}{suffix}")

    part("weight_ih").copy_(gates.weight_x)
    part("weight_hh").copy_(gates.weight_h)
    part("bias_ih").copy_(gates.bias)
    part("bias_hh").zero_()
    if (inner := getattr(gates, "bias_h", None)) is not None:
        part("bias_hh")[2 * gates.dim :].copy_(inner)


@pytest.mark.parametrize("name", SHAPES)
def test_with_our_weights_it_says_the_same(name: str) -> None:
    ours, theirs = pair(name)
    for weight in ours.parameters():  # also what begins as zeros
        weight.data += 0.1 * torch.randn_like(weight)
    give(ours, theirs)
    sources, targets = pad([[5, 6, 7, 1], [9, 8, 4, 1]]), pad([[8, 4, 1], [7, 6, 5, 4, 1]])
    given = F.pad(targets.ids[:, :-1], (1, 0), value=START)
    with torch.no_grad():
        wanted = ours.logits(Batch({"inputs": sources, "targets": targets}))
        said = theirs(sources.ids, (sources.ids != PAD).long(), given).logits
    real = targets.at.real  # and padding, whose vector is no word's, is never said
    torch.testing.assert_close(said[real][:, 1:], wanted[real][:, 1:], atol=1e-4, rtol=1e-4)


def test_padding_is_not_looked_at() -> None:
    _, theirs = pair("bahdanau")
    seen = []
    theirs.encoder.register_forward_hook(lambda *parts: seen.append(parts[2][0]))
    padded = torch.tensor([[5, 6, 7, 1, PAD, PAD]])
    with torch.no_grad():
        said = theirs(padded, (padded != PAD).long(), torch.tensor([[START, 8]])).logits
        context = theirs.look(torch.ones(1, 32), theirs.to_k(seen[0]), seen[0], padded == PAD)
        alone = seen[0][:, :4]
        wanted = theirs.look(torch.ones(1, 32), theirs.to_k(alone), alone, padded[:, :4] == PAD)
    torch.testing.assert_close(context, wanted)
    assert said.isfinite().all()


def test_chos_model_has_as_many_weights_as_ours_but_for_second_biases() -> None:
    config = presets.get("rnn_encoder_decoder_tiny")().model
    ours = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    theirs = torch_recurrent.build(config, SIZE)
    counts = [sum(p.numel() for p in model.parameters()) for model in (ours, theirs)]
    inside_reset = config.hidden  # of the writer, ours has a bias for the state there too
    assert counts[1] - counts[0] == 2 * 3 * config.hidden - inside_reset


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("gnmt_tiny", {}, "for a model 'gnmt'"),
        ("rnn_search_tiny", {}, "reset=before"),
        ("lstm_seq2seq_tiny", {"share": True, "reading": "forward"}, "share=true"),
        ("luong_tiny", {"feed": False}, "model.feed=true"),
        ("luong_tiny", {"coverage": True}, "coverage=true"),
        ("luong_tiny", {"reading": "first_both", "bridge": "linear"}, "first_both"),
    ],
)
def test_a_shape_that_it_cannot_have_is_named(name: str, changes: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        torch_recurrent.build(vary(presets.get(name)().model, changes), SIZE)
