"""What training is measured beside: the same model in other toolkits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from heedful.bench.rivals import Rival
from heedful.data.batch import Batch
from heedful.models.base import ModelConfig
from heedful.models.transformer import TransformerConfig
from heedful.peers import marian, torch_recurrent, torch_transformer, x_transformers
from heedful.peers.training import Mover
from heedful.presets.base import Preset

Build = Callable[[ModelConfig, int], nn.Module]

RIVALS = (
    Rival("torch", "torch.nn.Transformer", "torch"),
    Rival("marian", "Hugging Face Marian", "transformers"),
    Rival("x-transformers", "x-transformers", "x-transformers", "pip install x-transformers"),
    Rival("torch-recurrent", "by hand on torch.nn", "torch"),
)
# The kinds of models that a rival can be measured beside.
BESIDE = {
    rival.name: torch_recurrent.KINDS
    if rival.name == "torch-recurrent"
    else (TransformerConfig.kind,)
    for rival in RIVALS
}
BUILDS: dict[str, Build] = {
    "torch": torch_transformer.build,
    "marian": marian.build,
    "x-transformers": x_transformers.build,
    "torch-recurrent": torch_recurrent.build,
}
DIFFERENCES: dict[str, Sequence[str]] = {
    "torch": torch_transformer.DIFFERENCES,
    "marian": tuple(d for d in marian.DIFFERENCES if "penalty" not in d),
    "x-transformers": x_transformers.DIFFERENCES,
    "torch-recurrent": torch_recurrent.DIFFERENCES,
}


def rivals_of(model: ModelConfig) -> tuple[Rival, ...]:
    """Those that have something like it to measure it beside."""
    return tuple(rival for rival in RIVALS if model.kind in BESIDE[rival.name])


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a peer is trained."""

    rival: Rival
    precision: str
    compiled: bool
    heap: str  # how its name ends

    @property
    def name(self) -> str:
        mode = "compiled" if self.compiled else "eager"
        return f"{self.rival.title} {self.precision} {mode}{self.heap}"


class Compiled(Mover):
    """A mover whose loss is compiled together with the model: the most that a user can do."""

    def __init__(
        self, model: nn.Module, preset: Preset, device: torch.device, compiled: bool
    ) -> None:
        super().__init__(model, preset, device, compiled)
        self.whole: Any = torch.compile(super().loss, dynamic=True)

    def loss(self, batch: Batch) -> Tensor:
        found: Tensor = self.whole(batch)
        return found
