"""Spans say of every pair what the pattern says of it."""

import pytest
import torch

from heedful.nn.layout import Layout, line, ragged
from heedful.nn.patterns import Causal, Full, InBlocks, Near, Pattern, Visible, terms
from heedful.nn.spans import Spans, in_one_piece, spans


def packed(*lengths: int, length: int) -> Layout:
    """A row of sequences in turn, then padding."""
    positions = torch.cat([torch.arange(n) for n in lengths])
    segments = torch.cat([torch.full((n,), i + 1) for i, n in enumerate(lengths)])
    gap = (0, length - len(positions))
    pad = torch.nn.functional.pad
    return Layout(pad(positions, gap)[None], pad(segments, gap)[None])


APART = Layout(torch.tensor([[0, 1, 0, 0, 2, 1]]), torch.tensor([[1, 1, 2, 0, 1, 2]]))
PATTERNS = [
    Full(),
    Near(2),
    Near(2, 1),
    Causal() & Near(3, 3),
    InBlocks(2),
    InBlocks(3, 0),
    Causal() & InBlocks(2, 2),
    Near(2, 1) & InBlocks(2),
]


def pairs(found: Spans, at: Layout, causal: bool) -> torch.Tensor:
    """Who sees whom, [B, Q, K], by what is seen; what it is seen by must say the same."""
    here = torch.arange(at.segments.shape[1])
    seen = (here >= found.seen[..., :1]) & (here < found.seen[..., 1:])
    by = ((here >= found.seen_by[..., :1]) & (here < found.seen_by[..., 1:])).transpose(1, 2)
    assert torch.equal(seen, by)
    if causal:
        seen = seen & (here[:, None] >= here)
    if found.back is not None:
        back = found.back
        seen = seen.gather(1, back[:, :, None].expand_as(seen))
        seen = seen.gather(2, back[:, None, :].expand_as(seen))
    return seen


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
@pytest.mark.parametrize(
    "at",
    [line(7), line(5, start=3), ragged([4, 0, 6]), packed(3, 1, 4, length=10), APART],
    ids=["line", "later", "ragged", "packed", "apart"],
)
def test_they_allow_what_the_pattern_allows(pattern: Pattern, at: Layout) -> None:
    both = Visible() & pattern
    wanted = both(at, at) & at.real[:, :, None] & at.real[:, None, :]
    found = spans(both, at, at)
    assert torch.equal(pairs(found, at, Causal() in terms(pattern)), wanted)
    assert (found.order is None) == in_one_piece(at)


def test_queries_see_the_source_of_their_own_number() -> None:
    target, source = packed(2, 3, length=6), packed(1, 4, 2, length=9)
    found = spans(Visible(), target, source)
    nothing = [9, 0]
    assert found.seen.tolist() == [[[0, 1]] * 2 + [[1, 5]] * 3 + [nothing]]
    third = [5, 5]  # a source that nobody asks of
    assert found.seen_by.tolist() == [[[0, 2]] + [[2, 5]] * 4 + [third] * 2 + [[6, 0]] * 2]


def test_only_what_is_known_to_stand_in_one_piece_is_not_sorted() -> None:
    assert all(in_one_piece(at) for at in (line(3), ragged([2, 0]), packed(2, 3, length=5)))
    assert not in_one_piece(APART)
    late = Layout(torch.tensor([[0, 0, 1]]), torch.tensor([[0, 1, 1]]))
    assert not in_one_piece(late)
