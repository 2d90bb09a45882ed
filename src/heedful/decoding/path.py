"""Following one path a row, token by token: what greedy search and sampling share.

R rows, T longest limit, V vocabulary.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable, Hypothesis
from heedful.decoding.scores import (
    NEVER,
    length_penalty,
    log_probabilities,
    no_number,
    not_numbers,
)
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
    every_limit = torch.tensor(limits, device=device)[source]
    count, longest = len(source), max(limits)
    ids = torch.zeros(count, longest, dtype=torch.long, device=device)
    token_scores = torch.zeros(count, longest, device=device)

    lengths = [0] * count  # 0 while a row is not done
    rows, active = list(range(count)), torch.arange(count, device=device)
    tokens = torch.full((count,), START, device=device)
    for step in range(longest):
        log_probs = log_probabilities(model.step(tokens[:, None], memory)[:, -1])
        bad = not_numbers(log_probs)
        log_probs = prefix.force(log_probs[:, None], step)[:, 0]
        tokens = choose(log_probs, step, active)
        scores = log_probs.gather(1, tokens[:, None])[:, 0]
        ids[active, step], token_scores[active, step] = tokens, scores
        ended = (tokens == EOS) | (step + 1 >= every_limit[active])
        ended_now, bad_now = torch.stack([ended, bad | (scores == NEVER)]).tolist()  # the one wait
        for row, over, fails in zip(rows, ended_now, bad_now, strict=True):
            if fails and not lengths[row]:
                raise no_number(row // copies, step)
            if over and not lengths[row]:
                lengths[row] = step + 1
        done = [lengths[row] > 0 for row in rows]
        if all(done):
            break
        if (kept := leave(done)) is not None:
            rows = [rows[place] for place in kept]
            index = torch.tensor(kept, device=device)
            memory.select(index)
            active, tokens, prefix = active[index], tokens[index], prefix.select(index)

    found = [
        _hypothesis(row_ids[:length], row_scores[:length], alpha)
        for row_ids, row_scores, length in zip(
            ids.tolist(), token_scores.tolist(), lengths, strict=True
        )
    ]
    groups = [found[first : first + copies] for first in range(0, count, copies)]
    return [sorted(group, key=lambda h: h.score, reverse=True) for group in groups]


def _hypothesis(ids: list[int], token_scores: list[float], alpha: float) -> Hypothesis:
    finished = ids[-1] == EOS
    return Hypothesis(
        ids=tuple(ids[:-1] if finished else ids),
        score=sum(token_scores) / length_penalty(float(len(ids)), alpha),
        token_scores=tuple(token_scores),
        finished=finished,
    )
