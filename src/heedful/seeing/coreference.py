"""Two sentences that differ in one word, and what another word looks at in each.

The Transformer's talks show it: in "The animal didn't cross the street because it was too tired"
and "… too wide", "it" looks at the animal, then at the street. Every head of the encoder is
compared, word by word; what moved is half the sum of the differences of its weights.
"""

from typing import Any

import numpy as np

from heedful.decoding.translator import Translator
from heedful.errors import UsageError
from heedful.seeing.attention import look
from heedful.seeing.looks import DECODER, ENCODER, Attended, Look
from heedful.seeing.words import joined


def coreference(
    translator: Translator, text: str, against: str, word: str = "it"
) -> dict[str, Any]:
    """What `word` looks at in both, head by head; the heads that change most come first."""
    looks = [look(translator, one) for one in (text, against)]
    attended = [_reading(one) for one in looks]
    words = [one.queries.joined for one in attended]
    changed = _changed(*words)
    place = _place(words[0], word, changed)
    heads = []
    for layer in range(len(attended[0].layers)):
        pair = [
            joined(one.layers[layer].weights, one.queries, one.keys)[:, place] for one in attended
        ]
        for head, weights in enumerate(zip(*pair, strict=True)):
            heads.append(
                {
                    "layer": layer,
                    "head": head,
                    "change": float(np.abs(weights[0] - weights[1]).sum() / 2),
                    "weights": [row.tolist() for row in weights],
                }
            )
    return {
        "format": 1,
        "word": word,
        "changed": changed,
        "sides": [
            {"text": one.text, "target": one.target, "words": names, "place": place}
            for one, names in zip(looks, words, strict=True)
        ],
        "heads": sorted(heads, key=lambda head: -head["change"]),
    }


def _reading(seen: Look) -> Attended:
    """The attention with which a sentence is read: the encoder's, or a language model's."""
    kinds = [one.kind for one in seen.attended]
    if ENCODER not in kinds and DECODER not in kinds:
        raise UsageError(
            f"cannot compare what a word looks at: in a model of the kind '{seen.model}' no word "
            f"looks at others of its own text. It has: {', '.join(kinds)}"
        )
    found = seen.of(ENCODER if ENCODER in kinds else DECODER)
    if found.pooled:
        raise UsageError(
            "cannot compare word by word: this model's keys are joined from several tokens "
            "(model.attention.pool)"
        )
    return found


def _changed(one: list[str], other: list[str]) -> int:
    """The place of the word in which they differ."""
    if len(one) != len(other):
        raise UsageError(
            f"the two texts must differ in one word: the first has {len(one)} words, the other "
            f"{len(other)} (marks and the end are counted)"
        )
    places = [place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(places) != 1:
        raise UsageError(f"the two texts must differ in one word, and differ in {len(places)}")
    return places[0]


def _place(words: list[str], word: str, changed: int) -> int:
    """Where the word stands: the one nearest to the word that changes, if there are several."""
    places = [place for place, one in enumerate(words) if one.lower() == word.lower()]
    if not places:
        raise UsageError(f"there is no word '{word}' in the text. It has: {', '.join(words)}")
    return min(places, key=lambda place: (abs(place - changed), place))
