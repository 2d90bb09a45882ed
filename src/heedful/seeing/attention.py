"""What a model attended to when it read a text and wrote another: every weight, by name.

A decoder says a token from the one before it. So in its self-attention the rows are the tokens it
reads (the start first), and in attention to a source the tokens it says (the end last).
H heads, Q queries, K keys.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from heedful.data.batch import Batch
from heedful.decoding.search import at_rest
from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import LanguageModel, Model, shift_right
from heedful.models.classifier import Classifier
from heedful.nn.memory import Memory
from heedful.nn.telling import CROSS, SELF, SUMMARY
from heedful.nn.watching import Glance, lookers, watch
from heedful.seeing.judging import judge
from heedful.seeing.looks import DECODER, ENCODER, KINDS, Attended, Label, Layer, Look
from heedful.seeing.pooled import pooled_side
from heedful.seeing.reading import Passage, model_of, passage
from heedful.seeing.rollout import rollout, through
from heedful.seeing.words import Side, alone, side

START_NAME = "<start>"


def look(translator: Translator, text: str, target: str | None = None) -> Look:
    """Watch the model read `text` and write `target`, or what it writes by itself.

    Of a classifier, the target is a label.
    """
    model = model_of(translator)
    if not lookers(model):
        raise UsageError(_nothing(model))
    shown = passage(translator, text, target)
    labels: tuple[Label, ...] = ()
    if isinstance(model, Classifier):
        judged = judge(translator, model, shown)
        glances, sides, labels = judged.glances, judged.sides, judged.labels
    else:
        glances = _glances(model, shown.batch.to(translator.device))
        sides = _sides(translator, model, shown)
    attended = {
        kind: _attended(model, kind, found, sides)
        for kind in KINDS
        if (found := [one for one in glances if one.kind == kind])
    }
    said = translator.tokenizers["targets"].decode(shown.target)
    return Look(text, str(said), model.config.kind, tuple(_rolled(attended).values()), labels)


def _nothing(model: Model) -> str:
    kind, summary = model.config.kind, getattr(model.config, "summary", None)
    if summary is None:
        return f"a model of the kind '{kind}' attends to nothing, so there is nothing to see"
    return (
        f"this model of the kind '{kind}' attends to nothing, so there is nothing to see: it was "
        f"trained with model.summary={summary}. One with model.summary=attend does attend"
    )


def _glances(model: Model, batch: Batch) -> list[Glance]:
    """All that is looked at, in the order of the layers, by the kinds of a look."""
    with torch.no_grad(), at_rest(model):
        if isinstance(model, LanguageModel):
            return _heard(model, lambda: model.hidden(batch), {SELF: DECODER})
        memory: list[Memory] = []
        reading = _heard(model, lambda: memory.append(model.start(batch)), {SELF: ENCODER})
        ids = shift_right(batch.targets)
        return reading + _heard(model, lambda: model.step(ids, memory[0]), {SELF: DECODER})


def _heard(model: Model, work: Callable[[], Any], called: dict[str, str]) -> list[Glance]:
    heard: list[Glance] = []
    with watch(model, tell=heard.append):
        work()
    return [replace(one, kind=called.get(one.kind, one.kind)) for one in heard]


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
    """The same, with rollouts where keys are tokens and what they were made of is known."""
    found = dict(attended)
    for kind, one in attended.items():
        stacks = [layer.weights for layer in one.layers]
        if one.pooled:
            continue
        if kind in (ENCODER, DECODER):
            made = rollout(stacks)
        elif kind in (CROSS, SUMMARY) and ENCODER in found and found[ENCODER].rollout:
            made = [through(weights, found[ENCODER].rollout[-1]) for weights in stacks]
        else:
            continue
        found[kind] = replace(one, rollout=tuple(made))
    return found
