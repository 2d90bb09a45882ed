"""Pixels to cells: the same whatever stands beside a picture."""

import pytest
import torch
from torch import Tensor

from heedful.data.batch import Rows, pad
from heedful.errors import UsageError
from heedful.modalities.pictures import Cells, CellsConfig
from heedful.nn.layout import Layout
from heedful.text.pictures import PictureTokenizer
from heedful.text.specials import EOS, PAD, RESERVED

HEIGHT, WIDTH = 4, 6


def cells(colours: int = 3, **numbers: object) -> Cells:
    torch.manual_seed(2)
    config = CellsConfig(**{"channels": (5,), "cell": 2, **numbers})
    return Cells(PictureTokenizer(HEIGHT, WIDTH, colours), config, 8).double().eval()


def pictures(count: int, channels: int = 3) -> list[list[int]]:
    drawn = torch.randint(256**channels, (count, HEIGHT * WIDTH)) + RESERVED
    return [[*one, EOS] for one in drawn.tolist()]


def test_an_id_becomes_its_colour() -> None:
    made = cells()
    ids = torch.full((1, 1, HEIGHT * WIDTH), RESERVED + 0xFF8000)
    ids[0, 0, 1] = RESERVED + 0x00FF33
    values = made.values(ids)
    assert values.shape == (1, 3, HEIGHT, WIDTH)
    torch.testing.assert_close(values[0, :, 0, 0] * 255, torch.tensor([255.0, 128.0, 0.0]).double())
    torch.testing.assert_close(values[0, :, 0, 1] * 255, torch.tensor([0.0, 255.0, 51.0]).double())


def test_cells_stand_row_by_row_and_know_their_place() -> None:
    made = cells()
    x, at = made(*_both(pad(pictures(2))))
    assert made.grid == (2, 3) and x.shape == (2, 6, 8)
    assert at.positions.tolist() == [[0, 1, 2, 3, 4, 5]] * 2 and at.segments.unique().tolist() == [
        1
    ]
    black = [[RESERVED] * HEIGHT * WIDTH + [EOS]]
    x, _ = made(*_both(pad(black)))
    torch.testing.assert_close(x[0, 1] - x[0, 4], made.places[1] - made.places[4], atol=1, rtol=1)
    assert not torch.equal(x[0, 1], x[0, 4])


def test_a_changed_pixel_changes_its_cell_alone_where_cells_do_not_overlap() -> None:
    made = cells(channels=(), strides=())
    (one,) = pictures(1)
    other = list(one)
    other[WIDTH + 3] = RESERVED + (other[WIDTH + 3] - RESERVED) // 2 + 1  # row 1, column 3
    before, _ = made(*_both(pad([one])))
    after, _ = made(*_both(pad([other])))
    changed = (before != after).any(-1)[0].nonzero().flatten().tolist()
    assert changed == [1]


@pytest.mark.parametrize("extra", [0, 7, 60])
def test_padding_changes_nothing(extra: int) -> None:
    made, rows = cells(), pictures(3)
    alone, _ = made(*_both(pad(rows)))
    padded, at = made(*_both(pad(rows, len(rows[0]) + extra)))
    torch.testing.assert_close(padded[:, :6], alone)
    assert at.real[:, :6].all() and not at.real[:, 6:].any()


def test_packed_pictures_are_those_of_their_own_rows() -> None:
    made, (a, b, c) = cells(), pictures(3)
    alone, _ = made(*_both(pad([a, b, c])))
    ids = torch.tensor([a + b + [PAD] * 3, c + [PAD] * (len(a) + 3)])
    each = len(a)
    segments = torch.zeros_like(ids)
    segments[0, :each], segments[0, each : 2 * each], segments[1, :each] = 1, 2, 1
    x, at = made(ids, Layout(torch.zeros_like(ids), segments))
    torch.testing.assert_close(x[0], torch.cat([alone[0], alone[1]]))
    torch.testing.assert_close(x[1, :6], alone[2])
    assert at.segments.tolist() == [[1] * 6 + [2] * 6, [1] * 6 + [0] * 6]


def test_grey_pictures_have_one_channel() -> None:
    x, _ = cells(1)(*_both(pad(pictures(2, channels=1))))
    assert x.shape == (2, 6, 8)


def test_a_row_without_a_picture_and_a_picture_without_a_cell_are_refused() -> None:
    with pytest.raises(UsageError, match="a row of 9 ids holds no picture of 24 pixels"):
        cells()(*_both(pad([[RESERVED] * 9])))
    with pytest.raises(UsageError, match="has no whole cell: after the strides .* it is 2 x 3"):
        cells(strides=(2,), cell=3)
    with pytest.raises(UsageError, match="2 convolutions have 1 strides"):
        CellsConfig(channels=(3, 4))
    with pytest.raises(UsageError, match="must be 1 or more"):
        CellsConfig(cell=0)


def _both(rows: Rows) -> tuple[Tensor, Layout]:
    return rows.ids, rows.at
