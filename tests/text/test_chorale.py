"""Chorales on the grid of sixteenths."""

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import HeedfulError
from heedful.text import files
from heedful.text.chorale import REST, Chorale, ChoraleTokenizer, on_grid, sung, transposed
from heedful.text.midi import Note, composed, word
from heedful.text.specials import RESERVED

REAL = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "jsb_chorales"


def tokenizer() -> ChoraleTokenizer:
    return Chorale().train([])


GRIDS = st.lists(
    st.lists(st.sampled_from([REST, 48, 50, 60, 62, 72]), min_size=4, max_size=4),
    min_size=1,
    max_size=12,
)


@settings(deadline=None, max_examples=100)
@given(GRIDS)
def test_a_grid_goes_to_midi_and_back(grid: list[list[int]]) -> None:
    while grid and all(pitch == REST for pitch in grid[-1]):
        grid = grid[:-1]  # MIDI has no silence at its end
    voices = {v for row in grid for v, pitch in enumerate(row) if pitch != REST}
    if len(voices) < 2:
        return
    ids = [pitch + RESERVED for row in grid for pitch in row]
    assert tokenizer().encode(tokenizer().decode(ids)) == ids
    assert tokenizer().seconds(ids) == len(grid) / 8


def test_a_pitch_that_stays_is_one_note_of_its_voice() -> None:
    text = "72 67 60 48 72 67 - 50 74"
    ids = tokenizer().encode(text)
    assert " ".join(tokenizer().pieces(ids)) == text
    assert tokenizer().notes(ids) == sung([72, 67, 60, 48, 72, 67, REST, 50, 74])
    found = {(n.start, n.end, n.pitch, n.channel) for n in tokenizer().notes(ids)}
    assert found == {
        (0.0, 0.25, 72, 0),
        (0.25, 0.375, 74, 0),
        (0.0, 0.25, 67, 1),
        (0.0, 0.125, 60, 2),
        (0.0, 0.125, 48, 3),
        (0.125, 0.25, 50, 3),
    }
    assert tokenizer().places(ids)[3:] == [
        (0.0, 48, True),
        (0.125, 72, False),
        (0.125, 67, False),
        (0.125, None, False),
        (0.125, 50, True),
        (0.25, 74, True),
    ]


def test_other_music_is_sung_by_its_highest_four_pitches() -> None:
    notes = [Note(0, 2, pitch, 64) for pitch in (40, 50, 60, 70, 80)] + [Note(1, 1.2, 90, 64)]
    assert on_grid(notes) == [[80, 70, 60, 50], [90, 80, 70, 60]]
    assert on_grid([Note(0, 1, 60, 64), Note(0, 1, 62, 64)]) == [[62, 60, REST, REST]]
    single = composed([Note(0.0, 0.25, 60, 64)])
    assert tokenizer().encode(word(single)) == tokenizer().encode("60 - - - 60 - - -")


def test_transposing_keeps_silence() -> None:
    assert transposed([[72, REST, 127, 0]], 1) == [[73, REST, REST, 1]]


def test_it_is_saved_and_loaded_and_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    tokenizer().save(path)
    assert isinstance(files.load(path), ChoraleTokenizer)
    path.write_text(path.read_text().replace("4", "5"))
    with pytest.raises(HeedfulError, match="has voices: 4, this file says 5"):
        files.load(path)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no chorales at {REAL}")
def test_real_chorales_come_back() -> None:
    with lzma.open(REAL / "Jsb16thSeparated.json.xz", "rt") as text:
        pieces = json.load(text)["valid"][:5]
    for piece in pieces:
        ids = [(REST if pitch < 0 else pitch) + RESERVED for row in piece for pitch in row]
        assert tokenizer().encode(tokenizer().decode(ids)) == ids
