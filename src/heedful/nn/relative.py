"""Relative positions: vectors by how far a key stands from the query that looks at it.

B batch, H heads, Q queries, K keys, E per head, R distances, L length.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.nn.edges import Table, read, scored
from heedful.nn.layout import Layout
from heedful.nn.skewing import skew, skew_causal


@dataclass(frozen=True)
class Reach:
    """Which distances have a vector of their own, from `back` behind to `ahead` in front.

    A key beyond has the vector of the end where `clipped`, and none where not.
    """

    back: int
    ahead: int
    clipped: bool

    @property
    def rows(self) -> int:
        return self.back + 1 + self.ahead

    def types(self, distance: Tensor) -> Tensor:
        """Which vector each distance (key less query) has."""
        return distance.clamp(-self.back, self.ahead) + self.back

    def within(self, distance: Tensor) -> Tensor:
        return (distance >= -self.back) & (distance <= self.ahead)


class Relative(nn.Module):
    """Vectors by distance that queries meet beside the keys; `values` also on what is read.

    Where a kernel computes all of it at once it takes `reach` and `keys` from here.
    """

    form: ClassVar[str]  # as a setting writes it
    clipped: ClassVar[bool]
    with_values: ClassVar[bool] = False

    def __init__(self, heads: int, width: int, causal: bool, far: int, shared: int = 0) -> None:
        super().__init__()
        if far < 0 or shared not in (0, 1):
            raise UsageError(
                f"it is {self.form}: 0 or more, and SHARED 0 or 1 (whether all heads have the "
                f"same vectors); got {far} and {shared}"
            )
        self.causal = causal
        self.reach = Reach(far, 0 if causal else far, self.clipped)
        self.keys = Table(heads, width, self.reach.rows, bool(shared))
        self.values = (
            Table(heads, width, self.reach.rows, bool(shared)) if self.with_values else None
        )

    def forward(
        self, q: Float[Tensor, "B H Q E"], at: Layout, keys: Layout
    ) -> Float[Tensor, "B H Q K"]:
        far = distance(at, keys)
        score = scored(q, self.keys(q.dtype), self.reach.types(far))
        return score if self.clipped else score * self.reach.within(far)

    def read(
        self, weights: Float[Tensor, "B H Q K"], at: Layout, keys: Layout
    ) -> Float[Tensor, "B H Q E"]:
        """What the values' vectors add to the output, of the weights."""
        assert self.values is not None
        far = distance(at, keys)
        if not self.clipped:
            weights = weights * self.reach.within(far)
        return read(weights, self.values(weights.dtype), self.reach.types(far))


class Shaw(Relative):
    """Vectors by distance on keys and values; all that are K or more away share one (`shaw:16`).

    Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position Representations", NAACL
    2018, https://arxiv.org/abs/1803.02155. Departs from the paper: a causal decoder has no vectors
    for what lies ahead. Each head has its own, as the paper's base model (`shaw:16:1` shares them,
    as its big one).
    """

    form, clipped, with_values = "shaw:K or shaw:K:SHARED", True, True


class ShawKeys(Relative):
    """As `shaw`, on keys alone, which the paper finds as good (Table 3): `shaw_keys:16`."""

    form, clipped = "shaw_keys:K or shaw_keys:K:SHARED", True


class Skew(Relative):
    """Vectors for N distances on keys, none beyond, by skewing (`skew:512`).

    Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281. A query itself
    is distance 0, so that the farthest with a vector stands N - 1 away. Beyond there is none, as in
    Tensor2Tensor's dot_product_relative_v2; the paper does not say. Block-local attention is the
    pattern `in_blocks:B` with `skew:2B`. Departs from the paper: a model that looks ahead has N - 1
    more, for that side; and in blocks all pairs are scored, and most of them hidden, except by
    the kernel of its own.
    """

    form, clipped = "skew:N or skew:N:SHARED", False

    def __init__(self, heads: int, width: int, causal: bool, count: int, shared: int = 0) -> None:
        if count < 1:
            raise UsageError(f"it is {self.form}, with N of 1 or more; got skew:{count}")
        super().__init__(heads, width, causal, count - 1, shared)

    def forward(
        self, q: Float[Tensor, "B H Q E"], at: Layout, keys: Layout
    ) -> Float[Tensor, "B H Q K"]:
        if at is not keys or at.filling not in ("full", "padded"):
            return super().forward(q, at, keys)
        rows = line_of(self.keys(q.dtype), self.reach, q.shape[2], self.causal)
        by_distance = (q * q.shape[-1] ** -0.5) @ rows.transpose(-1, -2)
        return skew_causal(by_distance) if self.causal else skew(by_distance)


def distance(at: Layout, keys: Layout) -> Tensor:
    """How far in front of each query each key stands, [B, 1, Q, K]."""
    return keys.positions[:, None, None, :] - at.positions[:, None, :, None]


def line_of(
    rows: Float[Tensor, "H R E"], reach: Reach, length: int, causal: bool
) -> Float[Tensor, "H _ E"]:
    """The vectors of every distance in a line of so many tokens, the farthest behind first."""
    far = torch.arange(1 - length, 1 if causal else length, device=rows.device)
    found = rows[:, reach.types(far)]
    return found if reach.clipped else found * reach.within(far)[:, None]


RELATIVE: dict[str, type[Relative]] = {"shaw": Shaw, "shaw_keys": ShawKeys, "skew": Skew}
