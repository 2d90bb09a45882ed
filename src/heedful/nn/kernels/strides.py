"""How queries, keys and values lie in memory, for kernels that read them there.

B batch, H heads, L length, E per head.
"""

from jaxtyping import Float
from torch import Tensor


def in_one_piece(x: Float[Tensor, "B H L E"]) -> Float[Tensor, "B H L E"]:
    """The same tensor if the channels of each head lie beside each other; else a copy."""
    return x if x.stride(3) == 1 else x.contiguous()


def beside(like: Float[Tensor, "B H L E"], heads: int = 0) -> Float[Tensor, "B G L E"]:
    """An empty tensor of the same shape, or with so many heads; those of a token beside each
    other."""
    batch, own, length, width = like.shape
    return like.new_empty(batch, length, heads or own, width).transpose(1, 2)


def strides(*tensors: Tensor) -> tuple[int, ...]:
    """From row to row, from head to head and from token to token, of each."""
    return tuple(stride for x in tensors for stride in x.stride()[:3])
