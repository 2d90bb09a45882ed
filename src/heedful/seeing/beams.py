"""The tree that a beam search grew: every hypothesis it weighed, its score, and what became of it.

The search is the decoder's own, a step at a time, for one text. What is weighed at a step are the
candidates that the search takes before it keeps some: twice the beam (see decoding/beam.py).
V vocabulary.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from heedful.data.batch import Batch, pad
from heedful.decoding.beam import BeamState, _with_cut_off, advance, begin, settled
from heedful.decoding.coverage import coverage_penalty, watching_source
from heedful.decoding.limits import output_limits
from heedful.decoding.prefix import Prefix
from heedful.decoding.protocol import Decodable
from heedful.decoding.scores import (
    NEVER,
    length_penalty,
    log_probabilities,
    near_best,
    no_number,
    not_numbers,
    top,
)
from heedful.decoding.search import at_rest, check
from heedful.decoding.translator import Translator
from heedful.presets.base import Decode
from heedful.seeing.reading import model_of, source_batch, source_ids
from heedful.text.specials import EOS, START

GROWS, FELL, BEHIND, BEST, KEPT, WORSE, BEATEN, CUT = (
    "grows",
    "fell",
    "behind",
    "best",
    "kept",
    "worse",
    "beaten",
    "cut",
)
NOWHERE = -1
WHY = {
    GROWS: "went on",
    FELL: "fell off the beam: others of this length were likelier",
    BEHIND: "pruned: too far behind the best that had ended",
    BEST: "ended, and is the output",
    KEPT: "ended, and is among the outputs asked for",
    WORSE: "ended, but a better one was kept",
    BEATEN: "still growing when nothing it could become would be better than what had ended",
    CUT: "still growing when the length ran out",
}


@dataclass
class Node:
    """A hypothesis: its parent's tokens and one more."""

    parent: int  # the place of its parent in the tree; -1 for the root
    step: int  # how many tokens it has
    token: str
    token_score: float  # log-probability of the token
    total: float  # log-probability of the whole
    score: float | None = None  # what it is ranked by once it has ended, or was cut
    fate: str = GROWS
    ids: tuple[int, ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        shown = {name: value for name, value in vars(self).items() if name != "ids"}
        return {**shown, "why": WHY[self.fate]}


def tree(
    translator: Translator, text: str, beam: int | None = None, nbest: int | None = None
) -> dict[str, Any]:
    """The tree of the search for `text`: nodes, each with the place of its parent, and the best.

    The settings are the translator's, with `beam` and `nbest` in their place if they are given.
    """
    config = replace(translator.config, sample=False)
    config = replace(config, beam=beam or config.beam)
    config = replace(config, nbest=min(nbest or config.nbest, config.beam))
    check(config)
    model, source = model_of(translator), source_ids(translator, text)
    targets = translator.tokenizers["targets"]
    if source is None:
        ids = targets.encode(text)
        batch, prefix = Batch({"targets": pad([ids])}).to(translator.device), [ids]
    else:
        batch, prefix = source_batch(translator, source), [[]]
    limit = output_limits(model, batch, config.extra_length, prefix)
    state = begin(batch, limit, Prefix.of(prefix, 1, translator.device), config)
    with torch.no_grad(), at_rest(model):
        grown = _Tree(targets.pieces, config)
        grown.grow(model, batch, state)
    best = grown.best
    return {
        "format": 1,
        "text": text,
        "target": str(targets.decode(grown.nodes[best[0]].ids)) if best else "",
        "beam": config.beam,
        "nbest": config.nbest,
        "alpha": config.alpha,
        "coverage": config.coverage,
        "prune": config.prune,
        "limit": limit[0],
        "fates": WHY,
        "nodes": [node.to_json() for node in grown.nodes],
        "best": best,
    }


class _Tree:
    """Nodes, as a search weighs them."""

    def __init__(self, pieces: Callable[[list[int]], list[str]], config: Decode) -> None:
        self.pieces, self.config = pieces, config
        self.nodes: list[Node] = [Node(-1, 0, "<start>", 0.0, 0.0)]
        self.best: list[int] = []

    def grow(self, model: Decodable, batch: Batch, state: BeamState) -> None:
        """Search, and write down what is weighed."""
        config, limit = self.config, int(state.limits[0])
        here = [0]  # the node of each growing hypothesis; NOWHERE for an empty place
        tokens = torch.full((1, 1), START, device=state.limits.device)
        memory = model.start(batch)
        with watching_source(model, config.coverage > 0) as looked_at:
            while True:
                logits = model.step(tokens, memory)[:, -1]
                log_probs = log_probabilities(logits)[None]
                if bool(not_numbers(log_probs).any()):
                    raise no_number(0, int(state.step))
                looked = None if looked_at is None else looked_at()[None]
                weighed = _weigh(state, log_probs, config)
                before = state
                state, parents = advance(state, log_probs, looked, config)
                fresh = self._add(weighed, here, before)
                here = self._onward(state, parents[0].tolist(), here, fresh)
                if state.step == limit:
                    state.finished = _with_cut_off(state, config)
                if state.step >= limit or bool(settled(state, config)):
                    break
                tokens = state.growing.ids[0, :, state.step - 1, None]
                memory.reorder(parents[0])  # all of them go on reading the one source
        self._close(state, here, limit)

    def _add(
        self, weighed: list[tuple[int, int, float, float]], here: list[int], state: BeamState
    ) -> dict[tuple[int, int], int]:
        """A node for each candidate; where each is, by its parent and its id."""
        made = {}
        for rank, (parent, token, token_score, total) in enumerate(weighed):
            above = self.nodes[here[parent]]
            ended = token == EOS and rank < self.config.beam
            node = Node(
                parent=here[parent],
                step=above.step + 1,
                token=self.pieces([token])[0],
                token_score=token_score,
                total=total,
                fate=WORSE if ended else FELL,
                ids=(*above.ids, token),
            )
            if ended:
                node.score = self._score(node, parent, state)
            made[here[parent], token] = len(self.nodes)
            self.nodes.append(node)
        return made

    def _onward(
        self,
        state: BeamState,
        parents: list[int],
        here: list[int],
        fresh: dict[tuple[int, int], int],
    ) -> list[int]:
        """The nodes that go on, in the search's order; NOWHERE for an empty place."""
        onward = []
        tokens = state.growing.ids[0, :, state.step - 1].tolist()
        totals = state.growing.total[0].tolist()
        for parent, token, total in zip(parents, tokens, totals, strict=True):
            onward.append(fresh[here[parent], token] if total > NEVER else NOWHERE)
            if total > NEVER:
                self.nodes[onward[-1]].fate = GROWS
            elif token != EOS and (here[parent], token) in fresh:  # it was chosen, and then pruned
                self.nodes[fresh[here[parent], token]].fate = BEHIND
        return onward

    def _close(self, state: BeamState, here: list[int], limit: int) -> None:
        """Say what became of those that were growing, and which ones are the output."""
        finished = state.finished
        rows = zip(
            finished.ids[0].tolist(),
            finished.length[0].tolist(),
            finished.score[0].tolist(),
            strict=True,
        )
        by_ids = {node.ids: place for place, node in enumerate(self.nodes)}
        for place in set(here) - {NOWHERE}:
            self.nodes[place].fate = CUT if state.step >= limit else BEATEN
        for ids, length, score in rows:
            if score > NEVER:
                place = by_ids[tuple(ids[:length])]
                node = self.nodes[place]
                node.score = score
                if node.fate != CUT:
                    node.fate = KEPT if self.best else BEST
                self.best.append(place)

    def _score(self, node: Node, parent: int, state: BeamState) -> float:
        score = node.total / length_penalty(float(node.step), self.config.alpha)
        covered = state.growing.covered
        if covered is not None and state.source is not None:
            penalty = coverage_penalty(covered, state.source)[0, parent]
            score += self.config.coverage * float(penalty)
        return score


def _weigh(
    state: BeamState, log_probs: Tensor, config: Decode
) -> list[tuple[int, int, float, float]]:
    """The candidates of a step, likeliest first: parent, id, log-probability, and that of all.

    `log_probs` are [1, hypotheses, V]. The same choice, by the same rules, as the search makes.
    """
    width = 2 * config.beam if config.beam > 1 else 1
    forced = near_best(state.prefix.force(log_probs, int(state.step)), config.prune)[0]
    totals = (state.growing.total[0, :, None] + forced).flatten()
    ranked, order = top(totals, min(width, len(totals)))
    token_scores = forced.flatten()[order]
    found = zip(order.tolist(), token_scores.tolist(), ranked.tolist(), strict=True)
    size = forced.shape[1]
    return [
        (place // size, place % size, score, total)
        for place, score, total in found
        if total > NEVER
    ]
