"""Coverage: how much of the source an output has looked at.

Wu et al., "Google's Neural Machine Translation System", 2016, https://arxiv.org/abs/1609.08144,
equation 14: cp = sum over source places i of log(min(sum over output places j of p_ij, 1)).
B rows, K hypotheses a row, R = B * K, H heads, S source length.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from heedful.decoding.protocol import Decodable
from heedful.errors import UsageError
from heedful.nn.watching import watch


@contextmanager
def watching_source(model: Decodable, wanted: bool) -> Iterator[Callable[[], Tensor] | None]:
    """While open, a function that gives what the latest step of one token looked at in the source,
    [R, S]: the mean over layers and heads. None where it is not wanted."""
    if not wanted:
        yield None
        return
    if not isinstance(model, nn.Module):
        raise UsageError(_NO_ATTENTION.format(type(model).__name__))
    with watch(model, kinds=("cross",)) as seen:

        def looked_at() -> Tensor:
            layers = [weights.float().mean(dim=1).flatten(0, 1) for _, weights in seen.weights]
            if not layers:
                raise UsageError(_NO_ATTENTION.format(type(model).__name__))
            return torch.stack(layers).mean(dim=0)

        yield looked_at


def coverage_penalty(covered: Tensor, real: Tensor) -> Tensor:
    """cp of each hypothesis, never above 0: sums of attention [B, K, S], real source places [B, S]
    to [B, K]. A place never looked at counts as log of the smallest float32, not as -inf."""
    smallest = torch.finfo(torch.float32).tiny
    seen = covered.clamp(min=smallest, max=1.0).log()
    return seen.masked_fill(~real[:, None, :], 0.0).sum(dim=-1)


_NO_ATTENTION = (
    "decode.coverage needs a model that attends to its source, and {} does not. "
    "Set decode.coverage=0"
)
