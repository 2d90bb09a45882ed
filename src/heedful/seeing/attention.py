"""What a model attended to when it read a text and wrote another: every weight, by name.

A decoder says a token from the one before it. So in its self-attention the rows are the tokens it
reads (the start first), and in attention to a source the tokens it says (the end last).
H heads, Q queries, K keys.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from heedful.data.batch import Batch
from heedful.decoding.search import at_rest
from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import LanguageModel, Model, shift_right
from heedful.nn.memory import Memory
from heedful.nn.watching import CROSS, SELF, Glance, lookers, watch
from heedful.seeing.pooled import pooled_side
from heedful.seeing.reading import Passage, model_of, passage
from heedful.seeing.rollout import rollout, through
from heedful.seeing.words import Side, alone, joined, side

ENCODER, DECODER = "encoder", "decoder"
KINDS = {
    ENCODER: "Encoder self-attention",
    DECODER: "Decoder self-attention",
    CROSS: "Attention to the source",
}
STEPS = 65_535  # a weight is packed as a whole number of so many parts of 1
START_NAME = "<start>"


@dataclass(frozen=True, eq=False)
class Layer:
    """One attention's weights, [H, Q, K]."""

    name: str
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Attended:
    """One kind of attention, through all its layers."""

    kind: str
    queries: Side
    keys: Side
    layers: tuple[Layer, ...]
    rollout: tuple[np.ndarray, ...] = ()  # [Q, K] a layer; empty where there is none
    pooled: bool = False  # keys are not tokens, but were made of several

    def mean(self, layer: int | None = None, head: int | None = None) -> np.ndarray:
        """The weights of one head, or the mean over the heads (and the layers), [Q, K]."""
        chosen = self.layers if layer is None else (self._layer(layer),)
        stacks = [one.weights if head is None else self._head(one, head) for one in chosen]
        return np.mean([stack.astype(np.float64).mean(0) for stack in stacks], axis=0)

    def _layer(self, number: int) -> Layer:
        if not 0 <= number < len(self.layers):
            raise UsageError(
                f"no layer {number + 1}: {KINDS[self.kind].lower()} has {len(self.layers)}"
            )
        return self.layers[number]

    def _head(self, layer: Layer, number: int) -> np.ndarray:
        if not 0 <= number < len(layer.weights):
            raise UsageError(f"no head {number + 1}: {layer.name} has {len(layer.weights)}")
        return layer.weights[number : number + 1]


@dataclass(frozen=True, eq=False)
class Look:
    """A text, its target, and all that was attended to."""

    text: str
    target: str
    model: str
    attended: tuple[Attended, ...]

    def of(self, kind: str) -> Attended:
        for one in self.attended:
            if one.kind == kind:
                return one
        there = ", ".join(one.kind for one in self.attended)
        raise UsageError(f"this model has no attention of the kind '{kind}'. It has: {there}")

    def alignment(self) -> tuple[list[str], list[str], np.ndarray] | None:
        """Words said, words read, and the mean weight between them; None without a source."""
        for one in self.attended:
            if one.kind == CROSS:
                weights = joined(one.mean(), one.queries, one.keys)
                return one.queries.joined, one.keys.joined, weights
        return None

    def to_json(self) -> dict[str, Any]:
        """For a page: weights packed in base64, two bytes each, lowest first, in `scale` parts."""
        return {**self._said(), "scale": STEPS, "attentions": [_packed(a) for a in self.attended]}

    def numbers(self) -> dict[str, Any]:
        """For a script: weights as they are, lists of lists."""
        return {**self._said(), "attentions": [_plain(a) for a in self.attended]}

    def _said(self) -> dict[str, Any]:
        found = self.alignment()
        alignment = None
        if found is not None:
            rows, columns, weights = found
            shown = weights.round(6).tolist()
            alignment = {"rows": rows, "columns": columns, "weights": shown}
        return {
            "format": 1,
            "text": self.text,
            "target": self.target,
            "model": self.model,
            "alignment": alignment,
        }


def look(translator: Translator, text: str, target: str | None = None) -> Look:
    """Watch the model read `text` and write `target`, or what it writes by itself."""
    model = model_of(translator)
    if not lookers(model):
        raise UsageError(f"a model of the kind '{model.config.kind}' attends to nothing")
    shown = passage(translator, text, target)
    glances = _glances(model, shown.batch.to(translator.device))
    sides = _sides(translator, model, shown)
    kinds = [kind for kind in KINDS if any(kind == seen for seen, _ in glances)]
    attended = {
        kind: _attended(model, kind, [glance for seen, glance in glances if seen == kind], sides)
        for kind in kinds
    }
    said = translator.tokenizers["targets"].decode(shown.target)
    return Look(text, str(said), model.config.kind, tuple(_rolled(attended).values()))


def _glances(model: Model, batch: Batch) -> list[tuple[str, Glance]]:
    """All that is looked at, each with its kind, in the order of the layers."""
    with torch.no_grad(), at_rest(model):
        if isinstance(model, LanguageModel):
            return [(DECODER, glance) for glance in _heard(model, lambda: model.hidden(batch))]
        memory: list[Memory] = []
        reading = _heard(model, lambda: memory.append(model.start(batch)))
        ids = shift_right(batch.targets)
        writing = _heard(model, lambda: model.step(ids, memory[0]))
    kinds = {SELF: DECODER, CROSS: CROSS}
    return [(ENCODER, one) for one in reading] + [(kinds[one.kind], one) for one in writing]


def _heard(model: Model, work: Callable[[], Any]) -> list[Glance]:
    heard: list[Glance] = []
    with watch(model, tell=heard.append):
        work()
    return heard


def _sides(translator: Translator, model: Model, shown: Passage) -> dict[str, tuple[Side, Side]]:
    """What the queries and the keys of each kind are."""
    targets = translator.tokenizers["targets"]
    said = side(targets, shown.target)
    read = alone(START_NAME) + side(targets, shown.target[:-1])
    source = alone()
    if shown.source is not None:
        source = side(translator.tokenizers["inputs"], shown.source)
    if isinstance(model, LanguageModel):
        return {DECODER: (source + read, source + read)}
    return {ENCODER: (source, source), DECODER: (read, read), CROSS: (said, source)}


def _attended(
    model: Model, kind: str, glances: list[Glance], sides: dict[str, tuple[Side, Side]]
) -> Attended:
    queries, keys = sides[kind]
    parts = lookers(model)
    found = [getattr(parts[glance.name], "pool", None) for glance in glances]
    if len({type(pool) for pool in found}) > 1:
        raise UsageError("cannot show layers with different pools of keys beside each other")
    pool = found[0]
    places: np.ndarray | slice = slice(None)
    if pool is not None:
        keys, places = pooled_side(pool, glances[0].keys, keys)
    layers = []
    for number, glance in enumerate(glances):
        weights = glance.weights[0].float().cpu().numpy()[:, :, places]
        if weights.shape[1:] != (len(queries.tokens), len(keys.tokens)):
            raise HeedfulError(
                f"{glance.name} looked from {weights.shape[1]} places at {weights.shape[2]}, and "
                f"there are {len(queries.tokens)} and {len(keys.tokens)} tokens to write there. "
                "This model cannot be shown"
            )
        again = sum(before.name == glance.name for before in glances[:number])
        name = f"{glance.name}, time {again + 1}" if again else glance.name
        layers.append(Layer(name, weights))
    return Attended(kind, queries, keys, tuple(layers), pooled=pool is not None)


def _rolled(attended: dict[str, Attended]) -> dict[str, Attended]:
    """The same, with rollouts where keys are tokens."""
    found = dict(attended)
    for kind, one in attended.items():
        stacks = [layer.weights for layer in one.layers]
        if one.pooled:
            continue
        if kind != CROSS:
            made = rollout(stacks)
        elif ENCODER in found and found[ENCODER].rollout:
            made = [through(weights, found[ENCODER].rollout[-1]) for weights in stacks]
        else:
            continue
        found[kind] = Attended(kind, one.queries, one.keys, one.layers, tuple(made))
    return found


def _about(one: Attended) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "title": KINDS[one.kind],
        "pooled": one.pooled,
        "queries": one.queries.to_json(),
        "keys": one.keys.to_json(),
    }


def _packed(one: Attended) -> dict[str, Any]:
    layers = [
        {"name": layer.name, "heads": len(layer.weights), "weights": pack(layer.weights)}
        for layer in one.layers
    ]
    return {**_about(one), "layers": layers, "rollout": [pack(made) for made in one.rollout]}


def _plain(one: Attended) -> dict[str, Any]:
    layers = [{"name": layer.name, "weights": layer.weights.tolist()} for layer in one.layers]
    return {**_about(one), "layers": layers, "rollout": [made.tolist() for made in one.rollout]}


def pack(weights: np.ndarray) -> str:
    """Weights from 0 to 1 in two bytes each: off by at most 1 / 131,070."""
    whole = np.rint(weights.clip(0, 1) * STEPS).astype("<u2")
    return base64.b64encode(whole.tobytes()).decode("ascii")
