"""Saving a run and finding it again: what goes into a checkpoint, and which ones stay."""

import torch

from heedful.models.base import Model
from heedful.optim.averages import MovingAverage
from heedful.presets.base import Training
from heedful.runs import durable
from heedful.runs.checkpoints import EMA, MODEL, OPTIM, Checkpoint, Damaged
from heedful.runs.folder import RunFolder
from heedful.runs.retention import Kept, doomed
from heedful.runs.weights import detached, load_optimizer, load_weights, optimizer_tensors, weights
from heedful.training.evaluation import merit
from heedful.training.state import TrainState


class Saver:
    """Writes checkpoints of one model and its optimiser, and reads them back."""

    def __init__(
        self,
        folder: RunFolder,
        training: Training,
        model: Model,
        optimizer: torch.optim.Optimizer,
        average: MovingAverage | None,
    ) -> None:
        self.folder, self.training = folder, training
        self.model, self.optimizer, self.average = model, optimizer, average

    def save(self, state: TrainState) -> Checkpoint:
        """Write a checkpoint, point at the best, and let those go that need not stay."""
        tensors = {
            MODEL: detached(weights(self.model)),
            OPTIM: detached(optimizer_tensors(self.model, self.optimizer)),
            EMA: detached(self.average.weights) if self.average else {},
        }
        checkpoints = self.folder.checkpoints
        written = checkpoints.write(f"step-{state.step}", tensors, state.to_json())
        if state.best is not None and state.best.step == state.step:
            checkpoints.write_best(state.step, state.best.metric, state.best.value)
        self.prune(state)
        return written

    def prune(self, state: TrainState) -> None:
        """Delete what is neither recent nor good, or more than the disk may hold."""
        metric = state.best.metric if state.best else ""
        kept = [
            Kept(checkpoint.step or 0, checkpoint.size(), _merit(checkpoint, metric))
            for checkpoint in self.folder.checkpoints.steps()
        ]
        training = self.training
        cap = int(training.disk_cap_gb * 1e9)
        for step in doomed(kept, training.keep_last, training.keep_best, cap):
            durable.delete_folder(self.folder.checkpoints.at(step).path)

    def restore(self, checkpoint: Checkpoint) -> TrainState:
        """Put everything back as it was when this checkpoint was written."""
        where = str(checkpoint.path)
        load_weights(self.model, checkpoint.tensors(MODEL), where)
        if checkpoint.has(OPTIM):
            load_optimizer(self.model, self.optimizer, checkpoint.tensors(OPTIM))
        if self.average is not None:
            kind = EMA if checkpoint.has(EMA) else MODEL
            self.average.load(checkpoint.tensors(kind))
        try:
            return TrainState.from_json(checkpoint.state())
        except (KeyError, TypeError) as error:
            raise Damaged(f"{where}: state.json is not that of a training run ({error})") from error


def _merit(checkpoint: Checkpoint, metric: str) -> tuple[float, float] | None:
    """How good this checkpoint was found, if it was evaluated when it was written."""
    try:
        state = checkpoint.state()
        return merit(state["metrics"], metric) if state["evaluated"] == state["step"] else None
    except (Damaged, KeyError):
        return None
