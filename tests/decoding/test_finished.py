"""What rows found that left a search comes from the device bit by bit, whenever they left."""

import torch

from heedful.decoding.finished import Finished, Found
from heedful.decoding.scores import NEVER


def finished(rows: int, first: int) -> Finished:
    """Two places a row; the second of every third row is empty."""
    torch.manual_seed(first)
    length = torch.randint(1, 6, (rows, 2))
    score = torch.randn(rows, 2) * 1e-30
    score[::3, 1] = NEVER
    ids = torch.randint(0, 2**31 - 1, (rows, 2, 5))
    return Finished(ids, torch.randn(rows, 2, 5) / 3, score, length, length % 2 == 0)


def test_rows_are_told_apart_whenever_they_left() -> None:
    first, second = finished(5, 0), finished(2, 1)
    found = Found()
    found.add(first, [0, 1, 2, 3, 4], kept=[1, 3])
    found.add(second, [1, 3], kept=[])
    told = found.hypotheses(5)
    wanted = {0: (first, 0), 2: (first, 2), 4: (first, 4), 1: (second, 0), 3: (second, 1)}
    for row, (of, place) in wanted.items():
        there = [n for n in range(2) if of.score[place, n] > NEVER]
        assert len(told[row]) == len(there)
        for hypothesis, n in zip(told[row], there, strict=True):
            length, ended = int(of.length[place, n]), bool(of.ended[place, n])
            assert hypothesis.ids == tuple(of.ids[place, n, : length - ended].tolist())
            assert hypothesis.token_scores == tuple(of.token_scores[place, n, :length].tolist())
            assert hypothesis.score == float(of.score[place, n])
            assert hypothesis.finished is ended
