"""Skewing: scores by distance turned into scores by key, and back, without a copy for each pair.

Huang et al., "Music Transformer", ICLR 2019, https://arxiv.org/abs/1809.04281, section 3.4.1. All
of it is padding and reshaping, so nothing larger than the scores is ever held. L length.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def skew_causal(by_distance: Float[Tensor, "... L L"]) -> Float[Tensor, "... L L"]:
    """From distances -(L-1) to 0, to keys. What lies ahead holds nothing of use: hide it."""
    length = by_distance.shape[-1]
    padded = F.pad(by_distance, (1, 0)).reshape(*by_distance.shape[:-2], length + 1, length)
    return padded[..., 1:, :]


def unskew_causal(by_key: Float[Tensor, "... L L"]) -> Float[Tensor, "... L L"]:
    """From keys to distances -(L-1) to 0: what values by distance want of the weights.

    What lies ahead must be zero.
    """
    length = by_key.shape[-1]
    padded = F.pad(by_key, (0, 0, 1, 0)).reshape(*by_key.shape[:-2], length, length + 1)
    return padded[..., 1:]


def skew(by_distance: Float[Tensor, "... L R"]) -> Float[Tensor, "... L L"]:
    """From distances -(L-1) to L-1, to keys."""
    *batch, length, reach = by_distance.shape
    flat = F.pad(by_distance, (0, 1)).reshape(*batch, length * (reach + 1))
    folded = F.pad(flat, (0, length - 1)).reshape(*batch, length + 1, reach)
    return folded[..., :length, length - 1 :]


def unskew(by_key: Float[Tensor, "... L L"]) -> Float[Tensor, "... L R"]:
    """From keys to distances -(L-1) to L-1."""
    *batch, length, _ = by_key.shape
    reach = 2 * length - 1
    folded = F.pad(by_key, (length - 1, 0, 0, 1)).reshape(*batch, (length + 1) * reach)
    flat = folded[..., : length * (reach + 1)].reshape(*batch, length, reach + 1)
    return flat[..., :reach]
