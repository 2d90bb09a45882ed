"""Buckets of words: the training data cut into stretches, each of so many different target words.

Jean, Cho, Memisevic and Bengio, "On Using Very Large Target Vocabulary for Neural Machine
Translation", ACL 2015, https://arxiv.org/abs/1412.2007, section 3.3. An epoch is walked in its
order, batch by batch; a batch that would bring a bucket over the limit begins the next. Every batch
brings the words of its bucket along. Each epoch has another order, and so other buckets.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from heedful.data.parts import Part
from heedful.data.shards import Indices, Shards
from heedful.errors import HeedfulError
from heedful.text.specials import PAD


def in_buckets(plan: Iterator[Part], shards: Shards, feature: str, most: int) -> Iterator[Part]:
    """The same parts, each with the words of its bucket, `most` of them with padding counted."""
    waiting: list[Part] = []
    words: Indices = np.zeros(0, np.int64)
    for part in plan:
        own = np.unique(shards.gather(feature, part.examples)).astype(np.int64)
        if len(own) > most:
            raise HeedfulError(
                f"one batch has {len(own):,} different words of {feature}, and a bucket is to have "
                f"batch.words={most:,} at most. Raise batch.words, or lower batch.tokens"
            )
        both = np.union1d(words, own)
        if len(both) > most:
            yield from _close(waiting, words, most)
            waiting, both = [], own
        waiting.append(part)
        words = both
    yield from _close(waiting, words, most)


def _close(parts: list[Part], words: Indices, most: int) -> Iterator[Part]:
    padded = np.full(most, PAD, np.int64)
    padded[: len(words)] = words
    for part in parts:
        yield replace(part, words=padded)
