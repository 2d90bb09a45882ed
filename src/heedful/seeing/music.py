"""What a model listened to when it composed: for each note, the notes it looked at. Those are
earlier ones; of a melody that it has read, later ones too.

H heads, L symbols.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from heedful.data.batch import Batch, pad
from heedful.decoding.composing import Composed
from heedful.decoding.search import at_rest
from heedful.models.base import Model
from heedful.nn.telling import CROSS, SELF
from heedful.nn.watching import Glance, lookers, watch
from heedful.text.midi import Note
from heedful.text.music import MusicTokenizer
from heedful.text.specials import EOS

LOOKED = 1_024  # symbols at the end of a piece that are looked at, at most
STRONGEST = 4  # looks of a note that are kept, in each head


def seen(model: Model, tokenizer: MusicTokenizer, piece: Composed) -> dict[str, Any]:
    """A piece for a page: its notes, and the strongest looks of each note in each head.

    A look is [the note that is looked at, how much]; of what a note looked at, waits and loudnesses
    are none.
    """
    notes = tokenizer.notes(piece.ids)
    whose = owners(tokenizer, piece.ids, notes)
    given = {whose[i] for i in piece.given}
    return {
        "notes": [
            [round(n.start, 3), round(n.end, 3), n.pitch, n.velocity, int(i in given)]
            for i, n in enumerate(notes)
        ],
        "seconds": max(note.end for note in notes),
        "layers": _layers(model, tokenizer, piece, whose, len(notes)),
    }


def owners(
    tokenizer: MusicTokenizer, ids: Sequence[int], notes: Sequence[Note]
) -> list[int | None]:
    """The number of the note that each symbol is about: the one it begins, or that sounds then."""
    of_pitch: dict[int, list[int]] = {}
    for number, note in enumerate(notes):
        of_pitch.setdefault(note.pitch, []).append(number)
    begun: set[int] = set()
    found: list[int | None] = []
    for time, pitch, begins in tokenizer.places(ids):
        of = of_pitch.get(-1 if pitch is None else pitch, [])
        if begins:
            owner = next((i for i in of if notes[i].start == time and i not in begun), None)
            if owner is not None:
                begun.add(owner)
        else:
            sounding = [i for i in of if notes[i].start < time <= notes[i].end]
            owner = sounding[-1] if sounding else None
        found.append(owner)
    return found


def _layers(
    model: Model, tokenizer: MusicTokenizer, piece: Composed, whose: list[int | None], count: int
) -> list[dict[str, Any]]:
    """The looks by layer and head: for each note, those of the symbol that begins it."""
    if not lookers(model):
        return []
    ids, group = piece.ids, tokenizer.group
    first = max(0, len(ids) - min(LOOKED, model.longest or LOOKED))
    first = -(-first // group) * group
    begins = [place.begins for place in tokenizer.places(ids)][first:]
    whose = whose[first:]
    features = {"targets": pad([ids[first:]])}
    owned = {SELF: [None, *whose[:-1]]}  # whose each column is: a symbol is said after the start
    if piece.melody:
        features["inputs"] = pad([[*piece.melody[first // group :], EOS]])
        owned[CROSS] = [*whose[::group], None]
    layers: list[dict[str, Any]] = []

    def note(glance: Glance) -> None:
        weights = glance.weights[0].float().cpu().numpy()  # [H, L, K]
        columns = owned[glance.kind]
        if weights.shape[1:] == (len(whose), len(columns)):  # else the melody looks at itself
            heads = [_looks(head, whose, begins, columns, count) for head in weights]
            number = 1 + sum(one["kind"] == glance.kind for one in layers)
            layers.append(
                {"name": glance.name, "kind": glance.kind, "number": number, "heads": heads}
            )

    place = next(model.parameters()).device
    with torch.no_grad(), at_rest(model), watch(model, tuple(owned), tell=note):
        model.hidden(Batch(features).to(place))
    return layers


def _looks(
    weights: np.ndarray,
    whose: Sequence[int | None],
    begins: Sequence[bool],
    columns: Sequence[int | None],
    count: int,
) -> list[list[list[float]]]:
    """For each note, the notes that were looked at most. Row i says symbol i, and what column j
    holds is about the note `columns[j]`."""
    looks: list[list[list[float]]] = [[] for _ in range(count)]
    keys = [-1 if owner is None else owner for owner in columns]
    spread = np.zeros(count + 1)
    for place, owner in enumerate(whose):
        if owner is None or not begins[place]:
            continue
        spread[:] = 0
        np.add.at(spread, keys, weights[place])
        strongest = np.argsort(-spread[:count], kind="stable")[:STRONGEST]
        looks[owner] = [[int(i), round(float(spread[i]), 3)] for i in strongest if spread[i] > 0.01]
    return looks
