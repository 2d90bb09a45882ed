"""Accompanying: the melody as it was given, the other voices as the model says them."""

import pytest
import torch

from heedful.data.batch import Batch, pad
from heedful.decoding.accompanying import accompany, windows
from heedful.decoding.composing import Composing
from heedful.models.building import build
from heedful.models.transformer import TransformerConfig
from heedful.nn.attention import AttentionConfig
from heedful.nn.losses import Smoothing
from heedful.text.chorale import Chorale
from heedful.text.melody import Melody
from heedful.text.specials import EOS, RESERVED

CHORALE, MELODY = Chorale().train([]), Melody().train([])
TUNE = MELODY.encode("72 72 74 - 76 77 " * 2)
LIKELIEST = Composing(seconds=60, temperature=0)


def made(positions: str = "sinusoid"):
    torch.manual_seed(5)
    config = TransformerConfig(
        dim=16,
        layers=2,
        heads=2,
        ff=16,
        dropout=0.0,
        positions=positions,
        attention=AttentionConfig(bias="skew:16"),
    )
    vocabularies = {"inputs": MELODY, "targets": CHORALE}
    return build(config, vocabularies, shared=False, loss=Smoothing()).eval()


def test_the_melody_stays_and_the_others_are_what_the_model_says_of_all_before() -> None:
    model = made()
    piece = accompany(model, CHORALE, TUNE, LIKELIEST, 1_025)
    assert len(piece.ids) == 4 * len(TUNE) and piece.ids[::4] == TUNE == piece.melody
    assert piece.given == range(0, 48, 4)
    with torch.no_grad():
        batch = Batch({"inputs": pad([[*TUNE, EOS]]), "targets": pad([piece.ids])})
        logits = model.logits(batch)[0]
    logits[:, :RESERVED] = -torch.inf
    said = logits.argmax(-1).tolist()
    assert [s for i, s in enumerate(said) if i % 4] == [s for i, s in enumerate(piece.ids) if i % 4]
    other = accompany(model, CHORALE, MELODY.encode("60 62 " * 6), LIKELIEST, 1_025)
    assert other.ids[1::4] != piece.ids[1::4]


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    model = made()
    one, again, other = (
        accompany(model, CHORALE, TUNE[:6], Composing(seconds=60, seed=seed), 1_025)
        for seed in (1, 1, 2)
    )
    assert one == again != other and min(one.ids) >= RESERVED


@pytest.mark.parametrize("positions", ["sinusoid", "learned:32"])
def test_a_long_melody_is_accompanied_window_by_window(positions: str) -> None:
    model = made(positions)
    piece = accompany(model, CHORALE, TUNE, LIKELIEST, 33)  # windows of 8 sixteenths
    assert piece.ids[::4] == TUNE and len(piece.ids) == 48
    first = accompany(model, CHORALE, TUNE[:8], LIKELIEST, 33)
    assert piece.ids[:32] == first.ids
    with torch.no_grad():  # the second window: 4 rows that were there, and 4 more
        batch = Batch({"inputs": pad([[*TUNE[4:12], EOS]]), "targets": pad([piece.ids[16:48]])})
        logits = model.logits(batch)[0]
    logits[:, :RESERVED] = -torch.inf
    said = logits.argmax(-1).tolist()
    assert [said[i] for i in range(16, 32) if i % 4] == [
        piece.ids[16 + i] for i in range(16, 32) if i % 4
    ]


def test_windows_leave_nothing_out() -> None:
    assert windows(8, 8) == [(0, 0, 8)]
    assert windows(13, 8) == [(0, 0, 8), (4, 8, 12), (8, 12, 13)]
    for rows in range(1, 20):
        for window in range(2, 9):
            found = windows(rows, window)
            assert [i for _, done, end in found for i in range(done, end)] == list(range(rows))
            assert all(end - begin <= window for begin, _, end in found)


def test_of_a_melody_longer_than_asked_for_the_beginning_is_accompanied() -> None:
    said: list[str] = []
    piece = accompany(made(), CHORALE, TUNE, Composing(seconds=1), 1_025, said.append)
    assert CHORALE.seconds(piece.ids) == 1 and piece.melody == TUNE[:8]
    assert said == ["the melody lasts 1.5 seconds: the first 1.0 are accompanied"]
