"""Several measurements that make one: of another budget each, or one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.claims.arms import Trainings
from heedful.claims.base import Context, Measured, Piece


@dataclass(frozen=True, kw_only=True)
class Several:
    """Measures by several sets of trainings, whose arms have names of their own."""

    parts: tuple[Trainings, ...]

    def arm_names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.arm_names())

    def pieces(self, context: Context) -> tuple[Piece, ...]:
        return tuple(one for part in self.parts for one in part.pieces(context))

    def __call__(self, context: Context) -> Measured:
        return together([part(context) for part in self.parts])


def together(found: Sequence[Measured]) -> Measured:
    """Several measurements as one."""
    return Measured(
        numbers={name: number for one in found for name, number in one.numbers.items()},
        curve={name: points for one in found for name, points in one.curve.items()},
        seeds=tuple(dict.fromkeys(seed for one in found for seed in one.seeds)),
        seconds=sum(one.seconds for one in found),
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
        commits=tuple(dict.fromkeys(commit for one in found for commit in one.commits)),
        hardware=tuple(dict.fromkeys(place for one in found for place in one.hardware)),
    )
