"""What a classifier looked at when it read a text, or two, and how likely each label is to it.

The attention is the same whatever label is said. L length of the source.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from heedful.data.batch import Rows
from heedful.decoding.search import at_rest
from heedful.decoding.translator import Translator
from heedful.errors import UsageError
from heedful.models.classifier import Classifier, PairClassifier, apart
from heedful.nn.telling import BETWEEN, SELF, SUMMARY
from heedful.nn.watching import Glance, watch
from heedful.seeing.looks import ENCODER, TO_FIRST, TO_SECOND, Label
from heedful.seeing.reading import Passage
from heedful.seeing.words import Side, alone, side
from heedful.text.specials import EOS, RESERVED

WHOLE, FIRST, SECOND = "<summary>", "<first>", "<second>"  # what looks when a text is summed up


@dataclass(frozen=True, eq=False)
class Judged:
    """All that was looked at, what stands beside each kind of it, and every label, best first."""

    glances: list[Glance]
    sides: dict[str, tuple[Side, Side]]
    labels: tuple[Label, ...]


def judge(translator: Translator, model: Classifier, shown: Passage) -> Judged:
    """Watch a classifier read."""
    names, batch = translator.tokenizers["targets"], shown.batch.to(translator.device)
    if shown.target[:1] == [EOS]:
        raise UsageError("there is no label in the target: name one, or leave the target out")
    heard: list[Glance] = []
    with torch.no_grad(), at_rest(model), watch(model, tell=heard.append):
        memory = model.start(batch)
        scores = model.step(batch.targets.ids[:, :1], memory)[0, 0]
    shares = scores.float().softmax(-1)[RESERVED:].tolist()
    labels = zip(names.pieces(range(RESERVED, RESERVED + len(shares))), shares, strict=True)
    texts = _texts(model, batch.inputs)
    return Judged(
        _glances(heard, texts),
        _sides(translator, shown, texts),
        tuple(Label(*one) for one in sorted(labels, key=lambda one: -one[1])),
    )


def _texts(model: Classifier, source: Rows) -> list[Tensor]:
    """Where in the source each text stands that is read apart, [L]; one without a token is none."""
    if not isinstance(model, PairClassifier):
        return [source.at.real[0]]
    return [text.real[0] for text in apart(source.ids, source.at) if text.real.any()]


def _glances(heard: list[Glance], texts: list[Tensor]) -> list[Glance]:
    """The looks as they are to be shown: between two texts a matrix each way, and of summaries a
    row for each text."""
    found = [replace(one, kind=ENCODER) for one in heard if one.kind == SELF]
    for one in heard:
        if one.kind == BETWEEN and len(texts) == 2:
            first, second = texts
            onward = one.weights[:, :, first][..., second]
            back = one.weights[:, :, second][..., first]
            found.append(replace(one, kind=TO_SECOND, weights=onward))
            found.append(replace(one, kind=TO_FIRST, weights=back))
    summaries = [one for one in heard if one.kind == SUMMARY and one.weights.any()]
    if len(texts) == 2 and summaries:
        rows = torch.cat([one.weights for one in summaries], 2)
        summaries = [replace(summaries[0], weights=rows)]
    return found + summaries


def _sides(
    translator: Translator, shown: Passage, texts: list[Tensor]
) -> dict[str, tuple[Side, Side]]:
    """What the queries and the keys of each kind are."""
    assert shown.source is not None
    inputs, ids = translator.tokenizers["inputs"], torch.tensor(shown.source)
    source = side(inputs, shown.source)
    if len(texts) < 2:
        return {ENCODER: (source, source), SUMMARY: (alone(WHOLE), source)}
    first, second = (side(inputs, ids[text.cpu()].tolist()) for text in texts)
    return {
        ENCODER: (source, source),
        TO_SECOND: (first, second),
        TO_FIRST: (second, first),
        SUMMARY: (alone(FIRST, SECOND), source),
    }
