"""Names for pooled keys: which tokens each of them was made of. K keys."""

import numpy as np

from heedful.errors import UsageError
from heedful.nn.layout import Layout
from heedful.nn.pools import Areas, Pool, Strided
from heedful.seeing.words import Side, alone


def pooled_side(pool: Pool, keys: Layout, tokens: Side) -> tuple[Side, np.ndarray]:
    """The keys that stand for something, and which of all keys they are.

    `tokens` are those that the keys were made of, in the order of their positions.
    """
    ends = keys.positions[0].tolist()
    real = [place for place, segment in enumerate(keys.segments[0].tolist()) if segment]
    sizes = _sizes(pool, len(ends))
    names = [_name(tokens.tokens, ends[place], sizes[place]) for place in real]
    return alone(*names), np.asarray(real, dtype=int)


def _sizes(pool: Pool, keys: int) -> list[int]:
    """How many tokens each key was made of, up to the place where it stands."""
    if isinstance(pool, Strided):
        return [pool.size] * keys
    if isinstance(pool, Areas) and pool.high == 1:
        each = keys // pool.wide
        return [wide for wide in range(1, pool.wide + 1) for _ in range(each)]
    raise UsageError(
        f"cannot say which tokens the keys of the pool {type(pool).__name__} were made of, so "
        "there is nothing to write beside them. Look at a model with model.attention.pool=none, "
        "strided:N or areas:N"
    )


def _name(tokens: tuple[str, ...], end: int, size: int) -> str:
    members = [token.strip() for token in tokens[max(0, end - size + 1) : end + 1]]
    return "+".join(members) if len(members) < 4 else f"{members[0]}…{members[-1]}"
