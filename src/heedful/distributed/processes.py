"""The processes of one run: one by itself, or those that torchrun started, in data parallel.

Every process holds the whole model and takes its share of each step's parts; gradients are summed,
so all of them take the same step. What they tell each other beside that is plain JSON.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from heedful.errors import HeedfulError, UsageError

PATIENCE = timedelta(hours=12)  # while the first process evaluates, the others wait


@dataclass(frozen=True)
class Processes:
    """Which process this is, of how many, and on which device it computes."""

    device: torch.device
    rank: int = 0
    world: int = 1
    control: Any = None  # a group over the CPU, so that words do not wait for the GPU

    @property
    def first(self) -> bool:
        """Whether this is the one that writes and evaluates."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all processes."""
        if self.world > 1:
            dist.all_reduce(tensor)

    def any(self, flag: bool) -> bool:
        """Whether any process says so."""
        if self.world == 1:
            return flag
        said = torch.tensor([int(flag)])
        dist.all_reduce(said, op=dist.ReduceOp.MAX, group=self.control)
        return bool(said.item())

    def gather(self, value: Any) -> list[Any]:
        """What every process says, in the order of ranks."""
        return [self._broadcast(value, rank) for rank in range(self.world)]

    def first_does(self, work: Callable[[], Any]) -> Any:
        """The first process works, the others wait; all get what came of it, or its error."""
        if self.world == 1:
            return work()
        said: dict[str, Any] = {}
        failure: HeedfulError | None = None
        if self.first:
            try:
                said = {"result": work()}
            except HeedfulError as error:
                failure, said = error, {"error": str(error)}
        said = self._broadcast(said, 0)
        if failure is not None:
            raise failure
        if "error" in said:
            raise HeedfulError(said["error"])
        return said["result"]

    def same(self, model: nn.Module) -> None:
        """Give every process the first one's weights."""
        if self.world > 1:
            for tensor in model.state_dict().values():
                dist.broadcast(tensor, 0)

    def check_same(self, model: nn.Module) -> None:
        """Raise unless every process has the same weights."""
        if self.world == 1:
            return
        with torch.no_grad():
            sums = [p.double().sum() + p.double().square().sum() for p in model.parameters()]
        mine = float(torch.stack(sums).sum())
        if len(set(map(repr, self.gather(mine)))) > 1:
            raise HeedfulError(
                "the processes' weights have drifted apart; the last checkpoint is good. "
                "Go on from it with --resume"
            )

    def _broadcast(self, value: Any, rank: int) -> Any:
        """What the process `rank` holds as `value`, as JSON (nothing is ever unpickled)."""
        if self.world == 1:
            return value
        content = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        length = torch.tensor([len(content)])
        dist.broadcast(length, rank, group=self.control)
        if self.rank != rank:
            content = torch.empty(int(length.item()), dtype=torch.uint8)
        dist.broadcast(content, rank, group=self.control)
        return json.loads(content.numpy().tobytes())


@contextmanager
def processes(device: str = "auto") -> Iterator[Processes]:
    """Join the processes torchrun started, or be the only one; leave them at the end."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Processes(pick_device(device))
        return
    local = int(os.environ.get("LOCAL_RANK", "0"))
    here = pick_device(device, local)
    if here.type == "cuda":
        torch.cuda.set_device(here)
    dist.init_process_group("nccl" if here.type == "cuda" else "gloo", timeout=PATIENCE)
    try:
        control = dist.new_group(backend="gloo", timeout=PATIENCE)
        yield Processes(here, dist.get_rank(), world, control)
    finally:
        dist.destroy_process_group()


def pick_device(device: str = "auto", local: int = 0) -> torch.device:
    """`auto` is the GPU where there is one; process `local` of a machine takes GPU `local`."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        picked = torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"no device is named '{device}'. Try auto, cpu or cuda") from error
    if picked.type == "cuda":
        if not torch.cuda.is_available():
            raise UsageError(
                "device cuda was asked for, but torch finds no GPU here. Try --device cpu"
            )
        number = local if picked.index is None else picked.index
        if number >= torch.cuda.device_count():
            raise UsageError(
                f"device cuda:{number} was asked for, but this machine has "
                f"{torch.cuda.device_count()} GPUs"
            )
        return torch.device("cuda", number)
    return picked


def check_parts(parts: int, world: int) -> None:
    """Every process takes the same number of a step's parts."""
    if parts % world:
        raise UsageError(
            f"training.parts is {parts}, which {world} processes cannot share equally. "
            f"Set training.parts={-(-parts // world) * world}, or start another number of processes"
        )
