"""Beam search: several hypotheses a row grow side by side, and the best finished ones are kept.

Wu et al., "Google's Neural Machine Translation System", 2016, https://arxiv.org/abs/1609.08144,
section 7. A finished hypothesis Y is worth  log P(Y) / ((5 + |Y|) / 6) ** alpha + coverage * cp(Y),
where |Y| counts the end symbol. Hypotheses that are still growing compete by log P alone.

- Twice `beam` candidates are taken at each step, so `beam` of them go on even if the others end.
  An end counts among the first `beam` of them only, as with fairseq, Hugging Face and CTranslate2:
  else a search of width 4 would find short outputs, empty ones too, that one of width 8 should.
  With a beam of 1 only one is taken, and the search is greedy search, token for token.
- A row is done when no growing hypothesis can still displace the worst kept finished one. Its
  log P can only fall, coverage is at most 0, and |Y| lies between one more token and the row's
  limit; so it can reach at most log P / max(penalty(next length), penalty(limit)), for an alpha of
  either sign. `nbest` finished ones are kept, so stopping never changes what is returned.
- With `prune`, the paper's beamsize, a hypothesis goes on only by tokens that are no more than so
  much less likely than its best one; and once one has finished, only those go on whose log P over
  the penalty of their length is no more than so much below the best score.
- When a row's limit is reached, hypotheses that have not ended fill the places that finished ones
  left empty: always after the finished ones, by the same formula, marked `finished=False`.
- Among equals: the one that finished first, then that of the better hypothesis, then the lower id.

B rows, K growing hypotheses a row (from 1 up to `beam`), C candidates, N kept finished ones
(`nbest`), T longest limit, S source length, V vocabulary.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.decoding.coverage import coverage_penalty, watching_source
from heedful.decoding.finished import Finished, Found, taken
from heedful.decoding.path import by_eighths
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable, Hypothesis
from heedful.decoding.scores import (
    NEVER,
    length_penalty,
    log_probabilities,
    near_best,
    no_number,
    not_numbers,
    top_sums,
)
from heedful.nn.memory import Memory
from heedful.presets.base import Decode
from heedful.text.specials import EOS, START


@dataclass(eq=False)
class Growing:
    """Hypotheses without an end symbol, likeliest first."""

    ids: Tensor  # [B, K, T] int64: what was said so far, then zeros
    token_scores: Tensor  # [B, K, T] float32: log-probability of each of them
    total: Tensor  # [B, K] float32: their sum; -inf where there is no hypothesis
    covered: Tensor | None  # [B, K, S] float32: attention received by each source place so far

    def take(self, places: Tensor, total: Tensor) -> "Growing":
        """Those at `places` [B, M] of each row, in that order, and what they are worth now."""
        covered = [] if self.covered is None else [self.covered]
        ids, token_scores, *covered = taken(places, self.ids, self.token_scores, *covered)
        return Growing(ids, token_scores, total, covered[0] if covered else None)


@dataclass(eq=False)
class BeamState:
    """Everything a search knows between two steps, for the rows still in it."""

    step: int | Tensor  # how many tokens the growing hypotheses have; [1] int64 where recorded
    tokens: Tensor  # [B, K] int64: the last of them
    limits: Tensor  # [B] int64: the most tokens of each row, the end symbol counted
    prefix: Prefix  # B rows
    source: Tensor | None  # [B, S] bool: real places of the source, where coverage is asked for
    growing: Growing
    finished: Finished

    def select(self, rows: Tensor) -> "BeamState":
        """Only these rows, [any] int64."""
        growing = self.growing
        covered = None if growing.covered is None else growing.covered[rows]
        return BeamState(
            self.step,
            self.tokens[rows],
            self.limits[rows],
            self.prefix.select(rows),
            None if self.source is None else self.source[rows],
            Growing(growing.ids[rows], growing.token_scores[rows], growing.total[rows], covered),
            self.finished.select(rows),
        )


def beam_search(
    model: Decodable,
    batch: Batch,
    limits: Sequence[int],
    prefix: Prefix,
    config: Decode,
) -> list[list[Hypothesis]]:
    """Up to `config.nbest` hypotheses a row, best first."""
    state = begin(batch, limits, prefix, config)
    device = state.limits.device
    rows = list(range(len(limits)))  # which row of the batch each row of the state is
    cut_at = set(limits)
    found = Found()
    memory = model.start(batch)
    with watching_source(model, config.coverage > 0) as looked_at:
        while True:
            before = state.tokens.shape[1]
            cuts = state.step + 1 in cut_at
            state, parents, done, bad = turn(model, memory, state, config, cuts, looked_at)
            done_now, bad_now = torch.stack([done, bad]).tolist()  # the one wait of a step
            if any(bad_now):
                raise no_number(rows[bad_now.index(True)], int(state.step) - 1)
            places = torch.arange(len(rows), device=device)
            kept = [] if all(done_now) else by_eighths(done_now)
            if kept is not None:
                found.add(state.finished, rows, kept)
                if not kept:
                    break
                rows = [rows[place] for place in kept]
                places = torch.tensor(kept, device=device)
                state, parents = state.select(places), parents[places]
                memory.select_sources(places)
            if kept is not None or before > 1 or parents.shape[1] > 1:
                memory.reorder((places[:, None] * before + parents).flatten())
    return found.hypotheses(len(limits))


def turn(
    model: Decodable,
    memory: Memory,
    state: BeamState,
    config: Decode,
    cuts: bool = True,
    looked_at: Callable[[], Tensor] | None = None,
) -> tuple[BeamState, Tensor, Tensor, Tensor]:
    """One more token in every row: the next state, which hypothesis each growing one came from
    [B, K'], which rows are done [B], and of which the model says nothing that is a number [B].

    `cuts` says that a row's limit may be reached by it.
    """
    logits = model.step(state.tokens.reshape(-1, 1), memory)[:, -1]
    return choice(logits, state, config, cuts, None if looked_at is None else looked_at())


def choice(
    logits: Tensor,
    state: BeamState,
    config: Decode,
    cuts: bool = True,
    looked: Tensor | None = None,
) -> tuple[BeamState, Tensor, Tensor, Tensor]:
    """As `turn`, when the model has said what may follow, [B * K, V], and looked at, [B * K, S]."""
    shape = state.tokens.shape
    log_probs = log_probabilities(logits).view(*shape, -1)
    looked = None if looked is None else looked.view(*shape, -1)
    bad = (not_numbers(log_probs) & (state.growing.total > NEVER)).any(dim=1)
    state, parents = advance(state, log_probs, looked, config)
    if cuts:
        state.finished = _with_cut_off(state, config)
    done = (state.step >= state.limits) | settled(state, config)
    state.growing.total = state.growing.total.masked_fill(done[:, None], NEVER)
    return state, parents, done, bad


def advance(
    state: BeamState, log_probs: Tensor, looked: Tensor | None, config: Decode
) -> tuple[BeamState, Tensor]:
    """One more token: log-probabilities [B, K, V] and attention [B, K, S] to the next state, and
    which hypothesis each growing one came from, [B, K']."""
    step, growing = state.step, state.growing
    if isinstance(step, int):
        log_probs = state.prefix.force(log_probs, step)
    log_probs = near_best(log_probs, config.prune)
    width = 2 * config.beam if config.beam > 1 else 1
    on = growing.total[:, :1] > NEVER  # rows that are not done; the others' ranks do not matter
    before = torch.where(on, growing.total, 0.0)
    ranked, order = top_sums(before, log_probs, min(width, log_probs[0].numel()))  # [B, C]
    ranked = ranked.masked_fill(~on, NEVER)
    parents, tokens = order // log_probs.shape[2], order % log_probs.shape[2]
    token_scores = log_probs.flatten(1).gather(1, order)

    if looked is not None and growing.covered is not None:
        growing.covered = growing.covered + looked
    place = torch.tensor([step], device=tokens.device) if isinstance(step, int) else step

    def said(parents: Tensor, tokens: Tensor, token_scores: Tensor, total: Tensor) -> Growing:
        """Candidates, [B, M]: whose child each is, what it says, and what it is worth."""
        longer = growing.take(parents, total)
        longer.ids.index_copy_(2, place, tokens[:, :, None])
        longer.token_scores.index_copy_(2, place, token_scores[:, :, None])
        return longer

    candidates = parents, tokens, token_scores
    ends, finished = tokens == EOS, state.finished
    ended = ends[:, : config.beam] & on
    if ended.device.type != "cpu" or bool(ended.any()):  # elsewhere one would have to wait
        first = said(*(x[:, : config.beam] for x in (*candidates, ranked)))
        best = _as_finished(first, step + 1, state.source, config)
        best.score = best.score.masked_fill(~ended, NEVER)
        both = finished.join(replace(best, ended=ended))
        places = both.score.sort(dim=1, descending=True, stable=True).indices[:, : config.nbest]
        # A row that is done stays as it is, its cut-off ones too.
        places = torch.where(on, places, torch.arange(config.nbest, device=places.device))
        finished = both.take(places)

    total, onward = ranked.masked_fill(ends, NEVER).sort(dim=1, descending=True, stable=True)
    total, onward = total[:, : config.beam], onward[:, : config.beam]
    parents, tokens, token_scores = (x.gather(1, onward) for x in candidates)
    after = BeamState(
        step + 1,
        tokens,
        state.limits,
        state.prefix,
        state.source,
        growing=said(parents, tokens, token_scores, total),
        finished=finished,
    )
    if config.prune:
        after.growing.total = _not_far_behind(after, config)
    return after, parents


def _not_far_behind(state: BeamState, config: Decode) -> Tensor:
    """The totals of the growing ones, [B, K]; of those too far below the best finished one, none.
    Their order stays: all are of one length."""
    total = state.growing.total
    worth = total / length_penalty(_number(state.step, total), config.alpha)
    return total.masked_fill(worth < state.finished.score[:, :1] - config.prune, NEVER)


def settled(state: BeamState, config: Decode) -> Tensor:
    """True where no growing hypothesis can displace the worst kept finished one, [B]."""
    highest = length_penalty(state.limits.float(), config.alpha)
    highest = highest.maximum(length_penalty(_number(state.step + 1, highest), config.alpha))
    reachable = state.growing.total[:, 0] / highest
    return state.finished.score[:, -1] >= reachable


def _with_cut_off(state: BeamState, config: Decode) -> Finished:
    """The finished ones, and after them what had not ended in rows whose limit is reached."""
    cut = _as_finished(state.growing, state.step, state.source, config)
    cut.score = cut.score.masked_fill((state.limits != state.step)[:, None], NEVER)
    cut = cut.take(cut.score.sort(dim=1, descending=True, stable=True).indices)
    both = state.finished.join(cut)
    there = (both.score > NEVER).int()  # each of the two is in order: only empty places move
    return both.take(there.sort(dim=1, descending=True, stable=True).indices[:, : config.nbest])


def _as_finished(
    growing: Growing, length: int | Tensor, source: Tensor | None, config: Decode
) -> Finished:
    score = growing.total / length_penalty(_number(length, growing.total), config.alpha)
    if growing.covered is not None and source is not None:
        score = score + config.coverage * coverage_penalty(growing.covered, source)
    return Finished(
        growing.ids,
        growing.token_scores,
        score,
        torch.zeros_like(growing.ids[:, :, 0]) + length,
        torch.zeros_like(score, dtype=torch.bool),
    )


def begin(
    batch: Batch, limits: Sequence[int] | Tensor, prefix: Prefix, config: Decode, room: int = 0
) -> BeamState:
    """One empty hypothesis a row, and `nbest` empty places for finished ones; with `room` for
    tokens, or as much as the limits ask for."""
    device, rows, longest = prefix.ids.device, len(limits), room or int(max(limits))
    source = covered = None
    if config.coverage > 0 and "inputs" in batch.features:
        source = batch.inputs.at.real
        covered = torch.zeros(rows, 1, source.shape[1], device=device)

    def zeros(places: int) -> tuple[Tensor, Tensor]:
        shape = (rows, places, longest)
        ids = torch.zeros(shape, dtype=torch.long, device=device)
        return ids, torch.zeros(shape, device=device)

    nothing = torch.full((rows, config.nbest), NEVER, device=device)
    finished = Finished(
        *zeros(config.nbest),
        nothing,
        torch.zeros_like(nothing, dtype=torch.long),
        torch.zeros_like(nothing, dtype=torch.bool),
    )
    growing = Growing(*zeros(1), torch.zeros(rows, 1, device=device), covered)
    tokens = torch.full((rows, 1), START, device=device)
    most = torch.as_tensor(limits, device=device)
    return BeamState(0, tokens, most, prefix, source, growing, finished)


def _number(length: int | Tensor, like: Tensor) -> Tensor:
    """A length as a tensor to reckon with."""
    return torch.as_tensor(length, dtype=like.dtype, device=like.device)
