"""All steps of a gated recurrent unit as one operation with gradients, for rows of one sequence.

Step by step goes only what a step hands to the next: a product or two, and the gates. Backwards the
weights' gradients are one product over all steps at the end. On a GPU the gates of a step are one
kernel (kernels/gates.py), and in fp32 products are as PyTorch lets cuDNN make those of recurrent
layers. It computes what `GRUGates.step` does, again and again.
B batch, L length, H what is remembered.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from heedful.nn.kernels import gates
from heedful.nn.products import add_product, product


def sweep(
    read: Float[Tensor, "B L H3"],
    start: Float[Tensor, "B H"],
    weight: Float[Tensor, "H3 H"],
    inside: Float[Tensor, "B L H"] | None,
    renew: bool,
) -> Float[Tensor, "B L H"]:
    """The states after each step. `read` is what the input makes of the gates r z n; `inside` is
    added to what a reset gate works on that comes after the product, and None for one before it.
    The update gate is the share of the new state where it is to `renew`, else of the old."""
    swept = _After if inside is not None else _Before
    states: Tensor = swept.apply(read, start, weight, inside, renew)
    return states


class _After(torch.autograd.Function):
    """n = tanh(read + r∘(Uh + inside))."""

    @staticmethod
    def forward(
        ctx: Any, read: Tensor, start: Tensor, weight: Tensor, inside: Tensor, renew: bool
    ) -> Tensor:
        opened, states = _begin(read, start)
        inner = _in_time(inside)
        steps = zip(states[:-1], states[1:], opened, inner, strict=True)
        with _rounded_as_by_cudnn(read):
            for before, after, gates_t, inner_t in steps:
                gates.after(gates_t, product(before, weight), inner_t, before, after, renew)
        ctx.save_for_backward(opened, states, inner, weight)
        ctx.renew = renew
        return states[1:].transpose(0, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        opened, states, inner, weight = ctx.saved_tensors
        slope, slopes, new = _in_time(slope), torch.empty_like(opened), torch.empty_like(inner)
        carried = torch.zeros_like(states[0])
        with _rounded_as_by_cudnn(carried):
            for t in reversed(range(len(opened))):
                gates.slopes_after(
                    carried, slope[t], opened[t], inner[t], states[t], slopes[t], new[t], ctx.renew
                )
                add_product(carried, slopes[t], weight.t())
            by_weight = product(slopes.flatten(0, 1).t(), states[:-1].flatten(0, 1).t())
        both, by_inside = slopes.split((2 * new.shape[2], new.shape[2]), 2)
        by_read = torch.cat([both, new], 2).transpose(0, 1)
        return by_read, carried, by_weight, by_inside.transpose(0, 1), None


class _Before(torch.autograd.Function):
    """n = tanh(read + U(r∘h))."""

    @staticmethod
    def forward(
        ctx: Any, read: Tensor, start: Tensor, weight: Tensor, inside: None, renew: bool
    ) -> Tensor:
        opened, states = _begin(read, start)
        both, new = weight.split((2 * start.shape[1], start.shape[1]))
        reset = torch.empty_like(start)
        with _rounded_as_by_cudnn(read):
            for before, after, gates_t in zip(states[:-1], states[1:], opened, strict=True):
                gates.reset(gates_t, product(before, both), before, reset)
                gates.update(gates_t, product(reset, new), before, after, renew)
        ctx.save_for_backward(opened, states, weight)
        ctx.renew = renew
        return states[1:].transpose(0, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        opened, states, weight = ctx.saved_tensors
        dim = states.shape[2]
        both, new = weight.split((2 * dim, dim))
        slope, slopes = _in_time(slope), torch.empty_like(opened)
        carried = torch.zeros_like(states[0])
        with _rounded_as_by_cudnn(carried):
            for t in reversed(range(len(opened))):
                gates.slopes_update(carried, slope[t], opened[t], states[t], slopes[t], ctx.renew)
                through = product(slopes[t, :, 2 * dim :], new.t())
                gates.slopes_reset(carried, through, opened[t], states[t], slopes[t])
                add_product(carried, slopes[t, :, : 2 * dim], both.t())
            flat, states = slopes.flatten(0, 1), states[:-1].flatten(0, 1)
            reset = opened[..., :dim].flatten(0, 1) * states
            pairs = (flat[:, : 2 * dim], states), (flat[:, 2 * dim :], reset)
            by_weight = torch.cat([product(slope.t(), read.t()) for slope, read in pairs])
        return slopes.transpose(0, 1), carried, by_weight, None, None


@contextmanager
def _rounded_as_by_cudnn(x: Tensor) -> Iterator[None]:
    """With products as PyTorch lets cuDNN make those of `nn.GRU`: in TF32, unless told not to
    (`torch.backends.cudnn.rnn.fp32_precision`)."""
    ours: Any = torch.backends.cuda.matmul
    layers: Any = torch.backends.cudnn.rnn
    before = ours.fp32_precision
    if not x.is_cuda or layers.fp32_precision != "tf32" or before == "tf32":
        yield
        return
    ours.fp32_precision = "tf32"
    try:
        yield
    finally:
        ours.fp32_precision = before


def _begin(read: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
    """The gates as they are before anything is remembered, to be written over, [L, B, 3H]; and room
    for all states, of which the first is there, [1 + L, B, H]."""
    states = start.new_empty(1 + read.shape[1], *start.shape)
    states[0] = start
    return _in_time(read), states


def _in_time(x: Tensor) -> Tensor:
    """A copy in which a step's numbers lie together."""
    return x.transpose(0, 1).clone(memory_format=torch.contiguous_format)
