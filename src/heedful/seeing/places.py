"""What tells a model where a token stands: its signal, and how alike the places are by it.

P positions, D model.
"""

from pathlib import Path

import numpy as np
import torch

from heedful.errors import UsageError
from heedful.nn.layout import line
from heedful.nn.positions import Learned, Sinusoids, parse_positions
from heedful.runs.loading import load_model


def signal(kind: str, length: int, dim: int) -> np.ndarray:
    """A signal that needs no run, [P, D]."""
    if kind.startswith("learned"):
        raise UsageError(
            "learned positions are not known without a run that learnt them: name one, as in "
            "heedful positions runs/own"
        )
    made = parse_positions(kind, dim)
    return made(line(length))[0].numpy()


def learnt(run: Path, length: int | None, checkpoint: str | None = None) -> tuple[str, np.ndarray]:
    """The signal that a run's model adds to its tokens, and its kind; [P, D]."""
    model = load_model(run, checkpoint).model
    found = [part for part in model.modules() if isinstance(part, Learned | Sinusoids)]
    if not found:
        raise UsageError(
            f"{run} holds a model that is told no positions, so there is nothing to draw"
        )
    first = found[0]
    longest = first.longest or 100
    with torch.no_grad():
        made = first(line(min(length or longest, first.longest or length or longest)))[0]
    kind = f"learned:{first.longest}" if isinstance(first, Learned) else first.style
    return kind, made.float().numpy()


def likeness(signal: np.ndarray) -> np.ndarray:
    """The cosine between each two positions, [P, P]."""
    size = np.linalg.norm(signal, axis=1, keepdims=True)
    unit = signal / np.where(size > 0, size, 1)
    return unit @ unit.T
