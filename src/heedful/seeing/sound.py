"""A small synthesiser: notes as sound, struck strings that die away."""

import io
import wave
from collections.abc import Sequence

import numpy as np

from heedful.text.midi import Note

RATE = 22_050  # samples a second
LOUDEST = 0.9  # of what a sample can hold
ATTACK, RELEASE = 0.004, 0.12  # seconds
PARTIALS = (1.0, 0.5, 0.3, 0.15, 0.08, 0.04)  # how loud each overtone is


def frequency(pitch: int) -> float:
    """Of a key, equally tempered: 69 is the A of 440 Hz."""
    return float(440.0 * 2.0 ** ((pitch - 69) / 12))


def samples(notes: Sequence[Note]) -> np.ndarray:
    """The sound of notes, from -1 to 1; none is a moment of silence."""
    last = max((note.end for note in notes), default=0.0)
    sound = np.zeros(int((last + RELEASE) * RATE) + 1)
    for note in notes:
        begin = int(note.start * RATE)
        one = _note(note)[: len(sound) - begin]
        sound[begin : begin + len(one)] += one
    most = float(np.abs(sound).max(initial=0))
    return sound * (LOUDEST / most) if most else sound


def wav(notes: Sequence[Note]) -> bytes:
    """The sound as a WAV file: one channel, 16 bits."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((samples(notes) * 32_767).astype("<i2").tobytes())
    return file.getvalue()


def _note(note: Note) -> np.ndarray:
    """One key: overtones that die away, the higher the sooner, and a short fading at its end."""
    time = np.arange(int((note.end - note.start + RELEASE) * RATE)) / RATE
    base = frequency(note.pitch)
    sound = np.zeros_like(time)
    for number, share in enumerate(PARTIALS, start=1):
        if number * base < RATE / 2:
            dying = np.exp(-time * (0.7 + 0.5 * number) * (base / 220) ** 0.3)
            sound += share * dying * np.sin(2 * np.pi * number * base * time)
    rising = np.minimum(1.0, time / ATTACK)
    fading = np.clip((note.end - note.start + RELEASE - time) / RELEASE, 0.0, 1.0)
    return sound * rising * fading * (note.velocity / 127) ** 1.5
