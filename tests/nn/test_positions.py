import math

import pytest
import torch

from heedful.errors import HeedfulError, UsageError
from heedful.nn.layout import Layout, line
from heedful.nn.positions import (
    SIGNALS,
    TABLE,
    parse_positions,
    sinusoid,
    sinusoid_halves,
)


def test_the_papers_sinusoid_by_its_formula() -> None:
    signal = sinusoid(torch.arange(50), 8)
    for position in (0, 1, 49):
        for i in range(4):
            angle = position / 10_000 ** (2 * i / 8)
            assert signal[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert signal[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_tensor2tensors_sinusoid_by_its_formula() -> None:
    signal = sinusoid_halves(torch.arange(50), 9)
    for i in range(4):
        angle = 49 / 10_000 ** (i / 3)  # timescales from 1 to 10000 inclusive
        assert signal[49, i].item() == pytest.approx(math.sin(angle), abs=1e-5)
        assert signal[49, 4 + i].item() == pytest.approx(math.cos(angle), abs=1e-5)
    assert signal[49, 8] == 0


@pytest.mark.parametrize("places", [[7, 7, 7], [7, 8, 7], [3]])
def test_rows_of_one_token_have_the_signal_of_their_places(places: list[int]) -> None:
    positions = torch.tensor(places)[:, None]
    signal = parse_positions("sinusoid", 8)(Layout(positions, torch.ones_like(positions)))
    torch.testing.assert_close(signal, sinusoid(torch.arange(10), 8)[positions])


@pytest.mark.parametrize("start", [0, 7, TABLE - 3, TABLE])
@pytest.mark.parametrize("style", SIGNALS)
def test_lines_are_looked_up_as_far_as_the_table_goes(style: str, start: int) -> None:
    part, at = parse_positions(style, 8), line(3, start, batch=2)
    wanted = SIGNALS[style](at.positions, 8)
    torch.testing.assert_close(part(at), wanted, atol=2e-4, rtol=0)
    part.table.zero_()
    looked_up = start + 3 <= TABLE
    assert torch.equal(part(at), torch.zeros_like(wanted)) == looked_up


def test_a_shift_is_a_rotation() -> None:
    """PE(pos + k) = R_k PE(pos), the same R_k for every position: why sinusoids were chosen."""
    dim, shift = 16, 7
    signal = sinusoid(torch.arange(60), dim).double()
    pair = torch.arange(0, dim, 2, dtype=torch.double)
    angle = shift * 10_000.0 ** (-pair / dim)
    sin, cos = signal[:, 0::2], signal[:, 1::2]
    turned = torch.stack(
        [sin * angle.cos() + cos * angle.sin(), cos * angle.cos() - sin * angle.sin()], -1
    ).flatten(-2)
    torch.testing.assert_close(turned[:-shift], signal[shift:], atol=1e-5, rtol=0)


def test_learned_positions_end_somewhere_and_say_so() -> None:
    positions = parse_positions("learned:5", 4)
    assert positions(line(5)).shape == (1, 5, 4)
    with pytest.raises(HeedfulError, match="sequence of 6 tokens is longer than the 5 positions"):
        positions(line(6))


def test_no_positions_are_zeros() -> None:
    assert parse_positions("none", 4)(line(3)).abs().sum() == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [("sinusoids", "Close: sinusoid"), ("learned", "learned:512"), ("learned:0", "how many")],
)
def test_positions_that_cannot_be_read_are_explained(text, says) -> None:
    with pytest.raises(UsageError, match=says):
        parse_positions(text, 4)
