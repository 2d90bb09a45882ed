"""Every registered model that attends can be looked into, and what a page of it holds is what was
computed: weights recomputed by hand from what each part was given, without anybody watching."""

import base64
import json
import math
import re
from collections import defaultdict

import numpy as np
import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.decoding.translator import Translator
from heedful.errors import UsageError
from heedful.laws import enrolled
from heedful.models.building import build
from heedful.nn.alignment import Alignment
from heedful.nn.attention import Attention
from heedful.nn.between import Between
from heedful.nn.summaries import Attend
from heedful.nn.watching import lookers
from heedful.registry import models, presets
from heedful.seeing.attention import look
from heedful.text.labels import LabelTokenizer
from heedful.text.specials import EOS
from heedful.text.two_texts import TwoTextsTokenizer
from heedful.text.words import Words
from heedful.viz.attention import attention_page

TEXT, SECOND, TARGET = "the cow ate the hay", "it was hungry", "it was delicious hay"
WRITES = {"encoder", "decoder", "cross"}
# What each model looks at, as its look calls it. Nothing: it does not attend.
LOOKS: dict[str, set[str]] = {
    "caption_attend": {"cross"},
    "elmo": set(),
    "gnmt": {"cross"},
    "pair_classifier": {"summary", "to_first", "to_second"},
    "recurrent_lm": set(),
    "rnn_encoder_decoder": set(),
    "rnn_search": {"cross"},
    "seq2seq_lstm": set(),
    "skip_gram": set(),
    "text_classifier": {"summary"},
    "transformer": WRITES,
    "transformer_classifier": {"encoder", "summary"},
    "transformer_encoder": {"encoder"},
    "transformer_lm": {"decoder"},
}
LANGUAGE_MODELS = {"elmo", "recurrent_lm", "skip_gram", "transformer_lm"}
LABELS = ("bad", "fair", "good")
PRESETS = [*enrolled(), "skip_gram_words"]
# Where a preset's numbers leave some of it out.
SETTINGS = {"transformer_classifier_tiny": {"model.summary": "attend"}}


def kind_of(name: str) -> str:
    return presets.get(name)().model.kind


def made(name: str, settings: dict | None = None) -> Translator:
    """An untrained model of a preset, with a vocabulary of words."""
    preset = vary(presets.get(name)(), settings or SETTINGS.get(name, {}))
    kind = preset.model.kind
    words = Words().train([TEXT, SECOND, TARGET])
    inputs = TwoTextsTokenizer(words) if kind == "pair_classifier" else words
    targets = LabelTokenizer(LABELS) if kind.endswith("_classifier") else words
    tokenizers = {"targets": targets} | ({} if kind in LANGUAGE_MODELS else {"inputs": inputs})
    torch.manual_seed(2)
    shared = kind not in LANGUAGE_MODELS and inputs is targets
    model = build(preset.model, tokenizers, shared=shared, loss=preset.loss)
    with torch.no_grad():  # sharper than first weights are, so that weights differ
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return Translator(model.eval(), tokenizers, preset.decode)


def asked(translator: Translator) -> tuple[str, str]:
    """What it reads, and what it is to write about it."""
    kind = translator.model.config.kind
    if kind.endswith("_classifier"):
        return f"{TEXT}\t{SECOND}" if kind == "pair_classifier" else TEXT, "fair"
    same = kind == "transformer_encoder"  # says one thing about each token
    return (TEXT, TEXT) if same else ("", TARGET) if kind in LANGUAGE_MODELS else (TEXT, TARGET)


def softmax(scores: torch.Tensor) -> np.ndarray:
    return scores.double().softmax(-1).detach().numpy()


def of_attention(part: Attention, x, at, source=None, memory=None) -> np.ndarray:
    """softmax(QKᵀ/√E + bias), from the weights of the part and what it was given."""
    keys = source.x if part.reads else x
    if part.to_qkv is not None:
        to_q, to_k, _ = part.to_qkv.weight.chunk(3)
    else:
        to_q, to_k = part.to_q.weight, part.to_kv.weight.chunk(2)[0]
    heads, width = part.heads, part.width
    q = (x[0] @ to_q.T).view(-1, heads, width).transpose(0, 1)
    k = (keys[0] @ to_k.T).view(-1, part.kv_heads, width).transpose(0, 1)
    scores = q @ k.repeat_interleave(heads // part.kv_heads, 0).mT / math.sqrt(width)
    if part.bias is not None:
        scores = scores + part.bias(q[None], at, at)[0]
    if "Causal" in repr(part.pattern):
        ahead = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(ahead, -math.inf)
    return softmax(scores)


def of_summary(part: Attend, x, at, of) -> np.ndarray:
    """softmax(v·tanh(W x + b)) over the tokens of the text, 0 at those of another."""
    real = at.real[0]
    scores = torch.tanh(x[0] @ part.inner.weight.T + part.inner.bias) @ part.score.weight[0]
    found = np.zeros((1, 1, len(scores)))
    found[0, 0, real.numpy()] = softmax(scores[real])
    return found


def of_between(part: Between, x, first, second) -> dict[str, np.ndarray]:
    one, other = x[0][first.real[0]], x[0][second.real[0]]
    return {
        "to_second": softmax(one @ other.T)[None],
        "to_first": softmax(other @ one.T)[None],
    }


def computed(translator: Translator, text: str, target: str) -> dict[str, list[np.ndarray]]:
    """The weights of one plain pass, [H, Q, K] each, by the kind that a look gives them."""
    model, found = translator.model, defaultdict(list)
    steps: list[np.ndarray] = []

    def hook(part, given, out) -> None:
        if isinstance(part, Attention):
            behind = "decoder" if "Causal" in repr(part.pattern) else "encoder"
            found["cross" if part.reads else behind].append(of_attention(part, *given))
        elif isinstance(part, Alignment):
            steps.append(out.weights[0].double().detach().numpy())
        elif isinstance(part, Attend):
            found["summary"].append(of_summary(part, *given))
        elif isinstance(part, Between):
            for kind, weights in of_between(part, *given).items():
                found[kind].append(weights)

    rows = {"targets": pad([[*translator.tokenizers["targets"].encode(target), EOS]])}
    if "inputs" in translator.tokenizers:
        rows["inputs"] = pad([[*translator.tokenizers["inputs"].encode(text), EOS]])
    hooks = [part.register_forward_hook(hook) for part in model.modules()]
    model.hidden(Batch(rows))
    for one in hooks:
        one.remove()
    if steps:
        found["cross"].append(np.concatenate(steps)[None])
    if len(found["summary"]) > 1:  # a row for each of two texts
        found["summary"] = [np.concatenate(found["summary"], 1)]
    return {kind: layers for kind, layers in found.items() if layers}


def on_page(page: str) -> dict[str, list[np.ndarray]]:
    """The weights that a page holds, [H, Q, K] each, by their kind."""
    held = re.search(r'id="heedful-data">(.*?)</script>', page, re.DOTALL)
    (item,) = json.loads(held[1])["items"]
    found = {}
    for one in item["look"]["attentions"]:
        shape = (-1, len(one["queries"]["tokens"]), len(one["keys"]["tokens"]))
        found[one["kind"]] = [unpacked(layer["weights"]).reshape(shape) for layer in one["layers"]]
    return found


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<u2") / 65_535


def test_the_table_of_who_looks_at_what_is_complete() -> None:
    assert set(LOOKS) == set(models.names()) == {kind_of(name) for name in PRESETS}


@pytest.mark.parametrize("name", PRESETS)
def test_a_page_of_every_model_holds_what_was_computed(name: str) -> None:
    translator = made(name)
    text, target = asked(translator)
    kinds = LOOKS[kind_of(name)]
    assert bool(lookers(translator.model)) == bool(kinds)
    shown = text or target
    if not kinds:
        with pytest.raises(UsageError, match="attends to nothing, so there is nothing to see"):
            look(translator, shown)
        return
    seen = look(translator, shown, target if text else None)
    assert {one.kind for one in seen.attended} == kinds
    held = on_page(attention_page(name, [{"look": seen.to_json()}]))
    expected = computed(translator, text, target)
    assert held.keys() == expected.keys() == kinds
    for kind, layers in expected.items():
        assert len(held[kind]) == len(layers)
        for ours, theirs in zip(held[kind], layers, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-5, err_msg=kind)
            assert np.ptp(theirs) > 1e-3  # else equal weights would be no evidence


@pytest.mark.parametrize("summary", ["max", "mean", "first"])
def test_a_summary_that_is_no_attention_is_not_shown_as_such(summary: str) -> None:
    plain = made("text_classifier_tiny", {"model.summary": summary})
    with pytest.raises(UsageError, match=f"trained with model.summary={summary}"):
        look(plain, TEXT)
    pair = look(made("pair_classifier_tiny", {"model.summary": summary}), f"{TEXT}\t{SECOND}")
    assert [one.kind for one in pair.attended] == ["to_first", "to_second"]


def test_every_look_of_a_part_that_looks_twice_is_shown() -> None:
    seen = look(made("gnmt_tiny", {"model.context": "current"}), TEXT, TARGET)
    names = [layer.name for layer in seen.of("cross").layers]
    assert names == ["body.bottom.alignment", "body.bottom.alignment, time 2"]
    before, now = (layer.weights for layer in seen.of("cross").layers)
    assert np.abs(before - now).max() > 1e-3
