"""The events of a performance: what goes in comes out, but for the rounding that is stated."""

import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import HeedfulError
from heedful.text import files, midi
from heedful.text.midi import Note, composed, stretched, transposed, word
from heedful.text.performance import (
    EVENTS,
    LOUD,
    OFF,
    ON,
    STEPS,
    WAIT,
    Performance,
    PerformanceTokenizer,
    kinds,
    performed,
    played,
    quantised,
    waited,
)
from heedful.text.specials import EOS, PAD, RESERVED, UNK

REAL = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "piano_midi"

NOTES = st.lists(
    st.builds(
        lambda start, length, pitch, velocity: Note(start, start + length, pitch, velocity),
        st.floats(0, 9) | st.floats(0, 400),
        st.floats(0, 3) | st.just(0.0),
        st.integers(58, 62) | st.integers(0, 127),  # some keys are struck again and again
        st.integers(1, 127),
    ),
    min_size=1,
    max_size=40,
)


def tokenizer() -> PerformanceTokenizer:
    return Performance().train([])


@settings(deadline=None, max_examples=200)
@given(NOTES)
def test_what_is_played_is_what_was_performed(notes: list[Note]) -> None:
    there = quantised(notes)
    assert played(performed(notes)) == there == quantised(there)
    assert performed(there) == performed(notes)  # equal music has equal events
    assert len(there) == len(notes)


def test_equal_music_has_equal_events_where_a_key_is_struck_while_it_is_down() -> None:
    crossed = [Note(0.0, 0.04, 60, 50), Note(0.0, 0.03, 61, 50), Note(0.01, 0.03, 60, 50)]
    said = tokenizer().said(performed(crossed))
    assert said == "loud13 on60 on61 wait1 on60 wait2 off60 off61 wait1 off60"
    assert performed(quantised(crossed)) == performed(crossed)
    # Two that are struck together, of which the softer one would end later.
    ends = [0.05, 0.05, 0.06, 0.05]
    starts, loud = [0.0, 0.01, 0.01, 0.02], [50, 50, 1, 50]
    made = [Note(s, e, 60, v) for s, e, v in zip(starts, ends, loud, strict=True)]
    assert performed(quantised(made)) == performed(made)


@settings(deadline=None, max_examples=50)
@given(NOTES)
def test_rounding_is_all_that_is_lost(notes: list[Note]) -> None:
    """Starts are within half a step and loudness within its level, key by key in order."""
    before = sorted((n.pitch, n.start, n.velocity) for n in notes)
    after = sorted((n.pitch, n.start) for n in quantised(notes))
    for (pitch, start, _), (key, step) in zip(before, after, strict=True):
        assert pitch == key and abs(start - step) <= 0.5 / STEPS + 1e-9
    loud = sorted((n.velocity - 1) // 4 for n in notes)
    assert loud == sorted((n.velocity - 1) // 4 for n in quantised(notes))


@settings(deadline=None, max_examples=50)
@given(NOTES)
def test_a_piece_goes_to_midi_and_back(notes: list[Note]) -> None:
    ids = tokenizer().encode(word(composed(quantised(notes))))
    there = sorted({(n.start, n.end, n.pitch) for n in quantised(notes)})
    assert sorted({(n.start, n.end, n.pitch) for n in tokenizer().notes(ids)}) == there
    assert tokenizer().encode(tokenizer().decode(ids)) == ids


def test_there_are_388_events_each_with_a_word_of_its_own() -> None:
    ours = tokenizer()
    assert EVENTS == 388 == len(set(ours.words)) and ours.size == RESERVED + 388
    assert (ON, OFF, WAIT, LOUD) == (0, 128, 256, 356)
    every = " ".join(ours.words)
    ids = ours.encode(every)
    assert ids == list(range(RESERVED, ours.size)) and " ".join(ours.pieces(ids)) == every
    assert ours.encode("") == []


def test_the_events_of_a_few_notes_are_these() -> None:
    notes = [Note(0.5, 2.75, 60, 64), Note(0.5, 0.5, 55, 64), Note(2.75, 2.8, 60, 1)]
    said = tokenizer().said(performed(notes))
    assert said == (
        "wait50 loud16 on55 on60 wait1 off55 wait100 wait100 wait24 off60 loud1 on60 wait5 off60"
    )
    assert [waited(event) for event in (WAIT - 1, WAIT, WAIT + 99, LOUD)] == [0, 1, 100, 0]
    assert [n.velocity for n in played(performed(notes))] == [61, 61, 1]
    assert played(performed([Note(0, 1, 1, 127)]))[0].velocity == 125


@settings(deadline=None, max_examples=50)
@given(NOTES, st.integers(-3, 3))
def test_transposing_moves_keys_and_nothing_else(notes: list[Note], by: int) -> None:
    notes = [note._replace(pitch=min(max(note.pitch, 3), 124)) for note in notes]
    moved = performed(transposed(notes, by))
    assert moved == [event + by if event < WAIT else event for event in performed(notes)]


@settings(deadline=None, max_examples=50)
@given(NOTES, st.sampled_from([0.95, 0.975, 1.025, 1.05, 2.0]))
def test_stretching_moves_time_and_nothing_else(notes: list[Note], factor: float) -> None:
    far = [Note(n.start + i, n.start + i + 0.2, n.pitch, n.velocity) for i, n in enumerate(notes)]
    plain, slow = performed(far), performed(stretched(far, factor))
    total = sum(map(waited, slow))
    assert abs(total - factor * sum(map(waited, plain))) <= 2
    assert sorted(e for e in slow if e < WAIT) == sorted(e for e in plain if e < WAIT)
    assert tokenizer().seconds([e + RESERVED for e in slow]) == total / STEPS


def test_events_that_make_no_sense_are_played_as_far_as_they_do() -> None:
    events = [OFF + 60, ON + 60, WAIT + 9, OFF + 61, WAIT + 9]  # up before down, hung to the end
    assert played(events) == [Note(0.0, 0.2, 60, 61)]
    assert played([ON + 60]) == [Note(0.0, 0.01, 60, 61)]
    assert played([]) == []
    twice = [ON + 60, WAIT + 9, OFF + 60, OFF + 60, WAIT]
    assert played(twice) == [Note(0.0, 0.1, 60, 61)]
    ids = [PAD, RESERVED + ON + 60, UNK, RESERVED + WAIT + 4, EOS, RESERVED + OFF + 60]
    assert tokenizer().notes(ids) == [Note(0.0, 0.05, 60, 61)]
    places = [(0.0, None), (0.0, 60), (0.0, None), (0.0, None), (0.05, None), (0.05, 60)]
    assert [(place.time, place.pitch) for place in tokenizer().places(ids)] == places
    assert [place.begins for place in tokenizer().places(ids)].index(True) == 1
    assert sum(place.begins for place in tokenizer().places(ids)) == 1


def test_kinds_are_counted() -> None:
    assert kinds([ON, OFF, WAIT, LOUD]) == dict.fromkeys(("on", "off", "wait", "loud"), 0.25)
    assert sum(kinds([]).values()) == 0


def test_it_is_saved_and_loaded_and_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    tokenizer().save(path)
    assert isinstance(files.load(path), PerformanceTokenizer)
    path.write_text(path.read_text().replace("388", "413"))
    with pytest.raises(HeedfulError, match="has 388 events, this file says 413"):
        files.load(path)
    with pytest.raises(HeedfulError, match="no MIDI file on60 on200"):
        tokenizer().encode("on60 on200")


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no performances at {REAL}")
def test_real_performances_come_back_but_for_the_rounding() -> None:
    shares = dict.fromkeys(("on", "off", "wait", "loud"), 0.0)
    with tarfile.open(REAL / "performances.tar.xz", "r:xz") as archive:
        members = archive.getmembers()[::15]
        for member in members:
            data = archive.extractfile(member).read()
            notes = midi.parsed(data, member.name)
            ids = tokenizer().encode(word(data))
            assert tokenizer().notes(ids) == quantised(notes)
            assert tokenizer().encode(tokenizer().decode(ids)) == ids
            for kind, share in kinds([i - RESERVED for i in ids]).items():
                shares[kind] += share / len(members)
    for kind, share in {"on": 0.22, "off": 0.22, "wait": 0.37, "loud": 0.19}.items():
        assert abs(shares[kind] - share) < 0.05
