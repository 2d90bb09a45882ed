"""MIDI files, good and bad: what is read of them, and what is written."""

import io
import lzma
import tarfile
from pathlib import Path

import mido
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import HeedfulError
from heedful.text import midi
from heedful.text.midi import Note, composed, parsed, read, stretched, transposed, word

REAL = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "piano_midi"


def on(note: int, time: int = 0, velocity: int = 64, channel: int = 0) -> mido.Message:
    return mido.Message("note_on", note=note, velocity=velocity, time=time, channel=channel)


def off(note: int, time: int = 0, channel: int = 0) -> mido.Message:
    return mido.Message("note_off", note=note, velocity=0, time=time, channel=channel)


def pedal(value: int, time: int = 0, channel: int = 0) -> mido.Message:
    return mido.Message("control_change", control=64, value=value, time=time, channel=channel)


def tempo(microseconds: int, time: int = 0) -> mido.MetaMessage:
    return mido.MetaMessage("set_tempo", tempo=microseconds, time=time)


def file(*tracks: list, kind: int = 1, division: int = 500) -> bytes:
    """A MIDI file of these tracks; a tick is a millisecond if no tempo is set."""
    made = io.BytesIO()
    lanes = [mido.MidiTrack(track) for track in tracks]
    mido.MidiFile(type=kind, ticks_per_beat=division, tracks=lanes).save(file=made)
    return made.getvalue()


def timed(notes: list[Note]) -> list[tuple[float, float, int]]:
    return [(note.start, note.end, note.pitch) for note in notes]


NOTES = st.builds(
    lambda start, length, pitch, velocity: Note(
        start / 1_000, (start + length) / 1_000, pitch, velocity
    ),
    st.integers(0, 100_000),
    st.integers(1, 20_000),
    st.integers(0, 127),
    st.integers(1, 127),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(NOTES, min_size=1, max_size=30, unique_by=lambda note: note.pitch))
def test_notes_on_the_millisecond_come_back_as_they_were(notes: list[Note]) -> None:
    assert parsed(composed(notes), "it") == sorted(notes)
    assert read(word(composed(notes))) == sorted(notes)


def test_changes_of_tempo_are_followed_wherever_they_stand() -> None:
    conductor = [tempo(1_000_000, 500), tempo(250_000, 500)]
    notes = [on(60), off(60, 600), on(62, 800), off(62, 600)]
    assert timed(parsed(file(conductor, notes), "it")) == [(0.0, 0.7, 60), (1.7, 2.0, 62)]
    assert timed(parsed(file(notes, conductor), "it")) == [(0.0, 0.7, 60), (1.7, 2.0, 62)]
    score = parsed(file(conductor, notes), "it", sixteenths=True)
    assert timed(score) == [(0.0, 4.8, 60), (11.2, 16.0, 62)]


def test_ticks_of_frames_are_seconds_and_no_beats() -> None:
    data = bytearray(file([on(60), off(60, 500)]))
    for frames, ticks, seconds in ((25, 40, 0.5), (30, 80, 500 / 2_400)):
        data[12:14] = bytes([256 - frames, ticks])  # frames a second, ticks a frame
        assert timed(parsed(bytes(data), "it")) == [(0.0, seconds, 60)]
    with pytest.raises(HeedfulError, match="counts seconds and no beats"):
        parsed(bytes(data), "it", sixteenths=True)
    data[12:14] = b"\0\0"
    with pytest.raises(HeedfulError, match="does not say how long a tick is"):
        parsed(bytes(data), "it")


class TestPedal:
    def test_it_holds_notes_until_it_is_let_go(self) -> None:
        track = [pedal(127), on(60), off(60, 100), on(64, 100), pedal(0, 300), off(64, 200)]
        assert timed(parsed(file(track), "it")) == [(0.0, 0.5, 60), (0.2, 0.7, 64)]

    def test_a_key_struck_again_ends_what_was_held(self) -> None:
        track = [pedal(64), on(60), off(60, 100), on(60, 200), off(60, 100), pedal(63, 600)]
        assert timed(parsed(file(track), "it")) == [(0.0, 0.3, 60), (0.3, 1.0, 60)]

    def test_half_down_is_up_and_never_up_is_to_the_end(self) -> None:
        track = [pedal(63), on(60), off(60, 100), pedal(80, 100), on(62), off(62, 100), on(64, 700)]
        found = timed(parsed(file([*track, off(64, 100)]), "it"))
        assert found == [(0.0, 0.1, 60), (0.2, 1.1, 62), (1.0, 1.1, 64)]

    def test_it_is_of_its_channel(self) -> None:
        tracks = [on(60), on(60, 0, 64, 1), off(60, 100), off(60, 0, 1), on(70, 900), off(70, 100)]
        found = parsed(file([pedal(127, 0, 1), *tracks]), "it")
        assert {note.channel: note.end for note in found if note.pitch == 60} == {0: 0.1, 1: 1.1}


class TestOddFiles:
    def test_a_hung_note_sounds_to_the_end(self) -> None:
        track = [on(60), on(64, 200), off(64, 300)]
        assert timed(parsed(file(track), "it")) == [(0.0, 0.5, 60), (0.2, 0.5, 64)]

    def test_overlapping_notes_end_in_the_order_of_their_beginnings(self) -> None:
        track = [on(60), on(60, 100, 90), off(60, 200), off(60, 300)]
        found = parsed(file(track), "it")
        assert timed(found) == [(0.0, 0.3, 60), (0.1, 0.6, 60)]
        assert [note.velocity for note in found] == [64, 90]

    def test_no_velocity_lets_go_and_a_note_of_no_length_is_one(self) -> None:
        track = [on(60), on(60, 100, 0), on(62, 100), off(62), off(99, 100)]
        assert timed(parsed(file(track), "it")) == [(0.0, 0.1, 60), (0.2, 0.2, 62)]

    def test_two_hundred_tracks_are_laid_over_each_other(self) -> None:
        lanes = [[on(n % 128, n, 64, n % 9), off(n % 128, 5, n % 9)] for n in range(200)]
        assert len(parsed(file(*lanes), "it")) == 200

    def test_drums_are_left_out(self) -> None:
        drums = [on(38, 0, 99, 9), off(38, 100, 9)]
        assert timed(parsed(file(drums, [on(60), off(60, 50)]), "it")) == [(0.0, 0.05, 60)]
        with pytest.raises(HeedfulError, match="it has only drums"):
            parsed(file(drums), "it")

    def test_what_is_no_piece_is_refused_with_the_reason(self, tmp_path: Path) -> None:
        good = file([on(60), off(60, 100)])
        for data, reason in (
            (b"", "is empty"),
            (b"RIFF0000", "is no MIDI file: it does not begin with 'MThd'"),
            (good[:6], "is cut short"),
            (good[:-5], "is cut short"),
            (good[:20] + b"\xff" * 40, "is (damaged|cut short)"),
            (file([]), "has no notes"),
            (file([pedal(127), pedal(0, 100)]), "has no notes"),
            (file([on(60), off(60, 100)], kind=2), "is of type 2"),
            (file([on(60), off(60, 0x0FFFFFFF)]), "lasts over 6 hours"),
        ):
            (tmp_path / "a.mid").write_bytes(data)
            with pytest.raises(HeedfulError, match=f"a.mid {reason}"):
                read(str(tmp_path / "a.mid"))

    @settings(deadline=None, max_examples=150)
    @given(st.data())
    def test_damage_is_never_anything_but_an_error_of_ours(self, data: st.DataObject) -> None:
        good = bytearray(file([tempo(400_000), pedal(127), on(60), off(60, 100)], [on(62, 9)]))
        for _ in range(data.draw(st.integers(1, 4))):
            good[data.draw(st.integers(4, len(good) - 1))] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(5, len(good)))
        try:
            notes = parsed(bytes(good[:cut]), "it")
        except HeedfulError:
            return
        assert notes and all(note.end >= note.start >= 0 for note in notes)

    def test_names_that_are_none_are_told(self, tmp_path: Path) -> None:
        for text, reason in (
            ("nowhere.mid", "no MIDI file nowhere.mid"),
            (str(tmp_path), "is a folder, and no MIDI file"),
            ("a\0b", "cannot be read"),
            ("x" * 5_000, "cannot be read"),
            ("data:audio/midi,abc", "must begin as in"),
            ("data:audio/midi;base64,!", "wrong base64"),
        ):
            with pytest.raises(HeedfulError, match=reason):
                read(text)


def test_transposing_leaves_out_what_has_no_key_and_stretching_moves_only_time() -> None:
    notes = [Note(1.0, 2.0, 60, 50), Note(2.0, 3.0, 126, 50)]
    assert transposed(notes, 3) == [Note(1.0, 2.0, 63, 50)]
    assert stretched(notes, 2.0) == [Note(2.0, 4.0, 60, 50), Note(4.0, 6.0, 126, 50)]
    for factor in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(HeedfulError, match="a number over 0"):
            stretched(notes, factor)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no performances at {REAL}")
def test_real_performances_are_read_note_for_note() -> None:
    import csv

    with lzma.open(REAL / "index.csv.xz", "rt", encoding="utf-8") as text:
        said = {row["file"]: int(row["notes"]) for row in csv.DictReader(text)}
    with tarfile.open(REAL / "performances.tar.xz", "r:xz") as archive:
        for member in archive.getmembers()[::20]:
            notes = midi.parsed(archive.extractfile(member).read(), member.name)
            assert len(notes) == said[member.name]
