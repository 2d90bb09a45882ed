"""MIDI files as notes, and notes as MIDI files.

Of a file, what is played is kept: which key, how hard, from when to when. Tracks are laid over each
other, changes of tempo are followed, and drums are left out. The sustain pedal holds a note until
it is let go, or until the same key is struck again. A key that is struck twice before it is let go
is let go in the order of the strikes; one that never is sounds to the end.
"""

import base64
import binascii
import io
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from heedful.errors import HeedfulError

MOST_BYTES = 64 << 20  # of a file
LONGEST = 6 * 3_600  # seconds of a piece
DRUMS = 9  # the channel that is drums by custom, counted from 0
KEYS = 128
SUFFIXES = (".mid", ".midi", ".kar", ".smf")
PEDAL, DOWN = 64, 64  # the controller, and from which value on it is down
TICKS = 500  # a beat; at MICROSECONDS a beat, a tick is a millisecond
MICROSECONDS = 500_000
_DATA = "data:audio/midi;base64,"
_DATA_OF = "data:audio/"


class Note(NamedTuple):
    """A key that sounds: from and to in seconds (or in what it was asked for), 1 to 127 loud."""

    start: float
    end: float
    pitch: int
    velocity: int
    channel: int = 0


def read(text: str, sixteenths: bool = False) -> list[Note]:
    """The notes of a piece that a text is: a file's name, or written out (`data:audio/midi;…`)."""
    if is_written(text):
        head, comma, packed = text.partition(",")
        if not comma or not head.endswith(";base64"):
            raise HeedfulError(
                f"a piece that is written out must begin as in '{_DATA}', this one begins "
                f"'{text[:30]}'"
            )
        try:
            data = base64.b64decode(packed, validate=True)
        except binascii.Error as error:
            raise HeedfulError(f"a piece is written out in wrong base64: {error}") from None
        return parsed(data, "a piece that is written out", sixteenths)
    path = Path(text)
    try:
        if path.is_dir():
            raise HeedfulError(f"{_short(text)} is a folder, and no MIDI file")
        if path.stat().st_size > MOST_BYTES:
            raise HeedfulError(f"{_short(text)} has over {MOST_BYTES:,} bytes, too many for MIDI")
        return parsed(path.read_bytes(), text, sixteenths)
    except FileNotFoundError:
        raise HeedfulError(
            f"no MIDI file {_short(text)}: check the name, and the folder it is relative to"
        ) from None
    except (OSError, ValueError) as error:  # a name may hold what no file's name can
        reason = getattr(error, "strerror", None) or error
        raise HeedfulError(f"the MIDI file {_short(text)} cannot be read: {reason}") from None


def is_written(text: str) -> bool:
    """Whether a text is a piece written out, and no name."""
    return text.startswith(_DATA_OF)


def word(data: bytes) -> str:
    """A MIDI file written out as one word of text."""
    return _DATA + base64.b64encode(data).decode("ascii")


def parsed(data: bytes, name: str, sixteenths: bool = False) -> list[Note]:
    """The notes of a MIDI file, sorted; times in seconds, or in sixteenths of the score."""
    events, clock = _events(data, name, sixteenths)
    last = max((tick for of in events.values() for tick, *_ in of), default=0)
    found = [
        note
        for channel, of in sorted(events.items())
        if channel != DRUMS
        for note in _played(of, channel, last)
    ]
    if not found:
        only = "has only drums, and no notes with a pitch" if DRUMS in events else "has no notes"
        raise HeedfulError(f"{name} {only}. Choose another piece")
    timed = [
        note._replace(start=clock(int(note.start)), end=clock(int(note.end))) for note in found
    ]
    if max(note.end for note in timed) > LONGEST * (8 if sixteenths else 1):
        raise HeedfulError(
            f"{name} lasts over {LONGEST // 3_600} hours: it is damaged, or no piece of music"
        )
    return sorted(timed)


def composed(notes: Iterable[Note]) -> bytes:
    """A MIDI file of these notes, times in whole milliseconds."""
    import mido

    messages: list[tuple[int, bool, Any]] = []
    for note in notes:
        start = round(note.start * 1_000)
        end = max(round(note.end * 1_000), start + 1)
        of = {"note": note.pitch, "channel": note.channel}
        on = mido.Message("note_on", velocity=note.velocity, **of)
        off = mido.Message("note_off", velocity=0, **of)
        messages += [(start, True, on), (end, False, off)]
    track = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=MICROSECONDS, time=0)])
    now = 0
    for at, _, message in sorted(messages, key=lambda one: one[:2]):  # what ends, ends first
        track.append(message.copy(time=at - now))
        now = at
    track.append(mido.MetaMessage("end_of_track", time=0))
    file = io.BytesIO()
    mido.MidiFile(type=0, ticks_per_beat=TICKS, tracks=[track]).save(file=file)
    return file.getvalue()


class _Clock:
    """From ticks to seconds, by the changes of tempo; or to sixteenths."""

    def __init__(self, division: int, tempos: list[tuple[int, int]], sixteenths: bool) -> None:
        self.division, self.sixteenths = division, sixteenths
        self.tempos = [(0, MICROSECONDS)]
        for at, tempo in sorted(tempos, key=lambda one: one[0]):
            if self.tempos[-1][0] == at:
                self.tempos.pop()
            self.tempos.append((at, tempo))
        self.before = [0]  # ticks times microseconds a beat, until each change: whole numbers
        for (one, tempo), (other, _) in zip(self.tempos, self.tempos[1:], strict=False):
            self.before.append(self.before[-1] + (other - one) * tempo)

    def __call__(self, tick: int) -> float:
        if self.division < 0:  # frames a second, and ticks a frame
            frames, ticks = 256 - (self.division >> 8 & 255), self.division & 255
            return tick / (frames * ticks)
        if self.sixteenths:
            return 4 * tick / self.division
        place = bisect_right(self.tempos, tick, key=lambda one: one[0]) - 1
        at, tempo = self.tempos[place]
        return (self.before[place] + (tick - at) * tempo) / (self.division * 1e6)


Event = tuple[int, str, int, int]  # tick, "on", "off" or "pedal", the key, how hard


def _events(data: bytes, name: str, sixteenths: bool) -> tuple[dict[int, list[Event]], _Clock]:
    """What is done on each channel, in time, and the clock it is done by."""
    import mido

    if not data:
        raise HeedfulError(f"{name} is empty")
    if not data.startswith(b"MThd"):
        raise HeedfulError(f"{name} is no MIDI file: it does not begin with 'MThd'")
    try:
        file = mido.MidiFile(file=io.BytesIO(data))
    except EOFError:
        raise HeedfulError(f"{name} is cut short: it ends within a track. Get it again") from None
    except Exception as error:  # the reader meets damage in ways of its own
        said = str(error).strip().rstrip(".") or type(error).__name__
        raise HeedfulError(f"{name} is damaged: {said}. Get it again") from None
    division = file.ticks_per_beat
    if division == 0 or (division < 0 and not division & 255):
        raise HeedfulError(f"{name} is damaged: it does not say how long a tick is")
    if division < 0 and sixteenths:
        raise HeedfulError(f"{name} counts seconds and no beats, so there are no sixteenths in it")
    if file.type == 2:
        raise HeedfulError(f"{name} is of type 2, tracks that are pieces of their own: split it")
    events: dict[int, list[Event]] = {}
    tempos: list[tuple[int, int]] = []
    for track in file.tracks:
        tick = 0
        for message in track:
            tick += message.time
            if message.type == "set_tempo":
                tempos.append((tick, message.tempo))
            elif message.type in ("note_on", "note_off"):
                on = message.type == "note_on" and message.velocity > 0
                event = (tick, "on" if on else "off", message.note, message.velocity)
                events.setdefault(message.channel, []).append(event)
            elif message.type == "control_change" and message.control == PEDAL:
                events.setdefault(message.channel, []).append((tick, "pedal", 0, message.value))
    in_time = {
        channel: sorted(of, key=lambda one: one[0])  # at the same time, as the file has it
        for channel, of in events.items()
        if any(kind == "on" for _, kind, *_ in of)
    }
    return in_time, _Clock(division, tempos, sixteenths)


def _played(events: Iterable[Event], channel: int, last: int) -> Iterator[Note]:
    """The notes of one channel in ticks, with the pedal heard."""
    struck: dict[int, deque[Note]] = {}  # keys that are down
    held: dict[int, list[Note]] = {}  # keys that are up, and sound by the pedal
    down = False
    for tick, kind, key, value in events:
        if kind == "pedal":
            down = value >= DOWN
            if not down:
                for notes in held.values():
                    yield from (note._replace(end=tick) for note in notes)
                held.clear()
        elif kind == "on":
            yield from (note._replace(end=tick) for note in held.pop(key, []))
            struck.setdefault(key, deque()).append(Note(tick, tick, key, value, channel))
        elif struck.get(key):
            note = struck[key].popleft()
            if down and not struck[key]:
                held.setdefault(key, []).append(note)
            else:
                yield note._replace(end=tick)
    for waiting in (*struck.values(), *held.values()):
        yield from (note._replace(end=max(last, int(note.start))) for note in waiting)


def transposed(notes: Iterable[Note], by: int) -> list[Note]:
    """The notes so many semitones higher; those that no key is left for are left out."""
    moved = (note._replace(pitch=note.pitch + by) for note in notes)
    return [note for note in moved if 0 <= note.pitch < KEYS]


def stretched(notes: Iterable[Note], factor: float) -> list[Note]:
    """The notes so many times slower."""
    if not (math.isfinite(factor) and factor > 0):
        raise HeedfulError(f"a piece is stretched by a number over 0, got {factor}")
    return [note._replace(start=note.start * factor, end=note.end * factor) for note in notes]


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"
