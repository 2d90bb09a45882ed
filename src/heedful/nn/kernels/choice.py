"""Which kernel computes an attention: the one that is named, or the one for the case at hand."""

from torch import Tensor

from heedful.errors import UsageError
from heedful.nn.kernels import Kernel, kernel, relative, spanned
from heedful.nn.kernels.blocks import missing
from heedful.nn.kernels.few import few
from heedful.nn.patterns import Causal, terms
from heedful.nn.relative import Relative
from heedful.nn.sight import Sight


class Auto:
    """The kernel for the case at hand: for long rows on a GPU `spans` where they hold several
    sequences in turn and else `blocks`, `dense` for a step of decoding on a CPU, by its shorter way
    for few keys, `fused` for all else."""

    long = 512  # below this a GPU computes every pair faster than it sorts them into blocks
    few = 16  # up to so many queries a CPU is faster by plain products

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        sight: Sight,
        bias: Tensor | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        if self.spans(q, sight, bias, dropout):
            return spanned.spanned(q, k, v, sight, bias, dropout)
        name = self.choose(q.device.type, q.shape[2], dropout)
        if name == "dense":
            return few(q, k, v, sight, bias, dropout)
        return kernel(name, dropout)(q, k, v, sight, bias, dropout)

    def spans(self, q: Tensor, sight: Sight, bias: Tensor | None, dropout: float) -> bool:
        """Whether it is `spans`; a row of one sequence wants larger tiles than those have."""
        name = self.choose(q.device.type, q.shape[2], dropout)
        several = name == "blocks" and sight.q.several
        return several and not spanned.refusal(q, sight, bias, dropout)

    def together(
        self, sides: list[Tensor], heads: int, sight: Sight, dropout: float
    ) -> Tensor | None:
        """What is read, where queries, keys and values may stay as they were projected, some in one
        tensor; None where they may not."""
        if not self.spans(sides[0], sight, None, dropout):
            return None
        return spanned.together(sides, heads, sight)

    def choose(self, device: str, queries: int, dropout: float) -> str:
        if device == "cuda" and not dropout and queries >= self.long and not missing():
            return "blocks"
        return "dense" if device == "cpu" and queries <= self.few else "fused"

    def relative(
        self, q: Tensor, k: Tensor, v: Tensor, sight: Sight, bias: Relative, dropout: float
    ) -> Tensor | None:
        """What is read, by the kernel for relative positions; None where that cannot do it."""
        if relative.refusal(q, sight, bias, dropout):
            return None
        return relative.relative(q, k, v, sight, bias)


class Insisting(Auto):
    """The kernel for relative positions, or an error that says why not.

    Steps of decoding are few queries, and are computed plainly.
    """

    def relative(
        self, q: Tensor, k: Tensor, v: Tensor, sight: Sight, bias: Relative, dropout: float
    ) -> Tensor | None:
        if sight.q is not sight.k:
            return None
        why = relative.refusal(q, sight, bias, dropout)
        if why:
            raise UsageError(f"attention kernel 'relative' {why}. Use kernel=auto")
        return relative.relative(q, k, v, sight, bias)


class Spanning(Auto):
    """The kernel for spans, or an error that says why not.

    What goes on from a memory, as decoding does, is left to others.
    """

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        sight: Sight,
        bias: Tensor | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        goes_on = sight.q is not sight.k and Causal() in terms(sight.pattern)
        if goes_on or q.shape[2] <= self.few:
            return super().__call__(q, k, v, sight, bias, dropout)
        return spanned.spanned(q, k, v, sight, bias, dropout)


def choice(name: str, dropout: float) -> Kernel:
    """The kernel that a setting names."""
    of_names = {"auto": Auto, relative.RELATIVE_KERNEL: Insisting, spanned.SPANS_KERNEL: Spanning}
    return of_names[name]() if name in of_names else kernel(name, dropout)
