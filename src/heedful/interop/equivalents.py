"""Other weights that compute the same: for libraries that fix what ours leave open.

Nothing here changes what a model says, only how its numbers are written.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from heedful.interop.anatomy import (
    Affine,
    Anatomy,
    AttentionWeights,
    LayerWeights,
    StackWeights,
)


def in_halves(anatomy: Anatomy) -> Anatomy:
    """The channels in another order, even ones first: the paper's sines, then its cosines.

    A Transformer does not know which of its channels is which, so all that is written into the
    residual stream or read from it may be put in another order together.
    """
    dim = anatomy.config.dim
    order = torch.cat([torch.arange(0, dim, 2), torch.arange(1, dim, 2)])

    def norm(of: Affine) -> Affine:
        return Affine(of.weight[order], of.bias[order])

    def attention(of: AttentionWeights) -> AttentionWeights:
        return AttentionWeights(
            of.q[:, order],
            of.k[:, order],
            of.v[:, order],
            of.out[order],
            norm(of.norm),
        )

    def layer(of: LayerWeights) -> LayerWeights:
        return LayerWeights(
            attention(of.attention),
            None if of.reading is None else attention(of.reading),
            Affine(of.inner.weight[:, order], of.inner.bias),
            Affine(of.outer.weight[order], of.outer.bias[order]),
            norm(of.norm),
        )

    def stack(of: StackWeights) -> StackWeights:
        return StackWeights(
            of.positions[:, order],
            tuple(layer(one) for one in of.layers),
            None if of.norm is None else norm(of.norm),
        )

    moved = replace(anatomy, encoder=stack(anatomy.encoder), decoder=stack(anatomy.decoder))
    return _embeddings(moved, lambda x: x[:, order])


def with_epsilon(anatomy: Anatomy, ours: float, theirs: float, begin: float) -> Anatomy:
    """For norms that add `theirs` to the variance where ours add `ours`.

    A norm of c·x that adds c²·ε is the norm of x that adds ε. So the residual stream is written
    c = √(theirs / ours) times as large: what writes into it is multiplied by c, and what reads from
    it is divided. It begins `begin` times as large: c, or 1 where the signal of positions cannot be
    scaled, and then the first norm of each stack is alone in adding more than it should.
    """
    scale = (theirs / ours) ** 0.5
    before = anatomy.config.norm == "pre"
    stack = _before if before else _after
    changed = replace(
        anatomy,
        encoder=stack(anatomy.encoder, scale, begin, leave=1 if before else scale),
        decoder=stack(anatomy.decoder, scale, begin, leave=1 / begin),
    )
    return _embeddings(changed, lambda x: x * begin)


def _before(of: StackWeights, scale: float, begin: float, leave: float) -> StackWeights:
    """Norms come before: each takes the scale away, and only what is added has it."""
    assert of.norm is not None and begin == scale
    layers = tuple(
        LayerWeights(
            _attention(one.attention, 1, 1, scale, 1),
            None if one.reading is None else _attention(one.reading, 1, 1, scale, 1),
            one.inner,
            _times(one.outer, scale),
            one.norm,
        )
        for one in of.layers
    )
    return StackWeights(of.positions * begin, layers, _times(of.norm, leave))


def _after(of: StackWeights, scale: float, begin: float, leave: float) -> StackWeights:
    """Norms come after: each gives the stream its scale, and whatever reads it divides."""
    layers, stream = [], begin
    for number, one in enumerate(of.layers, start=1):
        reading = one.reading
        layers.append(
            LayerWeights(
                _attention(one.attention, stream, stream, stream, scale),
                None if reading is None else _attention(reading, scale, scale, scale, scale),
                Affine(one.inner.weight / scale, one.inner.bias),
                _times(one.outer, scale),
                _times(one.norm, leave if number == len(of.layers) else scale),
            )
        )
        stream = scale
    return StackWeights(of.positions * begin, tuple(layers), None)


def _attention(
    of: AttentionWeights, asks: float, reads: float, writes: float, norm: float
) -> AttentionWeights:
    """With queries from a stream of scale `asks`, keys and values from one of `reads`."""
    return AttentionWeights(
        of.q / asks, of.k / reads, of.v / reads, of.out * writes, _times(of.norm, norm)
    )


def _times(of: Affine, factor: float) -> Affine:
    return Affine(of.weight * factor, of.bias * factor)


def _embeddings(anatomy: Anatomy, change: Callable[[Tensor], Tensor]) -> Anatomy:
    """Each embedding changed; those that were one are one still."""
    changed: dict[int, Tensor] = {}
    for one in (anatomy.inputs, anatomy.targets, anatomy.head):
        if id(one) not in changed:
            changed[id(one)] = change(one)
    return replace(
        anatomy,
        inputs=changed[id(anatomy.inputs)],
        targets=changed[id(anatomy.targets)],
        head=changed[id(anatomy.head)],
    )
