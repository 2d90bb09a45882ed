"""How attention is computed: functions of one signature, by name, each held to `dense`."""

from typing import Protocol, runtime_checkable

from torch import Tensor

from heedful.errors import UsageError, nearest
from heedful.nn.kernels.blocks import blocks
from heedful.nn.kernels.dense import dense
from heedful.nn.kernels.fused import fused
from heedful.nn.sight import Sight


@runtime_checkable
class Kernel(Protocol):
    """Queries, keys, values and who may see whom; gives what each query read. [B, H, Q, E]"""

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        sight: Sight,
        bias: Tensor | None = None,
        dropout: float = 0.0,
    ) -> Tensor: ...


KERNELS: dict[str, Kernel] = {"dense": dense, "fused": fused, "blocks": blocks}
WITHOUT_DROPOUT = {"blocks"}


def kernel(name: str, dropout: float) -> Kernel:
    """The kernel of this name, or an error where it cannot do what is asked of it."""
    if name not in KERNELS:
        raise UsageError(
            f"no attention kernel named '{name}'.{nearest(name, KERNELS)} "
            f"There are: auto, {', '.join(KERNELS)}, spans for packed rows, and relative for "
            "relative positions"
        )
    if dropout and name in WITHOUT_DROPOUT:
        able = ", ".join(sorted(set(KERNELS) - WITHOUT_DROPOUT))
        raise UsageError(
            f"attention kernel '{name}' has no dropout of weights, and attention_dropout is "
            f"{dropout}. Set it to 0, or use one of: {able}"
        )
    return KERNELS[name]
