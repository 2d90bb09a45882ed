"""Padded rows: one example a row, examples of like length together.

A window of shuffled examples is sorted by length and cut into batches under the budget; then the
batches of the window are shuffled. Window by window, so an epoch of any size starts at once.
"""

from collections.abc import Iterator

import numpy as np

from heedful.data.batching import Bucketed
from heedful.data.parts import Draws, Part
from heedful.data.shards import Indices, Ints


def plan(lengths: list[Ints], kept: Indices, batching: Bucketed, draws: Draws) -> Iterator[Part]:
    """One epoch: every kept example once. `lengths` has one array a feature, over all examples."""
    order = kept[draws.order(len(kept))]
    for begin in range(0, len(order), batching.window):
        window = order[begin : begin + batching.window]
        parts = list(cut(lengths, window, batching.tokens, batching.multiple))
        for i in draws.order(len(parts)).tolist():
            yield parts[i]


def cut(lengths: list[Ints], examples: Indices, tokens: int, multiple: int = 1) -> Iterator[Part]:
    """Batches of these examples from short to long, each as tall as the budget of slots allows.

    An example longer than the whole budget is a batch of its own.
    """
    sides = np.stack([side[examples] for side in lengths]).astype(np.int64)
    sides = -(-sides // multiple) * multiple
    larger = sides.max(axis=0, initial=0)
    by_length = np.lexsort((*sides[::-1], larger))  # by the larger side, then by the first
    examples, sides, larger = examples[by_length], sides[:, by_length], larger[by_length]
    begin = 0
    while begin < len(examples):
        most = max(1, tokens // max(1, int(larger[begin])))
        candidates = larger[begin : begin + most]
        slots = candidates * np.arange(1, len(candidates) + 1)
        count = max(1, int(np.searchsorted(slots, tokens, side="right")))
        widths = tuple(sides[:, begin : begin + count].max(axis=1).tolist())
        yield Part(examples[begin : begin + count], np.arange(count), count, widths)
        begin += count
