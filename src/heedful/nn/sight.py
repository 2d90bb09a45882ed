"""A pattern applied to two layouts, in the form each kernel wants, made once a pass.

B batch, Q queries, K keys.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.nn.layout import Layout
from heedful.nn.patterns import Pattern, looks_back, of_places
from heedful.nn.spans import Spans, spans


class Sight:
    """Who sees whom in one pass: as a tensor of booleans, as FlexAttention's blocks, or as spans of
    the row."""

    def __init__(self, pattern: Pattern, q: Layout, k: Layout) -> None:
        self.pattern, self.q, self.k = pattern, q, k
        self._dense: Tensor | None = None
        self._hidden: Tensor | None = None
        self._shade: Tensor | None = None
        self._clear: bool | None = None
        self._blind: bool | None = None
        self._filled: tuple[Tensor, Tensor] | None = None
        self._blocks: Any = None
        self._spans: Spans | None = None

    @property
    def dense(self) -> Bool[Tensor, "B 1 Q K"]:
        if self._dense is None:
            self._dense = self.pattern(self.q, self.k)[:, None]
        return self._dense

    @property
    def hidden(self) -> Bool[Tensor, "B 1 Q K"]:
        """What may not be seen."""
        if self._hidden is None:
            self._hidden = ~self.dense
        return self._hidden

    @property
    def shade(self) -> Float[Tensor, "B 1 Q K"]:
        """What is added to scores so that nobody looks at what may not be seen."""
        if self._shade is None:
            dark = torch.finfo(torch.float32).min
            self._shade = torch.zeros(self.hidden.shape).masked_fill_(self.hidden, dark)
        return self._shade

    @property
    def clear(self) -> bool:
        """Whether every query sees every key, where that is known without waiting for a device."""
        if self._clear is None and self._all_behind:
            self._clear = True
        if self._clear is None:
            here = self.q.positions.device.type == "cpu" and not torch.compiler.is_compiling()
            self._clear = here and bool(self.dense.all())
        return self._clear

    @property
    def _all_behind(self) -> bool:
        """Whether all keys are one sequence that ends before or with the first query of it, and
        what is behind may be looked at."""
        if self.q.start is None or self.k.start != 0 or not looks_back(self.pattern):
            return False
        return self.q.start + 1 >= self.k.positions.shape[1]

    @property
    def blind(self) -> bool:
        """Whether some query may see nothing: asked on a CPU, where there is no waiting."""
        if self._blind is None:
            self._blind = bool(self.hidden.all(-1).any())
        return self._blind

    @property
    def filled(self) -> tuple[Bool[Tensor, "B 1 Q K"], Bool[Tensor, "B 1 Q 1"]]:
        """As `dense`, but a query that may see nothing sees all; and which queries those are.

        For kernels that divide by zero where nothing is seen.
        """
        if self._filled is None:
            blind = ~self.dense.any(-1, keepdim=True)
            self._filled = (self.dense | blind, blind)
        return self._filled

    @property
    def blocks(self) -> Any:
        if self._blocks is None:
            from torch.nn.attention.flex_attention import create_block_mask

            (batch, queries), keys = self.q.positions.shape, self.k.positions.shape[1]
            self._blocks = create_block_mask(
                lambda b, h, q, k: self.allows(b, q, k),
                batch,
                None,
                queries,
                keys,
                device=self.q.positions.device,
            )
        return self._blocks

    @property
    def spans(self) -> Spans:
        """Where the pattern has such; `heedful.nn.spans` says which do."""
        if self._spans is None:
            self._spans = spans(self.pattern, self.q, self.k)
        return self._spans

    def allows(self, b: Any, q: Any, k: Any) -> Any:
        """Whether query `q` of row `b` may see key `k`."""
        return self.pattern.allows(
            Layout(self.q.positions[b, q], self.q.segments[b, q]),
            Layout(self.k.positions[b, k], self.k.segments[b, k]),
        )


def sight(pattern: Pattern, q: Layout, k: Layout, lasting: bool = False) -> Sight:
    """The sight of this pattern on these two layouts; layers that ask for the same one share it.

    A `lasting` one serves further queries too, as many of the same keys: where all are of sequence
    1, and the pattern is one of sequences and not of places.
    """
    if lasting and not of_places(pattern):
        name = "lasting", pattern, q.positions.shape
        if name not in k.seen:
            k.seen[name] = Sight(pattern, q, k)
        lasts: Sight = k.seen[name]
        return lasts
    for known in q.seen.get("sights", ()):
        if known.k is k and known.pattern == pattern:
            return known
    made = Sight(pattern, q, k)
    q.seen.setdefault("sights", []).append(made)
    return made
