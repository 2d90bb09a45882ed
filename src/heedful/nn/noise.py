"""Words drawn by how frequent they are, to stand for all others. V vocabulary, S draws.

Ids begin with the most frequent words, so where nobody counted, an id's rank says how frequent its
word is: by Zipf's law about 1 / rank, which is drawn as log-uniform ranks.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Noise(nn.Module):
    """Draws `count` ids at a time, each as often as is expected of it, and no more scattered than
    must be: one draw from each of `count` strata, which all have the same share of the odds.

    Nothing here waits for the device, and what is drawn has one shape.
    """

    expected: Tensor
    below: Tensor

    def __init__(self, expected: Float[Tensor, "V"]) -> None:
        super().__init__()
        self.count = round(float(expected.sum()))
        self.register_buffer("expected", expected.double(), persistent=False)
        self.register_buffer("below", expected.double().cumsum(0), persistent=False)

    def draw(self) -> Int[Tensor, "S"]:
        there = self.below.device
        strata = torch.arange(self.count, device=there, dtype=torch.double)
        points = strata + torch.rand(self.count, device=there, dtype=torch.double)
        found = torch.searchsorted(self.below, points, right=True)
        return found.clamp(max=len(self.below) - 1)

    def log_expected(self, ids: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        """How often each of these comes among the draws, on average, as a logarithm."""
        return self.expected[ids].log().float()


def log_uniform(size: int) -> Float[Tensor, "V"]:
    """The odds of each id when the logarithm of its rank is drawn evenly."""
    ranks = torch.arange(1, size + 1, dtype=torch.double)
    return (1 / ranks).log1p() / torch.tensor(size + 1.0, dtype=torch.double).log()


def unigram(counts: Float[Tensor, "V"] | None, size: int, power: float = 1.0) -> Float[Tensor, "V"]:
    """The odds of each id by how often it was counted, to a power; each is counted once more than
    it was seen, so that none is impossible. Log-uniform where nobody counted."""
    odds = (log_uniform(size) if counts is None else counts.double() + 1) ** power
    return odds / odds.sum()


def at_most_once(odds: Float[Tensor, "V"], count: int) -> Float[Tensor, "V"]:
    """How often each id is to be expected among `count` draws that are in proportion to the odds,
    but of which none takes an id twice: the frequent ones come every time."""
    if count >= len(odds):
        return torch.ones_like(odds)
    ordered, order = odds.double().sort(descending=True)
    rest = ordered.flip(0).cumsum(0).flip(0)  # what each and all after it have together
    left = count - torch.arange(len(odds), dtype=torch.double)
    sure = int((ordered * left < rest).int().argmax())  # the first that does not come every time
    expected = (ordered * ((count - sure) / rest[sure])).clamp(max=1.0)
    expected[:sure] = 1.0
    return torch.empty_like(expected).scatter_(0, order, expected)
