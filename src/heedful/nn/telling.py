"""Parts that look at something, and tell whoever watches how much at what.

As a rule nobody watches, and then nothing is told. B batch, H heads, Q queries, K keys.
"""

from collections.abc import Callable
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from heedful.nn.layout import Layout

SELF = "self"  # tokens at those of their own sequence
CROSS = "cross"  # what is written at a source
BETWEEN = "between"  # tokens of either of two texts at those of the other
SUMMARY = "summary"  # a whole text at its own tokens

Note = Callable[[Tensor, Layout], None]


class Telling(nn.Module):
    """A part that looks, and while `note` is there, tells it of every look."""

    kind: ClassVar[str]  # what looks at what
    note: Note | None = None

    def noted(self, weights: Float[Tensor, "B H Q K"], keys: Layout) -> None:
        """Let whoever watches know of a look at keys that stand so."""
        if self.note is not None:
            self.note(weights.detach(), keys)
