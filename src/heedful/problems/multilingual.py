"""One model for several languages: each source begins with a tag that says into which it goes.

Johnson et al., "Google's Multilingual Neural Machine Translation System", TACL 2017,
https://arxiv.org/abs/1611.04558. How often each member comes up is `batch.temperature`'s to say.
"""

import random
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from heedful.data.mixture import MEMBER, Member
from heedful.data.progress import Progress
from heedful.data.sources import Examples, Fetches
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text import bytes, chars, words  # noqa: F401  (so that problem.text can name them)
from heedful.text.base import Text
from heedful.text.subwords import Subwords
from heedful.text.tagged import Tagged, check_tag

ALL = (TRAIN, VALID, TEST)  # the splits that are of all members together


@runtime_checkable
class Translates(Protocol):
    """A problem that says from which language into which it is: ("en", "de")."""

    @property
    def direction(self) -> tuple[str, str]: ...


@dataclass(frozen=True, kw_only=True)
class Mixed(Problem):
    """The base of what is made of several translation problems.

    `train`, `valid` and `test` have the examples of all members, one of each in turn. Every other
    split of a member is there by itself too, with its label after it: `test_de`.
    """

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "exact_match")
    best_by: ClassVar[str] = "bleu"

    text: Text = field(default_factory=lambda: Subwords(size=16_000))

    @abstractmethod
    def parts(self) -> dict[str, Member]:
        """The members by their labels, which are also the ends of their splits' names."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The languages that can be asked for."""
        return tuple(dict.fromkeys(member.tag for member in self.parts().values()))

    @property
    def features(self) -> dict[str, Feature]:
        tagged = Feature(Tagged(self.text, self.tags))
        return {"inputs": tagged, "targets": tagged}

    @property
    def sizes(self) -> dict[str, int | None]:
        return dict.fromkeys([*ALL, *self._own_splits()])

    def fetch(self, folder: Path, progress: Progress) -> Examples:
        """Have what the members must fetch; then examples can be read."""
        readers: dict[str, Examples] = {}
        for label, member in self.parts().items():
            one = member.problem
            readers[label] = (
                one.fetch(folder, progress) if isinstance(one, Fetches) else one.examples
            )
        return partial(self._read, readers)

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        readers = {label: member.problem.examples for label, member in self.parts().items()}
        return self._read(readers, split, rng)

    def _read(
        self, readers: Mapping[str, Examples], split: str, rng: random.Random
    ) -> Iterator[Example]:
        if not readers:
            raise UsageError(self.nothing())
        wanted = dict.fromkeys(readers, split)
        if split not in ALL:
            theirs, label = self._own_splits()[split]
            wanted = {label: theirs}
        return _in_turn([self._member(label, readers[label], wanted[label]) for label in wanted])

    def _member(self, label: str, read: Examples, split: str) -> Iterator[Example]:
        """The examples of a member: the same as when it is prepared by itself."""
        member = self.parts()[label]
        rng = random.Random(f"{member.name}/{split}/0")
        full = False
        for example in islice(read(split, rng), member.problem.sizes[split]):
            full = full or all(_said(value) for value in example.values())
            yield {**example, MEMBER: label}
        if not full:
            raise HeedfulError(
                f"member '{label}' ({member.name}) has no {split} example with two full sides. "
                "Mend its data, or leave it out"
            )

    def _own_splits(self) -> dict[str, tuple[str, str]]:
        """The splits of single members: each one's name there, and its member's label."""
        found: dict[str, tuple[str, str]] = {}
        for label, member in self.parts().items():
            there = member.problem.sizes
            for split in ALL:
                if split not in there:
                    raise UsageError(
                        f"'{member.name}' cannot be a member: it has no {split} split. It has: "
                        f"{', '.join(there)}"
                    )
            ours = {f"{split}_{_plain(label)}": split for split in there if split != TRAIN}
            for name, split in ours.items():
                if name in found:
                    raise UsageError(
                        f"the members '{found[name][1]}' and '{label}' would both have a split "
                        f"'{name}': call one of them otherwise"
                    )
                found[name] = split, label
        return found

    @abstractmethod
    def nothing(self) -> str:
        """What is said when there are no members."""


@problems.register("multilingual")
@dataclass(frozen=True, kw_only=True)
class Multilingual(Mixed):
    """Several translation problems in one model, told apart by a tag of the target's language.

    `members` are names of problems. A member's label is its target language; where two have the
    same, the pair (`de_en`), or its name.
    """

    members: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.members)) < len(self.members):
            raise UsageError(f"problem.members names one twice: {', '.join(self.members)}")
        for name in self.members:
            check_tag(_direction(name, problems.get(name)())[1])

    def parts(self) -> dict[str, Member]:
        made = {name: problems.get(name)() for name in self.members}
        pairs = {name: _direction(name, problem) for name, problem in made.items()}
        labels = _labels(pairs)
        return {
            labels[name]: Member(name, problem, pairs[name][1]) for name, problem in made.items()
        }

    def nothing(self) -> str:
        return (
            "multilingual needs members: --set "
            "problem.members=multi30k_en_de,multi30k_en_fr. See: heedful list problems"
        )


def _direction(name: str, problem: Problem) -> tuple[str, str]:
    if not isinstance(problem, Translates):
        raise UsageError(
            f"'{name}' cannot be a member: it does not say into which language it translates. A "
            'problem says so by its `direction`, as ("en", "de")'
        )
    return problem.direction


def _labels(pairs: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """What each member is called: as short as tells it from the others."""
    counts = Counter(target for _, target in pairs.values())
    both = Counter(pairs.values())
    return {
        name: target
        if counts[target] == 1
        else f"{source}_{target}"
        if both[source, target] == 1
        else name
        for name, (source, target) in pairs.items()
    }


def _in_turn(streams: list[Iterator[Example]]) -> Iterator[Example]:
    """One of each, again and again; when one ends, the others go on.

    So the first examples, which a vocabulary is learnt from, are of all members alike.
    """
    while streams:
        for stream in tuple(streams):
            example = next(stream, None)
            if example is None:
                streams.remove(stream)
            else:
                yield example


def _plain(label: str) -> str:
    """A label as a part of a split's name, and so of a file's."""
    return label.replace("-", "_")


def _said(value: str | list[int]) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)
