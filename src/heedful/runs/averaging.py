"""The mean of several checkpoints of a run, as one more checkpoint."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from safetensors import safe_open
from torch import Tensor

from heedful.errors import HeedfulError, UsageError
from heedful.optim.averages import mean
from heedful.runs.checkpoints import AVERAGE, EMA, MODEL, Checkpoint
from heedful.runs.folder import RunFolder


def average_checkpoints(path: Path, *, last: int = 0, steps: Sequence[int] = ()) -> Checkpoint:
    """Average the weights of the last `last` checkpoints, or of those at `steps`, parameter by
    parameter; written as `checkpoints/average`, which says of what it is the mean.

    Where the run keeps a moving average of the weights, that is what is averaged.
    """
    folder = RunFolder.open(path)
    chosen = _choose(folder, last, list(steps))
    for checkpoint in chosen:
        checkpoint.verify()
    kind = EMA if all(checkpoint.has(EMA) for checkpoint in chosen) else MODEL
    tensors = _mean(chosen, MODEL)
    if kind == EMA:
        tensors |= _mean(chosen, EMA)
    note = {"average": [checkpoint.step for checkpoint in chosen], "of": kind}
    return folder.checkpoints.write(AVERAGE, {MODEL: tensors}, note)


def _choose(folder: RunFolder, last: int, steps: list[int]) -> list[Checkpoint]:
    there = {checkpoint.step: checkpoint for checkpoint in folder.checkpoints.steps()}
    names = ", ".join(checkpoint.name for checkpoint in there.values()) or "none"
    if (last > 0) == bool(steps):
        raise UsageError("average takes either the last so many checkpoints or a list of steps")
    if last > len(there):
        raise HeedfulError(
            f"{folder.path} has {len(there)} checkpoints, fewer than the last {last}: {names}"
        )
    absent = [step for step in steps if step not in there]
    if absent:
        raise HeedfulError(f"{folder.path} has no step-{absent[0]}. It has: {names}")
    return [there[step] for step in steps] if steps else list(there.values())[-last:]


def _mean(checkpoints: list[Checkpoint], kind: str) -> dict[str, Tensor]:
    """One tensor at a time from all of them, so that memory does not grow with their number."""
    with ExitStack() as stack:
        files = [
            stack.enter_context(safe_open(c.path / f"{kind}.safetensors", framework="pt"))
            for c in checkpoints
        ]
        names = list(files[0].keys())
        for checkpoint, file in zip(checkpoints, files, strict=True):
            if set(file.keys()) != set(names):
                raise HeedfulError(
                    f"{checkpoint.path} has other weights than {checkpoints[0].path}"
                )
        return {name: mean([file.get_tensor(name) for file in files]) for name in names}
