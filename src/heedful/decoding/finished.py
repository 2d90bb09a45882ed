"""What a search has found: hypotheses that are done, and rows of them that leave it.

B rows, N kept finished hypotheses a row, T room.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.decoding.protocol import Hypothesis, RowError
from heedful.decoding.scores import NEVER


@dataclass(eq=False)
class Finished:
    """Hypotheses to be returned, best first."""

    ids: Tensor  # [B, N, T] int64: the end symbol is among them
    token_scores: Tensor  # [B, N, T] float32
    score: Tensor  # [B, N] float32: what they are ranked by; -inf where the place is empty
    length: Tensor  # [B, N] int64: how many tokens, the end symbol counted
    ended: Tensor  # [B, N] bool: False for those that the limit cut off

    def join(self, other: "Finished") -> "Finished":
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Finished(*(torch.cat(pair, dim=1) for pair in pairs))

    def take(self, places: Tensor) -> "Finished":
        return Finished(*taken(places, *vars(self).values()))

    def select(self, rows: Tensor) -> "Finished":
        return Finished(*(tensor[rows] for tensor in vars(self).values()))

    def packed(self) -> Tensor:
        """All of it as one tensor [B, N, 2T + 3] int32, bit for bit; ids are below 2 ** 31."""
        few = torch.stack([self.score.view(torch.int32), self.length.int(), self.ended.int()], 2)
        return torch.cat([self.ids.int(), self.token_scores.view(torch.int32), few], 2)


class Found:
    """What rows have found that left a search. It stays on the device until all have, and comes
    from there in one piece."""

    def __init__(self) -> None:
        self._rows: list[int] = []  # of the batch, in the order in which they left
        self._places: list[int] = []  # where they stand in what was found
        self._packed: list[Tensor] = []

    def add(self, finished: Finished, rows: Sequence[int], kept: Sequence[int]) -> None:
        """Of these rows of the batch, all leave but those at the places that are kept."""
        before, staying = sum(map(len, self._packed)), set(kept)
        over = [place for place in range(len(rows)) if place not in staying]
        self._rows += [rows[place] for place in over]
        self._places += [before + place for place in over]
        self._packed.append(finished.packed())

    def hypotheses(self, count: int) -> list[list[Hypothesis]]:
        """Those of each of `count` rows, best first."""
        numbers = torch.cat(self._packed).cpu()[self._places]
        each = numbers.shape[1]
        numbers = numbers.flatten(0, 1)
        room = (numbers.shape[1] - 3) // 2
        lengths = numbers[:, -2]
        longest = int(lengths.max())
        columns = (
            numbers[:, :longest],
            numbers[:, room : room + longest].view(torch.float32),
            numbers[:, -3].view(torch.float32),
            lengths,
            numbers[:, -1].bool(),
        )
        found: list[list[Hypothesis]] = [[] for _ in range(count)]
        rows = [row for row in self._rows for _ in range(each)]
        for row, ids, token_scores, score, length, ended in zip(
            rows, *(x.tolist() for x in columns), strict=True
        ):
            if score > NEVER:
                said, scores = tuple(ids[: length - ended]), tuple(token_scores[:length])
                found[row].append(Hypothesis(said, score, scores, ended))
        for row in self._rows:
            if not found[row]:
                raise RowError(
                    row,
                    "every output has a probability of 0. If a prefix is forced, try without it",
                )
        return found


def taken(places: Tensor, *tensors: Tensor) -> list[Tensor]:
    """Each [B, N, ...] at `places` [B, M] of each row: [B, M, ...]."""
    first = torch.arange(len(places), device=places.device)[:, None]
    rows = (first * tensors[0].shape[1] + places).flatten()
    return [
        x.flatten(0, 1).index_select(0, rows).view(*places.shape, *x.shape[2:]) for x in tensors
    ]
