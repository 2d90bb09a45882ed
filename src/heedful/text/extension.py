"""Going on with a vocabulary: more merges for byte pairs, learnt from other text.

The pieces that were there keep their ids and come about as before, since a merge that was learnt
earlier is made earlier; new merges only join what the old ones leave apart.
"""

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Iterable

from tokenizers import Tokenizer as Engine

from heedful.errors import UsageError
from heedful.text.base import Tokenizer, usable
from heedful.text.subwords import SubwordTokenizer

Pair = tuple[str, str]


def extend(tokenizer: Tokenizer, texts: Iterable[str], more: int) -> SubwordTokenizer:
    """The same vocabulary with up to `more` further pieces that these texts use often."""
    if tokenizer.tags:
        raise UsageError(
            f"a vocabulary with tags ({', '.join(tokenizer.tags)}) cannot be extended: they come "
            "after its last piece. Use it as it is (extend=0), or train a new one"
        )
    if not isinstance(tokenizer, SubwordTokenizer) or tokenizer.algorithm != "bpe":
        kind = getattr(tokenizer, "algorithm", tokenizer.kind)
        raise UsageError(
            f"only a vocabulary of subwords by bpe can be extended, and this one is of {kind}. "
            "Use it as it is (extend=0), or train a new one"
        )
    data = tokenizer.to_json()["tokenizer"]
    vocabulary: dict[str, int] = data["model"]["vocab"]
    engine = Engine.from_str(json.dumps(data))
    words: Counter[str] = Counter()
    for text in usable(texts):
        words.update(word for word, _ in engine.pre_tokenizer.pre_tokenize_str(text))
    counts = sorted(words.items())
    cut = [[token.value for token in engine.model.tokenize(word)] for word, _ in counts]
    for pair in merges([(tokens, count) for tokens, (_, count) in zip(cut, counts, strict=True)]):
        joined = "".join(pair)
        if joined not in vocabulary:
            if more == 0:
                break
            more -= 1
            vocabulary[joined] = len(vocabulary)
        data["model"]["merges"].append(list(pair))
    return SubwordTokenizer.from_json({"algorithm": "bpe", "tokenizer": data})


def merges(words: list[tuple[list[str], int]]) -> Iterable[Pair]:
    """The pairs to join, most frequent first, until none occurs twice. `words` change with them.

    Among pairs that are equally frequent, the one that sorts first.
    """
    frequency: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)
    for number, (tokens, count) in enumerate(words):
        for pair in zip(tokens, tokens[1:], strict=False):
            frequency[pair] += count
            places[pair].add(number)
    queue = [(-count, pair) for pair, count in frequency.items()]
    heapq.heapify(queue)
    while queue:
        count, best = heapq.heappop(queue)
        if -count != frequency[best]:
            continue  # it has changed since, and stands in the queue again
        if -count < 2:
            return
        yield best
        changed: set[Pair] = set()
        for number in places.pop(best):
            tokens, count = words[number]
            for pair in zip(tokens, tokens[1:], strict=False):
                frequency[pair] -= count
                changed.add(pair)
            tokens[:] = _joined(tokens, best)
            for pair in zip(tokens, tokens[1:], strict=False):
                frequency[pair] += count
                places[pair].add(number)
                changed.add(pair)
        for pair in changed:
            if frequency[pair] > 0:
                heapq.heappush(queue, (-frequency[pair], pair))


def _joined(tokens: list[str], pair: Pair) -> list[str]:
    joined: list[str] = []
    for token in tokens:
        if joined and (joined[-1], token) == pair:
            joined[-1] += token
        else:
            joined.append(token)
    return joined
