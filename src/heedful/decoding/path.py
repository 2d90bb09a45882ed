"""Following one path a row, token by token: what greedy search and sampling share.

R rows, T longest limit, V vocabulary.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable, Hypothesis
from heedful.decoding.scores import length_penalty, log_probabilities, no_number
from heedful.text.specials import EOS, START

# Given log-probabilities [R, V], the step and the rows they belong to [R]: the next ids [R].
Choose = Callable[[Tensor, int, Tensor], Tensor]

# Rows that are done leave once they are this share of the batch: moving the memory of the others
# costs about as much as a step, so not at every one of them.
LEAVING_SHARE = 1 / 8


# Given which rows are done: the places of those that stay, or None while all do.
Leave = Callable[[Sequence[bool]], list[int] | None]


def by_eighths(done: Sequence[bool]) -> list[int] | None:
    """Rows that are done leave once they are an eighth of all."""
    if sum(done) < max(1, LEAVING_SHARE * len(done)):
        return None
    return [place for place, is_done in enumerate(done) if not is_done]


def follow(
    model: Decodable,
    batch: Batch,
    limits: Sequence[int],
    prefix: Prefix,
    choose: Choose,
    alpha: float,
    copies: int = 1,
    leave: Leave = by_eighths,
) -> list[list[Hypothesis]]:
    """Let `choose` pick each next token until the end symbol or the row's limit; `copies` of each
    row go their ways apart, and come back best first."""
    device = prefix.ids.device
    source = torch.arange(len(limits), device=device).repeat_interleave(copies)
    memory = model.start(batch)
    if copies > 1:
        memory.select(source)
    prefix = prefix.select(source)
    paths = [_Path(limit) for limit in limits for _ in range(copies)]
    active = torch.arange(len(paths), device=device)
    there = list(paths)  # those that are still active
    tokens = torch.full((len(paths),), START, device=device)
    for step in range(max(limits)):
        log_probs = log_probabilities(model.step(tokens[:, None], memory)[:, -1])
        log_probs = prefix.force(log_probs[:, None], step)[:, 0]
        tokens = choose(log_probs, step, active)
        scores = log_probs.gather(1, tokens[:, None])[:, 0]
        for place, (path, token, score) in enumerate(
            zip(there, *_told(tokens, scores), strict=True)
        ):
            if not path.done and not math.isfinite(score):
                raise no_number(int(source[active[place]]), step)
            path.go(token, score)
        done = [path.done for path in there]
        if all(done):
            break
        if (kept := leave(done)) is not None:
            there = [there[place] for place in kept]
            index = torch.tensor(kept, device=device)
            memory.select(index)
            active, tokens, prefix = active[index], tokens[index], prefix.select(index)

    found = [_hypothesis(path.ids, path.scores, alpha) for path in paths]
    groups = [found[first : first + copies] for first in range(0, len(found), copies)]
    return [sorted(group, key=lambda h: h.score, reverse=True) for group in groups]


class _Path:
    """What one row has said so far, up to its end or its limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.ids: list[int] = []
        self.scores: list[float] = []
        self.done = False

    def go(self, token: int, score: float) -> None:
        """One token on, if it is not done."""
        if not self.done:
            self.ids.append(token)
            self.scores.append(score)
            self.done = token == EOS or len(self.ids) >= self.limit


def _told(tokens: Tensor, scores: Tensor) -> tuple[list[int], list[float]]:
    """Both, with one wait for a device at the most."""
    if tokens.is_cuda:
        both = torch.stack([tokens.double(), scores.double()]).tolist()
        return [int(token) for token in both[0]], both[1]
    return tokens.tolist(), scores.tolist()


def _hypothesis(ids: list[int], token_scores: list[float], alpha: float) -> Hypothesis:
    finished = ids[-1] == EOS
    return Hypothesis(
        ids=tuple(ids[:-1] if finished else ids),
        score=sum(token_scores) / length_penalty(float(len(ids)), alpha),
        token_scores=tuple(token_scores),
        finished=finished,
    )
