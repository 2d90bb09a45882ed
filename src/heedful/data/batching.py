"""How examples are gathered into batches: what a preset asks for, without the making of it."""

import math
from dataclasses import dataclass

from heedful.config import Choice
from heedful.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Batching(Choice):
    """A budget of tokens, and how it is filled. Lengths count the end symbol.

    The budget is in slots of the larger side, padding included: rows x length.
    """

    tokens: int = 4_096
    longest: int = 256  # an example with a longer side is left out of training, and counted
    words: int = 0  # the most different target words of a bucket, for loss=buckets; 0 for none
    temperature: float = 1.0  # of a mixture: 1 keeps natural sizes, more draws members more equally

    def __post_init__(self) -> None:
        if self.tokens < 1 or self.longest < 1:
            raise UsageError(
                "batch.tokens and batch.longest must be 1 or more, "
                f"got {self.tokens} and {self.longest}"
            )
        if self.words < 0:
            raise UsageError(f"batch.words must be 0 (no buckets) or more, got {self.words}")
        if not (math.isfinite(self.temperature) and self.temperature >= 1):
            raise UsageError(
                f"batch.temperature must be a number of 1 or more, got {self.temperature}. For "
                "members that come up equally often, take a high one, as 1000000"
            )

    @property
    def bounds(self) -> dict[str, int]:
        """By setting, how long a side of an example may be."""
        return {"batch.longest": self.longest, "batch.tokens": self.tokens}

    @property
    def limit(self) -> int:
        """The longest side an example can have and still be trained on."""
        return min(self.bounds.values())

    @property
    def limited_by(self) -> str:
        """The settings that would have to be raised for longer ones, in words."""
        return " and ".join(name for name, bound in self.bounds.items() if bound == self.limit)


@dataclass(frozen=True, kw_only=True)
class Packed(Batching, kind="packed"):
    """Many examples a row, told apart by segments; every batch has the same shape."""

    row: int = 256  # slots of a row, the same for every feature; no example can be longer
    window: int = 512  # examples that a row is filled up from: out of more, it is filled better

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.row < 1 or self.window < 1:
            raise UsageError(
                f"batch.row and batch.window must be 1 or more, got {self.row} and {self.window}"
            )

    @property
    def bounds(self) -> dict[str, int]:
        return {"batch.longest": self.longest, "batch.row": self.row}

    @property
    def rows(self) -> int:
        """How many rows a batch has."""
        if self.tokens < self.row:
            raise UsageError(
                f"batch.tokens={self.tokens} has no room for a row of batch.row={self.row}. "
                f"Set batch.tokens to {self.row} or more, or batch.row to {self.tokens} or less"
            )
        return self.tokens // self.row


@dataclass(frozen=True, kw_only=True)
class Bucketed(Batching, kind="bucketed"):
    """One example a row, padded; examples of like length go together."""

    window: int = 32_768  # shuffled examples that are sorted by length at a time
    multiple: int = 1  # lengths are padded up to a multiple of this; 8 suits GPUs

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window < 1 or self.multiple < 1:
            raise UsageError(
                f"batch.window and batch.multiple must be 1 or more, got {self.window} "
                f"and {self.multiple}"
            )

    @property
    def bounds(self) -> dict[str, int]:
        whole = self.tokens // self.multiple * self.multiple
        return {"batch.longest": self.longest, "batch.tokens": whole}
