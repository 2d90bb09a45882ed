"""Training: a loop one can read, and what stands ready before it begins."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from heedful.data.loader import Loader, Step
from heedful.data.preparation import Prepared, Progress, silent
from heedful.distributed.processes import Processes, check_parts, processes
from heedful.nn.heap import keep_freed
from heedful.optim.averages import MovingAverage
from heedful.problems.base import TRAIN, VALID
from heedful.runs.averaging import average_checkpoints
from heedful.runs.checkpoints import Checkpoint
from heedful.runs.config import RunConfig
from heedful.runs.folder import RunFolder
from heedful.runs.initial import begin_from
from heedful.runs.loading import make_model
from heedful.training.abilities import lacks
from heedful.training.beginning import begin
from heedful.training.evaluation import Evaluator, merit
from heedful.training.fitting import Fitting
from heedful.training.guard import Guard, NonFinite
from heedful.training.interval import Clock, Interval
from heedful.training.saver import Saver
from heedful.training.signals import Interrupted, StopFlag, stopping
from heedful.training.state import Best, TrainState
from heedful.training.step import TrainStep, mixed
from heedful.training.watchers import LogFile, TensorBoard, Watcher, Watchers, person


@dataclass(frozen=True)
class TrainResult:
    """What came of training."""

    folder: Path
    step: int
    metrics: dict[str, Any]  # of the last evaluation
    best: Best | None
    seconds: float
    stopped_early: bool  # by training.patience


def train(
    config: RunConfig,
    out: Path,
    data_root: Path,
    *,
    resume: bool = False,
    allow_changes: bool = False,
    device: str = "auto",
    progress: Progress = silent,
    watch: Callable[[int, int], Watcher] = person,
) -> TrainResult:
    """Train a config into the folder `out`; data is prepared under `data_root` if it is not there.

    `progress` is told of the preparing; `watch(steps, step)` makes the watcher that a person sees.
    """
    with processes(device) as ranks, ExitStack() as held:
        check_parts(config.preset.training.parts, ranks.world)
        if ranks.device.type == "cpu":
            keep_freed()
        begun = ranks.first_does(
            lambda: begin(held, config, out, data_root, resume, allow_changes, progress)
        )
        prepared = Prepared.open(Path(begun["data"]), config.problem)
        fresh = not begun["checkpoint"]
        trainer = Trainer(config, RunFolder(out), prepared, ranks, fresh)
        if not fresh:
            trainer.restore(trainer.folder.checkpoints.at(begun["checkpoint"]))
        if ranks.first:
            trainer.watch_with(watch)
        try:
            for note in [*begun["notes"], *trainer.notes]:
                trainer.watchers.note(note)
            with stopping() as stop:
                return trainer.run(stop)
        finally:
            trainer.watchers.close()


class Trainer:
    """One process's part in a run: the model, what moves it, and where the run stands."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        prepared: Prepared,
        ranks: Processes,
        fresh: bool = True,
    ) -> None:
        preset, training = config.preset, config.preset.training
        self.config, self.folder, self.ranks, self.training = config, folder, ranks, training
        torch.manual_seed(mixed(training.seed, 0, 0))
        tokenizers = folder.tokenizers()
        self.model = make_model(config, tokenizers).to(ranks.device)
        self.notes: list[str] = lacks(preset, ranks.device) if ranks.first else []
        if fresh and training.init:
            self.notes.append(begin_from(Path(training.init), self.model, tokenizers))
        ranks.same(self.model)
        self.step = TrainStep(self.model, preset, ranks)
        self.take = Fitting(self.step, lambda said: self.watchers.note(said))
        keeps = training.ema > 0 and ranks.first
        self.average = MovingAverage(self.model, training.ema) if keeps else None
        self.saver = Saver(folder, training, self.model, self.step.optimizer, self.average)
        self.loader = Loader(
            prepared.split(TRAIN),
            prepared.features,
            preset.batch,
            seed=training.seed,
            parts=training.parts,
            rank=ranks.rank,
            world=ranks.world,
            workers=training.workers,
        )
        self.evaluator = Evaluator(config, prepared, tokenizers, ranks.device)
        self.guard = Guard(ranks)
        self.watchers = Watchers()
        self.state = TrainState()
        self.clock = Clock()
        self.interval = Interval(ranks.device, self.clock)

    def restore(self, checkpoint: Checkpoint) -> None:
        self.state = self.saver.restore(checkpoint)
        self.clock = Clock(self.state.seconds)
        self.interval = Interval(self.ranks.device, self.clock, self.state.interval)

    def watch_with(self, watch: Callable[[int, int], Watcher]) -> None:
        step = self.state.step
        self.watchers = Watchers(
            LogFile(self.folder.log, step),
            TensorBoard(self.folder.tensorboard, step),
            watch(self.training.steps, step),
        )

    def run(self, stop: StopFlag) -> TrainResult:
        """Train until the steps are done, nothing better comes, or someone asks to stop."""
        self.model.train()
        try:
            self.loop(stop)
        except NonFinite as error:
            raise self.reported(error) from error
        self.finish()
        state, seconds = self.state, self.clock.seconds()
        early = state.step < self.training.steps
        return TrainResult(self.folder.path, state.step, state.metrics, state.best, seconds, early)

    def loop(self, stop: StopFlag) -> None:
        if self.evaluate():  # a signal may have come just before it was due
            self.save()
        with closing(cast("Generator[Step]", self.loader.steps(self.state.cursor))) as steps:
            while not self.done:
                self.advance(next(steps))
                self.leave_if_asked(stop)
                better = self.evaluate()
                self.leave_if_asked(stop)
                if better or self.due(self.training.checkpoint_every) or self.done:
                    self.save()

    @property
    def done(self) -> bool:
        patience = self.training.patience
        return self.state.step >= self.training.steps or 0 < patience <= self.state.since_best

    def due(self, every: int) -> bool:
        """Whether what happens every so many steps, and at the end, happens now."""
        step = self.state.step
        return step > 0 and (step == self.training.steps or (every > 0 and step % every == 0))

    def advance(self, batch: Step) -> None:
        """Take one step."""
        state = self.state
        state.step += 1
        outcome = self.take(state.step, batch.parts)
        if self.average is not None:
            self.average.update(state.step)
        state.cursor = batch.cursor
        state.tokens += batch.targets
        self.interval.add(batch, outcome)
        self.guard.watch(state.step, batch.parts, outcome)
        self.watchers.advance(state.step)
        if self.due(self.training.log_every):
            self.log()

    def log(self) -> None:
        self.guard.check()
        state = self.state
        line = self.interval.finish(self.training.steps - state.step)
        self.watchers.record(
            {
                "kind": "train",
                "step": state.step,
                "epoch": state.cursor.epoch,
                "rate": self.step.rate(state.step),
                "tokens": state.tokens,
                **line,
            }
        )

    def evaluate(self) -> bool:
        """Evaluate if it is due and was not done; whether this is the best so far."""
        state = self.state
        if not self.due(self.training.evaluate_every) or state.evaluated == state.step:
            return False
        self.guard.check()
        with self.clock.paused():
            state.metrics = self.ranks.first_does(self._measure)
        state.evaluated = state.step
        record = {"kind": "evaluate", "step": state.step, "split": VALID, "metrics": state.metrics}
        self.watchers.record({**record, "weights": "ema" if self.average else "model"})
        if not state.metrics:
            return False
        metric = self.config.problem.best_by
        metric = metric if metric in state.metrics else "loss"
        reached = merit(state.metrics, metric)
        better = state.best is None or reached > state.best.merit
        state.since_best = 0 if better else state.since_best + 1
        if better:
            state.best = Best(state.step, metric, state.metrics[metric]["value"], reached)
        return better

    def _measure(self) -> dict[str, Any]:
        with ExitStack() as lent:
            if self.average is not None:
                lent.enter_context(self.average.lent())
            return self.evaluator.measure(self.model, VALID, self.training.evaluate_examples)

    def save(self) -> None:
        """Write a checkpoint; a run that is no longer finite is never saved."""
        self.guard.check()
        self.ranks.check_same(self.model)
        self.state.seconds = self.clock.seconds()
        self.state.interval = self.interval.saved()
        with self.clock.paused():
            self.ranks.first_does(lambda: str(self.saver.save(self.state).path))

    def leave_if_asked(self, stop: StopFlag) -> None:
        if self.ranks.any(bool(stop)):
            self.save()
            raise Interrupted(
                f"stopped at step {self.state.step}; saved as "
                f"{self.folder.checkpoints.at(self.state.step).path}. Go on with --resume"
            )

    def reported(self, error: NonFinite) -> NonFinite:
        """The same error, written down, and with what can be gone on from."""
        record = {"kind": "non_finite", "step": error.step, "examples": error.examples}
        self.watchers.record(record)
        last = self.folder.checkpoints.newest(lambda _: None)
        stays = f"The last good checkpoint, {last.path}, stays" if last else "None was saved yet"
        return NonFinite(f"{error}. {stays}", error.step, error.examples)

    def finish(self) -> None:
        """The last things, when all steps are done."""
        there = len(self.folder.checkpoints.steps())
        count = min(self.training.average, there)
        if count > 0:
            made = self.ranks.first_does(
                lambda: str(average_checkpoints(self.folder.path, last=count).path)
            )
            self.watchers.note(f"averaged the last {count} checkpoints into {made}")
        if self.state.step < self.training.steps:
            since = self.state.since_best
            self.watchers.note(f"stopped early: {since} evaluations without a better one")
