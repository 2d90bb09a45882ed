"""Accompanying: the other voices to a melody.

Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281: an encoder reads the
melody, and the decoder writes all voices, the melody among them. Departs from the paper: of the
voice that is the melody nothing is drawn, so that it comes out as it was given.
"""

from collections.abc import Callable, Sequence

import torch

from heedful.decoding.composing import Choosing, Composed, Composing, Player
from heedful.decoding.search import at_rest
from heedful.models.base import Model
from heedful.text.chorale import SECONDS, ChoraleTokenizer


def accompany(
    model: Model,
    tokenizer: ChoraleTokenizer,
    melody: Sequence[int],
    how: Composing,
    trained: int,
    note: Callable[[str], None] = lambda _: None,
) -> Composed:
    """All voices to `melody`, an id a sixteenth, which is the first of them.

    A melody longer than the `trained` symbols is accompanied a window at a time, each of which
    begins with the last half of what there is already.
    """
    rows = min(len(melody), max(1, int(how.seconds / SECONDS)))
    if rows < len(melody):
        note(
            f"the melody lasts {len(melody) * SECONDS:.1f} seconds: the first "
            f"{rows * SECONDS:.1f} are accompanied"
        )
    voices = tokenizer.group
    window = max(2, min(trained, model.longest or trained) // voices)
    ids: list[int] = []
    choose = Choosing(how)
    with torch.inference_mode(), at_rest(model):
        for begin, done, end in windows(rows, window):
            player = Player(model, ids[begin * voices : done * voices], melody[begin:end])
            for row in range(done, end):
                for voice in range(voices):
                    ids.append(choose(player.logits) if voice else melody[row])
                    player.hear(ids[-1])
    return Composed(ids, range(0, len(ids), voices), melody[:rows])


def windows(rows: int, window: int) -> list[tuple[int, int, int]]:
    """Where each window begins, how far it is done already, and where it ends."""
    found, done = [], 0
    while done < rows:
        begin = max(0, done - window // 2)
        end = min(rows, begin + window)
        found.append((begin, done, end))
        done = end
    return found
