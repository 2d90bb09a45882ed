"""A product in half precision added to numbers in full, in one, for a GPU."""

import torch
from torch import Tensor


@torch.library.custom_op("heedful::add_product", mutates_args=("total",))
def add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a·b, in the precision of `total`: what is added is not rounded to that of a and b.

    An operation of our own since PyTorch's, as of 2.11, cannot be compiled.
    """
    torch.ops.aten.addmm.dtype_out(total, a, b, total.dtype, out=total)
