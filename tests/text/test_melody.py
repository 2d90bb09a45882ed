"""Melodies on the grid of sixteenths."""

from pathlib import Path

import pytest

from heedful.errors import HeedfulError
from heedful.text import files
from heedful.text.melody import Melody, MelodyTokenizer, is_alone
from heedful.text.midi import Note, composed, read, word

TOKENIZER = Melody().train([])


def test_a_melody_goes_to_midi_and_back_a_symbol_a_sixteenth() -> None:
    ids = TOKENIZER.encode("72 72 - 74 76 76 76")
    assert TOKENIZER.encode(TOKENIZER.decode(ids)) == ids
    assert TOKENIZER.seconds(ids) == 7 / 8 and TOKENIZER.group == 1
    assert [(n.start, n.end, n.pitch) for n in TOKENIZER.notes(ids)] == [
        (0.0, 0.25, 72),
        (0.375, 0.5, 74),
        (0.5, 0.875, 76),
    ]


def test_of_several_notes_at_once_the_highest_is_the_melody_whatever_its_channel() -> None:
    notes = [Note(0.0, 0.5, 60, 64, 0), Note(0.125, 0.25, 67, 64, 2), Note(0.25, 0.5, 55, 64, 3)]
    data = word(composed(notes))
    assert TOKENIZER.encode(data) == TOKENIZER.encode("60 67 60 60")
    assert not is_alone(read(data, sixteenths=True))


def test_notes_that_touch_or_overlap_by_less_than_half_a_sixteenth_are_alone() -> None:
    for over in (0.0, 0.05):
        notes = [Note(0.0, 0.25 + over, 60, 64), Note(0.25, 0.5, 64, 64)]
        assert is_alone(read(word(composed(notes)), sixteenths=True))
    notes = [Note(0.0, 0.35, 60, 64), Note(0.25, 0.5, 64, 64)]
    assert not is_alone(read(word(composed(notes)), sixteenths=True))


def test_it_is_saved_and_loaded_and_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    TOKENIZER.save(path)
    assert type(files.load(path)) is MelodyTokenizer
    path.write_text(path.read_text().replace('"voices": 1', '"voices": 4'))
    with pytest.raises(HeedfulError, match="of kind 'melody' has voices: 1, this file says 4"):
        files.load(path)
