"""What of a look goes into one picture: a head, a mean, a rollout, all heads, or the alignment."""

import numpy as np

from heedful.errors import UsageError
from heedful.seeing.looks import Attended, Look
from heedful.seeing.words import Side, joined
from heedful.viz.figures import Panel

ALIGNMENT = "alignment"
ALL, MEAN, ROLLOUT = "all", "mean", "rollout"


def panels(
    seen: Look,
    kind: str | None = None,
    layer: int | None = None,
    head: int | str = ALL,
    words: bool = False,
) -> list[Panel]:
    """The matrices to draw. Without a kind or a layer, the last: attention to the source, where
    there is one."""
    kinds = [one.kind for one in seen.attended]
    if kind == ALIGNMENT:
        found = seen.alignment()
        if found is None:
            raise UsageError(
                "this model has no source to be aligned to. Choose another kind: "
                f"{', '.join(kinds)}"
            )
        return [Panel(ALIGNMENT, *found)]
    one = seen.of(kind or kinds[-1])
    chosen = _chosen(one, len(one.layers) - 1 if layer is None else layer, head)
    rows, columns = (_names(side, words) for side in (one.queries, one.keys))
    return [
        Panel(name, rows, columns, joined(weights, one.queries, one.keys) if words else weights)
        for name, weights in chosen.items()
    ]


def _chosen(one: Attended, layer: int, head: int | str) -> dict[str, np.ndarray]:
    """Weights between tokens, by what they are."""
    mean, title = one.mean(layer), f"{one.kind}, layer {layer + 1}"
    if head == MEAN:
        return {f"{title}, mean": mean}
    if head == ROLLOUT:
        if not one.rollout:
            why = "are joined from several tokens" if one.pooled else "are not made by attention"
            raise UsageError(f"no rollout: the keys of this attention {why}")
        return {f"{title}, rollout": one.rollout[layer]}
    heads = range(len(one.layers[layer].weights)) if isinstance(head, str) else [head]
    return {f"{title}, head {number + 1}": one.mean(layer, number) for number in heads}


def _names(side: Side, words: bool) -> list[str]:
    return side.joined if words else [token.strip() for token in side.tokens]
