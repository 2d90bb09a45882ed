import pytest
import torch

from heedful.errors import UsageError
from heedful.nn.layout import Layout, line
from heedful.nn.patterns import Causal, Dilated, Full, InBlocks, Near, Visible, parse_pattern


def drawn(pattern, length=6):
    mask = pattern(line(length), line(length))[0]
    return ["".join("#" if seen else "." for seen in row) for row in mask.tolist()]


@pytest.mark.parametrize(
    ("pattern", "picture"),
    [
        (Full(), ["######"] * 6),
        (Causal(), ["#.....", "##....", "###...", "####..", "#####.", "######"]),
        (Near(1, 1), ["##....", "###...", ".###..", "..###.", "...###", "....##"]),
        (InBlocks(2), ["##....", "##....", "####..", "####..", "..####", "..####"]),
        (Causal() & Dilated(2), ["#.....", ".#....", "#.#...", ".#.#..", "#.#.#.", ".#.#.#"]),
    ],
    ids=str,
)
def test_a_pattern_drawn(pattern, picture) -> None:
    assert drawn(pattern) == picture


def test_packed_sequences_do_not_see_each_other_and_padding_is_its_own() -> None:
    at = Layout(torch.tensor([[0, 1, 0, 1, 0]]), torch.tensor([[1, 1, 2, 2, 0]]))
    mask = (Visible() & Causal())(at, at)[0].int().tolist()
    assert mask == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_a_pattern_asks_for_positions_and_not_for_indices() -> None:
    """One query at position 4, as in decoding, sees what row 4 of the whole sees."""
    whole = Near(2)(line(5), line(5))[0, 4]
    assert torch.equal(Near(2)(line(1, start=4), line(5))[0, 0], whole)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("near:64", Near(64)),
        ("near:8:2", Near(8, 2)),
        ("causal & dilated:4", Causal() & Dilated(4)),
    ],
)
def test_patterns_are_read_from_settings(text, pattern) -> None:
    assert parse_pattern(text) == pattern


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("neer:4", "Close: near"),
        ("near", "near:BACK:AHEAD"),
        ("near:x", "near:BACK"),
        ("", "There are"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_explained(text, says) -> None:
    with pytest.raises(UsageError, match=says):
        parse_pattern(text)
