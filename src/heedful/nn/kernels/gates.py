"""What the gates of a recurrent unit make of a step, and of its gradient, all rows at once.

On a GPU each is a kernel of our own in Triton; elsewhere PyTorch's operations, which are also the
reference. What is named first in each is written over. B batch, H what is remembered; gates lie
beside each other, r z n.
"""

import torch
from torch import Tensor

from heedful.nn.kernels.relative import nowhere

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
BLOCK = 512  # numbers of a program


def by_kernel(like: Tensor) -> bool:
    """Whether there are kernels for such numbers."""
    return like.dtype in DTYPES and not nowhere(like.device.type)


def after(
    opened: Tensor, made: Tensor, inner: Tensor, before: Tensor, out: Tensor, renew: bool
) -> None:
    """The gates [B, 3H], what the last works on [B, H] and the next state, from what the state
    before `made` [B, 3H]; the reset gate comes after that product."""
    if by_kernel(out):
        from heedful.nn.kernels.gates_steps import after as kernel

        kernel[_grid(out)](opened, made, inner, before, out, out.numel(), out.shape[1],
                           RENEW=renew, BLOCK=BLOCK)  # fmt: skip
        return
    dim = out.shape[1]
    both, new = opened.split((2 * dim, dim), 1)
    more, last = made.split((2 * dim, dim), 1)
    r, z = both.add_(more).sigmoid_().chunk(2, 1)
    inner.add_(last)
    new.addcmul_(r, inner).tanh_()
    _mixed(new, before, z, out, renew)


def reset(opened: Tensor, made: Tensor, before: Tensor, out: Tensor) -> None:
    """The gates r and z of [B, 3H], and the state before under the first [B, H], from what that
    state `made` of the two [B, 2H]."""
    if by_kernel(out):
        from heedful.nn.kernels.gates_steps import reset as kernel

        kernel[_grid(out)](opened, made, before, out, out.numel(), out.shape[1], BLOCK=BLOCK)
        return
    r, _ = opened[:, : 2 * out.shape[1]].add_(made).sigmoid_().chunk(2, 1)
    torch.mul(r, before, out=out)


def update(opened: Tensor, made: Tensor, before: Tensor, out: Tensor, renew: bool) -> None:
    """The last of the gates [B, 3H] and the next state, from what the state under the reset gate
    `made` [B, H]."""
    if by_kernel(out):
        from heedful.nn.kernels.gates_steps import update as kernel

        kernel[_grid(out)](opened, made, before, out, out.numel(), out.shape[1],
                           RENEW=renew, BLOCK=BLOCK)  # fmt: skip
        return
    _, z, new = opened.chunk(3, 1)
    _mixed(new.add_(made).tanh_(), before, z, out, renew)


def slopes_after(
    carried: Tensor,
    slope: Tensor,
    opened: Tensor,
    inner: Tensor,
    before: Tensor,
    slopes: Tensor,
    new: Tensor,
    renew: bool,
) -> None:
    """Gradients by what the state before made [B, 3H] and by the argument of the `new` [B, H], of
    the states' own `slope` and what later steps `carried`. What is carried on lacks the product."""
    if by_kernel(carried):
        from heedful.nn.kernels.gates_steps import slopes_after as kernel

        kernel[_grid(carried)](carried, slope, opened, inner, before, slopes, new,
                               carried.numel(), carried.shape[1],
                               RENEW=renew, BLOCK=BLOCK)  # fmt: skip
        return
    r, z, n = opened.chunk(3, 1)
    by_r, by_z, by_inner = slopes.chunk(3, 1)
    _unmixed(carried, slope, before, z, n, by_z, new, renew)
    torch.mul(new, r, out=by_inner)
    torch.mul(by_inner * inner, 1 - r, out=by_r)


def slopes_update(
    carried: Tensor, slope: Tensor, opened: Tensor, before: Tensor, slopes: Tensor, renew: bool
) -> None:
    """As `slopes_after`, of the gates z and n alone, by their arguments."""
    if by_kernel(carried):
        from heedful.nn.kernels.gates_steps import slopes_update as kernel

        kernel[_grid(carried)](carried, slope, opened, before, slopes,
                               carried.numel(), carried.shape[1],
                               RENEW=renew, BLOCK=BLOCK)  # fmt: skip
        return
    _, z, n = opened.chunk(3, 1)
    _, by_z, by_n = slopes.chunk(3, 1)
    _unmixed(carried, slope, before, z, n, by_z, by_n, renew)


def slopes_reset(
    carried: Tensor, through: Tensor, opened: Tensor, before: Tensor, slopes: Tensor
) -> None:
    """The gradient by the argument of the gate r, of that by the state under it, `through`."""
    if by_kernel(carried):
        from heedful.nn.kernels.gates_steps import slopes_reset as kernel

        kernel[_grid(carried)](carried, through, opened, before, slopes,
                               carried.numel(), carried.shape[1], BLOCK=BLOCK)  # fmt: skip
        return
    r = opened[:, : carried.shape[1]]
    under = through * r
    carried.add_(under)
    torch.mul(under * before, 1 - r, out=slopes[:, : carried.shape[1]])


def _mixed(new: Tensor, before: Tensor, z: Tensor, out: Tensor, renew: bool) -> None:
    """The next state, of the new one and that before."""
    torch.lerp(*((before, new) if renew else (new, before)), z, out=out)


def _unmixed(
    carried: Tensor,
    slope: Tensor,
    before: Tensor,
    z: Tensor,
    n: Tensor,
    by_z: Tensor,
    by_n: Tensor,
    renew: bool,
) -> None:
    """The gradients of `_mixed` by the arguments of z and n, and by the state before."""
    whole, old = carried + slope, 1 - z
    kept, share = (old, z) if renew else (z, old)
    gap = n - before if renew else before - n
    torch.mul(whole * gap, z * old, out=by_z)
    torch.mul(whole * share, 1 - n * n, out=by_n)
    torch.mul(whole, kept, out=carried)


def _grid(like: Tensor) -> tuple[int]:
    return (-(-like.numel() // BLOCK),)
