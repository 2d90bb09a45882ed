"""Reading rows of like length together, so that little of what is computed is padding.

Decoding on a CPU is bound by its products, and an encoder makes as many for padding as for words.
B batch, L length, D model.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.nn.layout import Filling, Layout
from heedful.nn.watching import lookers, watched

LIKE = 7 / 8  # of the longest row of a slice: what is shorter begins the next
FEWEST = 1_024  # tokens of a slice, before there is a next: fewer are multiplied less well


def in_slices(read: nn.Module, x: Float[Tensor, "B L D"], at: Layout) -> Float[Tensor, "B L D"]:
    """What `read` makes of each row, as it would of that row alone; for padding, whatever it is.

    All rows are read at once where something may be learnt, where somebody watches, in a compiled
    model, and elsewhere than on a CPU.
    """
    learns = torch.is_grad_enabled() or torch.compiler.is_compiling()
    if learns or x.device.type != "cpu" or type(at) is not Layout or at.filling != "padded":
        return read(x, at)
    lengths = at.real.sum(1).tolist()
    slices = [rows for rows in like(lengths) if rows and lengths[rows[0]]]
    if len(slices) < 2 or any(map(watched, lookers(read).values())):
        return read(x, at)
    whole = torch.zeros_like(x)
    for rows in slices:
        some, longest = torch.tensor(rows), lengths[rows[0]]
        filled: Filling = "full" if lengths[rows[-1]] == longest else "padded"
        positions, segments = at.positions[some, :longest], at.segments[some, :longest]
        part = Layout(positions, segments, filled=filled)
        whole[some, :longest] = read(x[some, :longest], part)
    return whole


def like(lengths: Sequence[int]) -> list[list[int]]:
    """Rows by their lengths, in slices of like ones, the longest first."""
    slices: list[list[int]] = [[]]
    for row in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = lengths[slices[-1][0]] if slices[-1] else 0
        if len(slices[-1]) * longest >= FEWEST and lengths[row] < LIKE * longest:
            slices.append([])
        slices[-1].append(row)
    return slices
