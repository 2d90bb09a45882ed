"""One step: the parts' losses, their gradients added up, clipped, applied."""

import hashlib
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.distributed.processes import Processes
from heedful.models.base import Model
from heedful.presets.base import Preset


@dataclass(frozen=True)
class Outcome:
    """What came of a step, still on the device: nothing here has been waited for."""

    sums: Tensor  # over all parts of all processes: loss, target tokens, nll; and the norm
    part_losses: Tensor  # this process's parts, one number each
    finite: Tensor  # whether the whole step's loss and gradient are


class TrainStep:
    """Takes steps on one model. A step is a pure function of weights, batch, seed and number."""

    def __init__(self, model: Model, preset: Preset, ranks: Processes) -> None:
        self.model, self.preset, self.ranks = model, preset, ranks
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = preset.optim.build(self.parameters)
        self.gradient = share_gradient(self.parameters)
        self.loss = torch.compile(model.loss) if preset.training.compile else model.loss

    def __call__(self, number: int, parts: list[Batch]) -> Outcome:
        """Step `number` (the first is 1) on this process's parts of it."""
        training, device = self.preset.training, self.ranks.device
        self.gradient.zero_()
        sums = torch.zeros(3, dtype=torch.float64, device=device)
        losses = []
        for index, part in enumerate(parts):
            # Dropout is a function of (seed, step, part of the whole step): the same after
            # resuming, and the same however many processes share the parts.
            whole = self.ranks.rank + index * self.ranks.world
            torch.manual_seed(mixed(training.seed, number, whole))
            with self.precision():
                loss = self.loss(part.to(device, non_blocking=True))
            loss.sum.backward()
            losses.append(loss.sum.detach())
            sums += torch.stack([x.detach().double() for x in loss])
        self.ranks.sum(self.gradient)
        self.ranks.sum(sums)
        # The loss of a step is the mean over all its target tokens, whoever computed them.
        self.gradient.div_(sums[1])
        norm = torch.linalg.vector_norm(self.gradient)
        if training.clip > 0:
            self.gradient.mul_((training.clip / (norm + 1e-12)).clamp(max=1.0))
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(number)
        self.optimizer.step()
        finite = torch.isfinite(norm) & torch.isfinite(sums[0])
        return Outcome(torch.cat([sums, norm.double()[None]]), torch.stack(losses), finite)

    def rate(self, number: int) -> float:
        return self.preset.schedule.rate(number, self.preset.model.dim)

    def precision(self) -> AbstractContextManager[object]:
        """Matrix products in bf16 where that was asked for; weights and sums stay in fp32."""
        return lowered(self.preset.training.precision, self.ranks.device)


def lowered(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Autocast to bf16, or not: `auto` is bf16 on a GPU and fp32 on a CPU."""
    low = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=low)


def share_gradient(parameters: list[torch.nn.Parameter]) -> Tensor:
    """Make every parameter's gradient a view of one long tensor, and give that tensor.

    So zeroing, adding over processes, its norm and clipping are each one operation.
    """
    whole = torch.zeros(
        sum(p.numel() for p in parameters), dtype=parameters[0].dtype, device=parameters[0].device
    )
    begin = 0
    for parameter in parameters:
        parameter.grad = whole[begin : begin + parameter.numel()].view_as(parameter)
        begin += parameter.numel()
    return whole


def mixed(seed: int, step: int, part: int) -> int:
    """One seed from three numbers, such that near ones give unlike seeds."""
    digest = hashlib.blake2b(f"{seed}/{step}/{part}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
