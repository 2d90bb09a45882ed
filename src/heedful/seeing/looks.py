"""A look into a model as a value: every weight, by name, and as JSON for a page or a script.

H heads, Q queries, K keys.
"""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from heedful.errors import UsageError
from heedful.nn.telling import CROSS, SUMMARY
from heedful.seeing.words import Side, joined

ENCODER, DECODER, TO_SECOND, TO_FIRST = "encoder", "decoder", "to_second", "to_first"
KINDS = {
    ENCODER: "Encoder self-attention",
    DECODER: "Decoder self-attention",
    CROSS: "Attention to the source",
    SUMMARY: "Summary of what is read",
    TO_FIRST: "Second text, looking at the first",
    TO_SECOND: "First text, looking at the second",
}
STEPS = 65_535  # a weight is packed as a whole number of so many parts of 1


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


@dataclass(frozen=True)
class Label:
    """What a classifier may say, and how likely it is."""

    name: str
    probability: float


@dataclass(frozen=True, eq=False)
class Look:
    """A text, its target, and all that was attended to."""

    text: str
    target: str
    model: str
    attended: tuple[Attended, ...]
    labels: tuple[Label, ...] = ()  # of a classifier: every one, best first

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
            "labels": [vars(label) for label in self.labels],
            "alignment": alignment,
        }


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
