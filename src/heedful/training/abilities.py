"""What this machine lacks of what makes training fast, in a line each."""

import torch

from heedful.data.batching import Packed
from heedful.nn.kernels.blocks import missing
from heedful.nn.kernels.choice import Auto
from heedful.presets.base import Preset
from heedful.training.low import is_low


def lacks(preset: Preset, device: torch.device) -> list[str]:
    """What is done the plain way here that a newer GPU, or one with Triton, does faster."""
    if device.type != "cuda":
        return []
    found = []
    if preset.training.precision == "auto" and not is_low(preset, device):
        found.append("this GPU has no bf16: computing in fp32, which is slower")
    row = preset.batch.row if isinstance(preset.batch, Packed) else 0
    if row >= Auto.long and (why := missing()):
        found.append(
            f"{why}: rows of {row} tokens are attended to by PyTorch's fused kernel, every pair of "
            f"places; a batch.row under {Auto.long} wastes less"
        )
    return found
