"""A mixture: a problem made of others, whose examples say which of them they are of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from heedful.errors import UsageError
from heedful.problems.base import Example, Problem
from heedful.text.tagged import Addressed

MEMBER = "member"  # in a raw example of a mixture: the label of the member it is of


@dataclass(frozen=True)
class Member:
    """One of the problems that a mixture is made of."""

    name: str  # as registered
    problem: Problem
    tag: str  # of the language that it translates into


@runtime_checkable
class Mixture(Protocol):
    """A problem made of others."""

    def parts(self) -> dict[str, Member]:
        """The members by their labels."""
        ...


def members_of(problem: Problem) -> dict[str, Member]:
    """The members of a problem by their labels; none if it is no mixture."""
    return problem.parts() if isinstance(problem, Mixture) else {}


def addressed(examples: Iterator[Example], tags: Mapping[str, str]) -> Iterator[Example]:
    """The same examples, each source addressed to the language of its member's tag."""
    for example in examples:
        source = example["inputs"]
        text = source if isinstance(source, str) else " ".join(map(str, source))
        yield {**example, "inputs": Addressed(text, tags[str(example[MEMBER])])}


def check_tags(name: str, known: tuple[str, ...], tags: Mapping[str, str]) -> None:
    """An error if a vocabulary has tags, and the problem does not say which of them to use."""
    if known and not tags:
        raise UsageError(
            f"the vocabulary has a tag for each language that text goes to ({', '.join(known)}), "
            f"and '{name}' uses none. Say it of your own files with --to; a problem with a name "
            f"is made a member: train multilingual --set problem.members={name}"
        )
