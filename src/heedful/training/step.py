"""One step: the parts' losses, their gradients added up, clipped, applied."""

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.data.batch import Batch
from heedful.distributed.processes import Processes
from heedful.models.base import Model
from heedful.presets.base import Preset
from heedful.training.capture import Recorder
from heedful.training.low import is_low, with_low_products
from heedful.training.twin import Twin, share_gradient


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
        low, on_cpu = is_low(preset, ranks.device), ranks.device.type == "cpu"
        self.twin = Twin(model) if low and not on_cpu else None
        self.gradient = share_gradient(self.parameters)
        computing = self.twin.model if self.twin else with_low_products(model) if low else model
        self.loss = torch.compile(computing.loss) if preset.training.compile else computing.loss
        self.begun = False
        self.sums = torch.zeros(3, dtype=torch.float64, device=ranks.device)
        rate_on_device(self.optimizer, ranks.device)
        records = preset.training.capture and ranks.device.type == "cuda" and not preset.loss.waits
        self.recorder = Recorder(self.learn, self.move, ranks.device) if records else None

    def __call__(self, number: int, parts: list[Batch]) -> Outcome:
        """Step `number` (the first is 1) on this process's parts of it."""
        return self.finish(number, self.collect(number, parts))

    def collect(self, number: int, parts: list[Batch]) -> list[Tensor]:
        """Add up the gradients of this process's parts; give their losses."""
        if self.twin and not self.begun:
            self.twin.refresh()
        self.begun = True
        losses = []
        for index, part in enumerate(parts):
            # Dropout is a function of (seed, step, part of the whole step): the same after
            # resuming, and the same however many processes share the parts.
            whole = self.ranks.rank + index * self.ranks.world
            torch.manual_seed(mixed(self.preset.training.seed, number, whole))
            learn = self.recorder.learn if self.recorder else self.learn
            losses.append(learn(part, index == 0).clone())
        return losses

    def finish(self, number: int, losses: list[Tensor]) -> Outcome:
        """Add up over all processes, and move the weights."""
        self.ranks.sum(self.gradient)
        self.ranks.sum(self.sums)
        for group in self.optimizer.param_groups:
            group["lr"].fill_(self.rate(number))
        move = self.recorder.move if self.recorder else self.move
        norm = move().clone()
        finite = torch.isfinite(norm) & torch.isfinite(self.sums[0])
        return Outcome(torch.cat([self.sums, norm.double()[None]]), torch.stack(losses), finite)

    def forget(self) -> None:
        """Leave nothing of parts that were given up half way."""
        if self.twin:
            self.twin.forget()

    def learn(self, part: Batch, first: bool) -> Tensor:
        """Take over a part's gradient and its sums, or where it is not the first of a step, add
        them; give its loss."""
        if first:
            self.sums.zero_()
            if not self.twin:
                self.gradient.zero_()
        loss = self.loss(part.to(self.ranks.device, non_blocking=True))
        loss.sum.backward()
        if self.twin:
            (self.twin.move_to if first else self.twin.add_to)(self.gradient)
        self.sums += torch.stack([x.detach().double() for x in loss])
        return loss.sum.detach()

    def move(self) -> Tensor:
        """Change the weights by the gradient that was added up; give its norm."""
        # The loss of a step is the mean over all its target tokens, whoever computed them.
        tokens = self.sums[1].to(self.gradient.dtype)
        if tokens.is_cuda:  # four numbers at a time, which a division by a tensor is not
            torch._foreach_div_([self.gradient], tokens)
        else:
            self.gradient.div_(tokens)
        norm = torch.linalg.vector_norm(self.gradient)
        clip = self.preset.training.clip
        if clip > 0:
            self.gradient.mul_((clip / (norm + 1e-12)).clamp(max=1.0))
        self.optimizer.step()
        if self.twin:
            self.twin.refresh()
        return norm

    def rate(self, number: int) -> float:
        return self.preset.schedule.rate(number, self.preset.model.dim)


def rate_on_device(optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    """Make every group's learning rate a number on the device: what was recorded of a step then
    reads the rate of the day."""
    for group in optimizer.param_groups:
        group["lr"] = torch.zeros((), device=device)
        if "capturable" in group:
            group["capturable"] = device.type == "cuda"


def mixed(seed: int, step: int, part: int) -> int:
    """One seed from three numbers, such that near ones give unlike seeds."""
    digest = hashlib.blake2b(f"{seed}/{step}/{part}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
