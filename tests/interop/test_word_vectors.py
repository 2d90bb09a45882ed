"""Vectors out of a run, in a format that cannot hold everything."""

import pytest
import torch

from heedful.errors import HeedfulError
from heedful.interop.word_vectors import WordVectors

FOUND = WordVectors(["x", "y", "z"], torch.tensor([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]]))


def test_neighbours_are_by_angle_the_nearest_first_and_not_the_word_itself() -> None:
    assert FOUND.near("x") == [("y", pytest.approx(0.6)), ("z", pytest.approx(-1.0))]
    longer = WordVectors(FOUND.words, FOUND.vectors * torch.tensor([[9.0], [2.0], [5.0]]))
    assert longer.near("x", 1) == [("y", pytest.approx(0.6))]


def test_a_word_with_a_space_in_it_is_refused() -> None:
    with pytest.raises(HeedfulError, match="'a b' has a space in it"):
        list(WordVectors(["a b"], torch.zeros(1, 2)).lines())
