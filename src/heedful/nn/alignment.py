"""Attention of a recurrent decoder: which places of the source each output word looks at.

A score says how well query and key fit, a window where may be looked, and coverage what has been
looked at already: Tu, Lu, Liu, Liu and Li, "Modeling Coverage for Neural Machine Translation", ACL
2016, https://arxiv.org/abs/1601.04811, in the form of See, Liu and Manning, "Get To The Point", ACL
2017, https://arxiv.org/abs/1704.04368: the sum of all weights so far, inside the score.
B sources, R = B x C rows that read them, Q queries, K keys.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.errors import UsageError
from heedful.nn.attention import Encoded
from heedful.nn.layout import Layout
from heedful.nn.memory import FORGET, Memory
from heedful.nn.scores import Known, Score
from heedful.nn.telling import CROSS, Telling
from heedful.nn.windows import Everywhere, Window

Keys = tuple[Tensor, Tensor]  # what is read, and what the score made of it, [B, K, ...]
Carried = tuple[Tensor, Tensor]  # of each row, from step to step: coverage, and the score's own


class Looked(NamedTuple):
    """What a look at the source gave."""

    context: Float[Tensor, "R Q D"]
    weights: Float[Tensor, "R Q K"]
    carried: Carried


class Scene(NamedTuple):
    """What queries can see of a source: made once a pass, and read a step at a time."""

    keys: Keys
    at: Layout  # of the keys
    place: Tensor  # where the queries stand, [R, Q]
    visible: Tensor  # [R, Q, K]

    def step(self, t: int) -> "Scene":
        return self._replace(place=self.place[:, t : t + 1], visible=self.visible[:, t : t + 1])


class Alignment(Telling):
    """Scores, window and coverage, joined; one head."""

    kind = CROSS

    def __init__(
        self,
        score: Score,
        query: int,
        key: int,
        window: Window = Everywhere(),
        coverage: bool = False,
    ) -> None:
        super().__init__()
        self.score = score.build(query, key, coverage)
        self.window = window.build(query)
        self.coverage = coverage
        if not self.score.normalised and not isinstance(window, Everywhere):
            raise UsageError(
                f"score '{score.kind}' has no softmax that a window could be put round. "
                "Use window 'global'"
            )

    @property
    def stepwise(self) -> bool:
        """Whether a look depends on the one before it."""
        return self.coverage or self.score.carried > 0

    def prepare(self, source: Encoded) -> Keys:
        """What is made of a source once."""
        return source.x, self.score.prepare(source.x)

    def scene(self, keys: Keys, source: Layout, at: Layout) -> Scene:
        rows, sources = len(at.segments), len(source.segments)
        segments, places = source.segments, source.positions
        if rows != sources:
            segments = segments.repeat_interleave(rows // sources, 0)
        visible = (at.segments[:, :, None] == segments[:, None]) & (segments > 0)[:, None]
        if self.score.reach is not None:
            seen = places.repeat_interleave(rows // sources, 0) < self.score.reach
            visible = visible & seen[:, None]
        return Scene(keys, source, at.positions, visible)

    def fresh(self, like: Tensor, scene: Scene) -> Carried:
        """Nothing looked at yet; a row for each of `like`."""
        places = scene.visible.shape[2] if self.coverage else 0
        return like.new_zeros(len(like), places), like.new_zeros(len(like), self.score.carried)

    def forward(self, q: Float[Tensor, "R Q D"], scene: Scene, carried: Carried) -> Looked:
        """Look from each query. Where a look depends on the one before, there is one a row."""
        values, keys = scene.keys
        rows, queries, sources = len(q), q.shape[1], len(values)
        visible, place = _joined(scene.visible, sources), _joined(scene.place, sources)
        asking = _joined(q, sources)
        covered, moved = carried
        known = Known(
            scene.at,
            covered=_joined(covered[:, None], sources) if self.coverage else None,
            carried=_joined(moved[:, None], sources) if self.score.carried else None,
        )
        score, after = self.score(asking, keys, known)
        inside, bell = self.window(asking, place, scene.at.positions, visible)
        if self.score.normalised:
            score = score.masked_fill(~inside, torch.finfo(score.dtype).min).softmax(-1)
        weights = score.masked_fill(~inside, 0.0)  # where nothing is seen, nothing is looked at
        weights = weights if bell is None else weights * bell.to(weights.dtype)
        context = (weights @ values).reshape(rows, queries, -1)
        weights = weights.reshape(rows, queries, -1)
        if self.coverage:
            covered = covered + weights[:, 0]
        if after is not None:
            moved = after.reshape(rows, -1)
        return Looked(context, weights, (covered, moved))

    def look(
        self, q: Float[Tensor, "R Q D"], at: Layout, source: Encoded, memory: Memory = FORGET
    ) -> Float[Tensor, "R Q C"]:
        """What all queries see, at once: none may depend on what another saw. It is told."""
        keys = memory["keys"].once(lambda: self.prepare(source))
        scene = self.scene(keys, source.at, at)
        context, weights, _ = self(q, scene, self.fresh(q, scene))
        self.tell(weights, source.at)
        return context

    def tell(self, weights: Float[Tensor, "R Q K"], source: Layout) -> None:
        """Let whoever watches know, in the shape of attention with one head, [B, 1, C x Q, K]."""
        if self.note is not None:
            self.noted(_joined(weights, len(source.segments))[:, None], source)


def _joined(x: Tensor, sources: int) -> Tensor:
    """[B x C, Q, ...] to [B, C x Q, ...]: rows that read one source, in one."""
    return x if len(x) == sources else x.reshape(sources, -1, *x.shape[2:])
