"""The data's half: one pass over ids, one over text, and all that was found."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from heedful.data.preparation import Prepared, Progress, silent
from heedful.doctor.finding import Finding
from heedful.doctor.lengths import Lengths
from heedful.doctor.ratios import Ratios
from heedful.doctor.repeats import Repeats
from heedful.doctor.scripts import Scripts, Untranslated
from heedful.doctor.sizes import Sizes
from heedful.doctor.swapped import Swapped
from heedful.doctor.texts import Reader, Texts
from heedful.doctor.vocabulary import Fertility, Unknown
from heedful.presets.base import Preset
from heedful.problems.base import TRAIN

READ = 50_000  # texts of each split, spread over it
_TOLD_EVERY = 1_000


class Looker(Protocol):
    """Is shown every text, and then says what it found."""

    def see(self, split: str, index: int, texts: Texts) -> None: ...

    def findings(self) -> Iterator[Finding]: ...


@dataclass
class Checkup:
    """What is so about the data."""

    findings: list[Finding] = field(default_factory=list)
    histograms: dict[str, dict[str, Lengths]] = field(default_factory=dict)  # feature, then unit
    read: dict[str, int] = field(default_factory=dict)  # texts, by split
    splits: dict[str, Any] = field(default_factory=dict)


class TextLengths:
    """Words and characters of every training text."""

    def __init__(
        self, histograms: dict[str, dict[str, Lengths]], features: tuple[str, ...]
    ) -> None:
        self.histograms, self.features = histograms, features
        for feature in features:
            histograms[feature] |= {"words": Lengths(), "characters": Lengths()}

    def see(self, split: str, index: int, texts: Texts) -> None:
        if split == TRAIN:
            for feature in self.features:
                self.histograms[feature]["words"].add(len(texts[feature].split()))
                self.histograms[feature]["characters"].add(len(texts[feature]))

    def findings(self) -> Iterator[Finding]:
        yield from ()


def check_data(
    name: str, prepared: Prepared, preset: Preset, most: int = READ, progress: Progress = silent
) -> Checkup:
    """Look at a prepared problem: ids of all examples, text of at most `most` a split (0: all)."""
    reader = Reader(prepared, name)
    splits = prepared.info["splits"]
    found = Checkup(splits=splits)
    train = prepared.split(TRAIN)
    for feature in prepared.features:
        tokens = Lengths()
        tokens.add_many(train.lengths[feature] - 1)
        found.histograms[feature] = {"tokens": tokens}
    progress(0, "comparing examples")
    found.findings += [*Sizes(reader, preset).findings(), *Repeats(reader).findings()]
    if reader.textual:
        lookers = _lookers(reader, found.histograms, most or len(train))
        for split in splits:
            found.read[split] = _show(reader, split, most, lookers, progress)
        for looker in lookers:
            found.findings += looker.findings()
        found.findings += Unknown(reader, most).findings()
    return found


def _lookers(reader: Reader, histograms: dict[str, dict[str, Lengths]], most: int) -> list[Looker]:
    lookers: list[Looker] = [
        TextLengths(histograms, reader.textual),
        Scripts(reader.textual),
        Fertility(reader),
    ]
    if {"inputs", "targets"} <= set(reader.textual):
        train = reader.prepared.split(TRAIN)
        lookers += [Ratios(), Untranslated()]
        if not train.labels:  # in a mixture one member's source may well be another's target
            lookers.append(Swapped(min(most, len(train))))
    return lookers


def _show(reader: Reader, split: str, most: int, lookers: list[Looker], progress: Progress) -> int:
    done = 0
    for done, (index, texts) in enumerate(reader.sample(split, most), start=1):
        for looker in lookers:
            looker.see(split, index, texts)
        if done % _TOLD_EVERY == 0:
            progress(done, f"reading the text of {split}")
    return done
