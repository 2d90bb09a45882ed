import pytest
import torch

from heedful.data.batch import Batch, pad
from heedful.nn.layout import Layout, line, ragged


def test_ragged_pads_to_the_longest_or_further() -> None:
    at = ragged([3, 1])
    assert at.positions.tolist() == [[0, 1, 2], [0, 0, 0]]
    assert at.segments.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert ragged([1], 4).real.tolist() == [[True, False, False, False]]


def test_a_line_starts_where_it_is_told() -> None:
    at = line(2, start=5, batch=2)
    assert at.positions.tolist() == [[5, 6], [5, 6]]
    assert at.start == at.to("cpu").start == at.select(torch.tensor([1])).start == 5
    assert ragged([2, 2]).start is None and at.together(1).start is None


def test_a_layout_moves_and_selects() -> None:
    at = ragged([3, 1])
    assert at.to("cpu").segments.tolist() == at.segments.tolist()
    assert at.select(torch.tensor([1, 1])).segments.tolist() == [[1, 0, 0]] * 2


def test_a_batch_moves_all_its_features_and_keeps_its_names() -> None:
    batch = Batch({"inputs": pad([[4, 5], [6]]), "targets": pad([[7], [8]])}, (3, 9)).to("cpu")
    assert batch.inputs.ids.tolist() == [[4, 5], [6, 0]]
    assert batch.targets.ids.tolist() == [[7], [8]] and batch.examples == (3, 9)
    assert batch.inputs.select(torch.tensor([1])).ids.tolist() == [[6, 0]]


@pytest.mark.parametrize(
    ("segments", "filling"),
    [
        ([[1, 1, 1], [2, 2, 2]], "full"),
        ([[1, 1, 0], [0, 0, 0]], "padded"),
        ([[0, 0, 0]], "padded"),
        ([[0, 1, 1]], "single"),
        ([[1, 2, 0], [1, 1, 1]], "in_turn"),
        ([[1, 2, 2], [3, 3, 5]], "in_turn"),
        ([[2, 1, 0], [1, 1, 0]], "packed"),
        ([[1, 2, 1]], "packed"),
        ([[1, 0, 2]], "packed"),
        ([[1, 2, 0], [0, 1, 1]], "packed"),
    ],
    ids=str,
)
def test_rows_are_looked_at_for_how_they_are_filled(segments, filling) -> None:
    at = Layout(torch.zeros(len(segments), 3, dtype=torch.long), torch.tensor(segments))
    assert at.filling == filling and at.looked_at().filled == filling
    assert at.several == (filling in ("in_turn", "packed"))
