"""Which sentences are for learning and which for testing, decided by stable hashes."""

import random
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b

from . import coreference
from .coreference import FRAMES, Cast, Frame
from .dice import Dice
from .phrases import Fact, Phrase
from .speaker import Speaker
from .utterance import Pair, utter

SPLITS = ("train", "valid", "test", "test_unseen", "test_coreference")
COREFERENCE = 0.14  # its share of train, valid and test
HELD_OUT = 0.08  # the share of adjective-noun and verb-object pairs that train never shows
VALID, TEST = 13, 13  # of 256 sentences, how many are for validation and for test
ACTORS_HELD_OUT = 26  # of 256 pairs of actors, how many only test_coreference shows
# Chosen among many so that no word loses more than a quarter of its company to the held-out pairs,
# and the textbook sentences (the green cat, the cow and the hay) stay in train's language.
SALT = b"heedful demo 93"


def _byte(text: str) -> int:
    return blake2b(text.encode(), digest_size=1, key=SALT).digest()[0]


@cache
def is_held_out(fact: Fact) -> bool:
    """Is this adjective-noun or verb-object pair kept for test_unseen?"""
    first, second = fact
    digest = blake2b(f"{first} {second}".encode(), digest_size=4, key=SALT).digest()
    return int.from_bytes(digest, "big") < HELD_OUT * 2**32


def shows_unseen(phrase: Phrase) -> bool:
    """Does the sentence say any pair that train never shows?"""
    return any(map(is_held_out, phrase.facts))


def split_of(text: str) -> str:
    """train, valid or test, for a sentence (or for the actors of a coreference scene)."""
    byte = _byte(text)
    if byte < VALID:
        return "valid"
    return "test" if byte < VALID + TEST else "train"


@cache
def stage_of(split: str) -> tuple[tuple[Frame, tuple[Cast, ...]], ...]:
    """The coreference frames, with the pairs of actors that each may use in a split."""
    staged = (
        (frame, tuple(cast for cast in frame.casts if _split_of_cast(cast) == split))
        for frame in FRAMES
    )
    return tuple((frame, casts) for frame, casts in staged if casts)


def _split_of_cast(cast: Cast) -> str:
    actors = f"{cast.first.name} {cast.second.name}"
    if _byte(f"actors {actors}") < ACTORS_HELD_OUT:
        return "test_coreference"
    return split_of(actors)


def pairs(split: str, rng: random.Random) -> Iterator[Pair]:
    """Endless sentence pairs of a split, decided by the state of rng.

    Train repeats itself as chance has it; the other splits never say the same sentence twice.
    """
    if split not in SPLITS:
        raise ValueError(f"no split named {split!r}. There are: {', '.join(SPLITS)}")
    if split == "test_coreference":
        return _twins(rng)
    drawn = _sentences(split, rng)
    return drawn if split == "train" else _distinct(drawn)


def _sentences(split: str, rng: random.Random) -> Iterator[Pair]:
    dice = Dice(rng)
    plain = _plain(split, dice)
    if split == "test_unseen":
        yield from plain
    winograd = _winograd(split, dice)
    while True:  # the kind is chosen first, so that each split has the same share of coreference
        yield next(winograd if dice.chance(COREFERENCE) else plain)


def _plain(split: str, dice: Dice) -> Iterator[Pair]:
    """Sentences of every construction but coreference."""
    speaker = Speaker(dice)
    unseen = split == "test_unseen"
    while True:
        phrase, mark = speaker.speak()
        if shows_unseen(phrase) is unseen:
            pair = utter(phrase, mark)
            # The French decides: English variants of a sentence (did not, didn't) stay together.
            if unseen or split_of(pair.french) == split:
                yield pair


def _winograd(split: str, dice: Dice) -> Iterator[Pair]:
    """One or the other ending of coreference scenes."""
    stage = stage_of(split)
    while True:
        phrase = coreference.draw(dice, stage).say(dice.chance(0.5))
        if not shows_unseen(phrase):
            yield utter(phrase, ".")


def _twins(rng: random.Random) -> Iterator[Pair]:
    """Both endings of scenes whose actors train never put together, one after the other."""
    dice = Dice(rng)
    stage = stage_of("test_coreference")
    seen: set[str] = set()
    while True:
        twins = coreference.draw(dice, stage)
        said = twins.say(0), twins.say(1)
        if any(map(shows_unseen, said)):
            continue
        both = tuple(utter(phrase, ".") for phrase in said)
        if not any(pair.english in seen for pair in both):
            seen.update(pair.english for pair in both)
            yield from both


def _distinct(drawn: Iterator[Pair]) -> Iterator[Pair]:
    seen: set[str] = set()
    for pair in drawn:
        if pair.english not in seen:
            seen.add(pair.english)
            yield pair
