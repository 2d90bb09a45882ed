import torch

from heedful.data.batch import Batch, pad


def test_padding_is_told_by_the_layout() -> None:
    rows = pad([[5, 6, 1], [7, 1]], length=4)
    assert rows.ids.tolist() == [[5, 6, 1, 0], [7, 1, 0, 0]]
    assert rows.at.segments.tolist() == [[1, 1, 1, 0], [1, 1, 0, 0]]
    assert rows.at.positions.tolist() == [[0, 1, 2, 0], [0, 1, 0, 0]]


def test_rows_can_be_chosen() -> None:
    chosen = pad([[5, 1], [7, 8]]).select(torch.tensor([1, 1, 0]))
    assert chosen.ids.tolist() == [[7, 8], [7, 8], [5, 1]]
    assert chosen.at.real.all()


def test_a_batch_moves_as_a_whole() -> None:
    batch = Batch({"inputs": pad([[5, 1]]), "targets": pad([[6, 7, 1]])}, (3,))
    moved = batch.to("meta")
    assert moved.examples == (3,)
    assert {moved.inputs.ids.device.type, moved.targets.at.segments.device.type} == {"meta"}
    assert batch.inputs.ids.device.type == "cpu"
