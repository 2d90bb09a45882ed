"""What is there twice: equal pairs, sources with several targets, test examples seen in training.

Examples are compared as the model sees them, by a hash of their ids, over the whole of every split.
Memory holds the hashes of `MOST` examples: of a larger training split, only the pairs whose source
hash ends in enough zero bits are counted, and the count is scaled up.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heedful.data.shards import Indices, Shards
from heedful.doctor.finding import SHOWN, Case, Finding, Level, graded, percent
from heedful.doctor.texts import Reader, evenly
from heedful.problems.base import TRAIN, VALID

MOST = 1 << 20
CHUNK = 1 << 15  # examples hashed at a time

Hashes = npt.NDArray[np.uint64]

_WEIGHTS = np.random.Philox(key=np.array([7, 7], np.uint64)).random_raw(1 << 13)


@dataclass(frozen=True, eq=False)
class Hashed:
    """Examples by number, the hash of each one's source, and of all its features."""

    numbers: Indices
    sources: Hashes
    pairs: Hashes


def hashed(shards: Shards, numbers: Indices) -> Hashed:
    """The hashes of these examples: a sum of ids, each times a number of its place."""
    columns = []
    for feature in shards.features:
        lengths = shards.lengths[feature][numbers].astype(np.int64)
        starts = np.cumsum(lengths) - lengths
        ids = shards.gather(feature, numbers).astype(np.uint64) + np.uint64(1)
        places = (np.arange(len(ids)) - np.repeat(starts, lengths)) % len(_WEIGHTS)
        columns.append(_mixed(np.add.reduceat(ids * _WEIGHTS[places], starts)))
    pairs = columns[0]
    for column in columns[1:]:
        pairs = _mixed(pairs * np.uint64(0x9E3779B97F4A7C15) + column)
    return Hashed(numbers, columns[0], pairs)


def _mixed(hashes: Hashes) -> Hashes:
    """Every bit of the result depends on every bit that went in."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


def _chunks(shards: Shards) -> Iterator[Hashed]:
    for begin in range(0, len(shards), CHUNK):
        yield hashed(shards, np.arange(begin, min(begin + CHUNK, len(shards))))


class Repeats:
    """Looks through the training split once, beside all held-out ones."""

    def __init__(self, reader: Reader) -> None:
        self.reader, info = reader, reader.prepared.info
        self.held: dict[str, tuple[Shards, Hashed]] = {}
        for split, counts in info["splits"].items():
            if split != TRAIN and counts["examples"]:
                shards = reader.prepared.split(split)
                self.held[split] = shards, hashed(shards, evenly(len(shards), MOST))
        # Of symbols by a rule there are few that are short: they are bound to come again.
        self.by_rule = not reader.textual
        self.pairs_only = len(reader.prepared.features) == 1

    def findings(self) -> Iterator[Finding]:
        train = self.reader.prepared.split(TRAIN)
        bits = max(0, int(np.ceil(np.log2(max(1, len(train)) / MOST))))
        mask = np.uint64((1 << bits) - 1)
        kept: list[Hashed] = []
        seen = {split: _nothing(held) for split, (_, held) in self.held.items()}
        for chunk in _chunks(train):
            for split, (_, held) in self.held.items():
                sources, pairs = seen[split]
                sources |= np.isin(held.sources, chunk.sources)
                pairs |= np.isin(held.pairs, chunk.pairs)
            few = np.flatnonzero(chunk.sources & mask == 0)
            kept.append(Hashed(chunk.numbers[few], chunk.sources[few], chunk.pairs[few]))
        yield from self._duplicates(train, _joined(kept), 1 << bits)
        for split, (sources, pairs) in seen.items():
            yield from self._overlap(TRAIN, split, sources, pairs)
        yield from self._among_held_out()

    def _level(self, share: float, warning: float, problem: float = 2.0) -> Level:
        return graded(share, warning=2.0 if self.by_rule else warning, problem=problem)

    def _duplicates(self, train: Shards, kept: Hashed, scale: int) -> Iterator[Finding]:
        _, first, times = np.unique(kept.pairs, return_index=True, return_counts=True)
        count = len(kept.pairs) - len(first)
        share = count / max(1, len(kept.pairs))
        about = "about " if scale > 1 else ""
        cases = [
            self.reader.case(train, int(kept.numbers[first[i]]), f"{times[i]:,} times")
            for i in np.argsort(-times, kind="stable")[:SHOWN]
            if times[i] > 1
        ]
        yield Finding(
            self._level(share, 0.1, 2.0 if self.by_rule else 0.5),
            "duplicates",
            f"training pairs that repeat an earlier one: {about}{count * scale:,} "
            f"({percent(share)})",
            count * scale,
            "They weigh more than others. Keep each pair once, unless the weight is meant"
            if count and not self.by_rule
            else "",
            tuple(cases),
        )
        if self.pairs_only:
            return
        sources = kept.sources[first]  # of each distinct pair
        values, begin, targets = np.unique(sources, return_index=True, return_counts=True)
        many = np.flatnonzero(targets > 1)
        share = len(many) / max(1, len(values))
        worst = many[np.argsort(-targets[many], kind="stable")[:SHOWN]]
        yield Finding(
            self._level(share, 0.25),
            "several_targets",
            f"training sources with more than one target: {about}{len(many) * scale:,} "
            f"({percent(share)})",
            len(many) * scale,
            "Several right answers are well; targets that contradict each other are not. Look at "
            "the examples"
            if len(many)
            else "",
            tuple(
                self.reader.case(train, int(kept.numbers[first[begin[i]]]), f"{targets[i]} targets")
                for i in worst
            ),
        )

    def _among_held_out(self) -> Iterator[Finding]:
        if VALID not in self.held or self.by_rule:
            return
        valid = self.held[VALID][1]
        for split, (shards, held) in self.held.items():
            part = shards.labels and split.startswith(f"{VALID}_")  # one member's, of a mixture
            if split != VALID and not part:
                sources = np.isin(held.sources, valid.sources)
                if sources.any():
                    pairs = np.isin(held.pairs, valid.pairs)
                    yield from self._overlap(VALID, split, sources, pairs)

    def _overlap(
        self, seen_in: str, split: str, sources: npt.NDArray[np.bool_], pairs: npt.NDArray[np.bool_]
    ) -> Iterator[Finding]:
        shards, held = self.held[split]
        share, of_source = float(pairs.mean()), float(sources.mean())
        level = self._level(share, 0.01, 2.0 if self.by_rule else 0.1)
        if level in ("ok", "note"):
            level = max(level, self._level(of_source, 0.1), key=("ok", "note", "warning").index)
        yield Finding(
            level,
            f"overlap_{seen_in}_{split}",
            f"{split} {'examples' if self.pairs_only else 'pairs'} that are in {seen_in} too: "
            f"{int(pairs.sum()):,} ({percent(share)})"
            + ("" if self.pairs_only else f"; sources: {sources.sum():,} ({percent(of_source)})"),
            share,
            self._overlap_advice(seen_in) if level != "ok" else "",
            _cases(self.reader, shards, held, pairs, sources),
        )

    def _overlap_advice(self, seen_in: str) -> str:
        if self.by_rule:
            return "Of short sequences there are few: judge by the long ones"
        return (
            f"A score on them measures memory. Remove them from {seen_in}, or report a score "
            "without them"
        )


def _nothing(held: Hashed) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    return np.zeros(len(held.numbers), np.bool_), np.zeros(len(held.numbers), np.bool_)


def _joined(parts: list[Hashed]) -> Hashed:
    return Hashed(
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.sources for part in parts]),
        np.concatenate([part.pairs for part in parts]),
    )


def _cases(
    reader: Reader,
    shards: Shards,
    held: Hashed,
    pairs: npt.NDArray[np.bool_],
    sources: npt.NDArray[np.bool_],
) -> tuple[Case, ...]:
    """Whole pairs first, then those of which only the source was seen."""
    chosen = [*np.flatnonzero(pairs)[:SHOWN], *np.flatnonzero(sources & ~pairs)[:SHOWN]][:SHOWN]
    return tuple(
        reader.case(shards, int(held.numbers[i]), "" if pairs[i] else "source only") for i in chosen
    )
