"""Training a peer for so many seconds, as a competent user of its library would.

Mixed precision on a GPU, fused Adam, clipping, label smoothing, and at the end the mean of the last
few weights: all that ours has, so that what is compared is the toolkits.

What is counted: the steps, and the waiting for their batches. What is not, as with ours (its log's
`seconds`): preparing data, building the model, saving, evaluating.
"""

import math
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, fields
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import sdpa_kernel

from heedful.data.batch import Batch
from heedful.data.batching import Batching, Bucketed
from heedful.data.loader import Loader, Step
from heedful.data.preparation import Prepared
from heedful.errors import HeedfulError, UsageError
from heedful.nn.kernels.fused import ANY_SHAPE
from heedful.optim.averages import mean
from heedful.presets.base import Preset, Training
from heedful.problems.base import TRAIN
from heedful.text.specials import PAD, START
from heedful.training.interval import Clock
from heedful.training.low import is_low
from heedful.training.step import mixed

MULTIPLE = 8  # lengths of padded batches on a GPU
TELLING = 10  # points of the curve between two words to a person


@dataclass
class Lesson:
    """How far a peer was trained: it grows step by step."""

    steps: int = 0
    tokens: int = 0  # target tokens seen
    seconds: float = 0.0  # spent training
    points: list[dict[str, float]] = field(default_factory=list)  # along the way

    def note(self, loss: Tensor, clock: Clock) -> None:
        """One more point of the curve; a loss that is no number ends it."""
        value = loss.item()  # waits for the device, so that the clock is right
        if not math.isfinite(value):
            raise HeedfulError(
                f"the peer's loss is {value} at step {self.steps:,}, which shows nothing. "
                "Give it a lower rate of its own, as in settings={'schedule.peak': 1e-3}"
            )
        before = self.points[-1]["tokens"] if self.points else 0
        elapsed = max(clock.seconds() - self.seconds, 1e-9)
        self.seconds += elapsed
        self.points.append(
            {
                "step": self.steps,
                "tokens": self.tokens,
                "seconds": self.seconds,
                "loss": value,
                "tokens_per_second": (self.tokens - before) / elapsed,
            }
        )

    def speed(self) -> float:
        """Target tokens a second, the median over the points without the first (it warms up)."""
        steady = sorted(p["tokens_per_second"] for p in self.points[1:] or self.points)
        return steady[len(steady) // 2] if steady else math.nan


def train(
    model: nn.Module,
    preset: Preset,
    prepared: Prepared,
    seconds: float,
    device: torch.device,
    tell: Callable[[str], None] = lambda _: None,
    compiled: bool = False,
) -> Lesson:
    """Train a sequence-to-sequence model of `transformers` until its seconds are used up.

    Every number is the preset's. Its steps become parts of the time: at half of the seconds the
    rate is that of half of the steps, and weights are kept for the mean where checkpoints would be.
    """
    if seconds <= 0:
        raise UsageError(f"a peer needs some time to be trained in, got {seconds} seconds")
    training = preset.training
    torch.manual_seed(mixed(training.seed, 1, 0))  # its dropout
    model.to(device).train()
    move = Mover(model, preset, device, compiled)
    kept = Kept(model, training, seconds)
    lesson = Lesson()
    loader = Loader(
        prepared.split(TRAIN),
        prepared.features,
        batching(preset, device),
        seed=training.seed,
        parts=training.parts,
        workers=training.workers,
    )
    with closing(cast("Generator[Step]", loader.steps())) as steps, sdpa_kernel(ANY_SHAPE):
        clock = Clock()
        while not lesson.steps or clock.seconds() < seconds:
            step = next(steps)
            loss = move(step, rate(preset, clock.seconds() / seconds))
            lesson.steps += 1
            lesson.tokens += step.targets
            if lesson.steps == 1 or lesson.steps % training.log_every == 0:
                lesson.note(loss, clock)
                if lesson.steps % (TELLING * training.log_every) == 0:
                    tell(f"step {lesson.steps:,}, {clock.seconds():.0f} of {seconds:.0f} seconds")
            kept.look(clock)
        if lesson.points[-1]["step"] < lesson.steps:
            lesson.note(loss, clock)
    kept.average()
    model.eval()
    return lesson


def rate(preset: Preset, along: float) -> float:
    """The learning rate where this part of the time is used up."""
    step = max(1, round(min(along, 1.0) * preset.training.steps))
    return preset.schedule.rate(step, preset.model.dim)


class Mover:
    """Takes a model's steps: forward, backward, clipped, applied."""

    def __init__(
        self, model: nn.Module, preset: Preset, device: torch.device, compiled: bool
    ) -> None:
        self.preset, self.device = preset, device
        self.forward: Any = torch.compile(model, dynamic=True) if compiled else model
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = preset.optim.build(self.parameters)

    def __call__(self, step: Step, rate: float) -> Tensor:
        """The mean loss over the step's target tokens, still on the device."""
        losses = []
        for part in step.parts:
            with lowered(self.preset, self.device):
                batch = part.to(self.device, non_blocking=True)
                loss = self.loss(batch) / step.targets
            loss.backward()
            losses.append(loss.detach())
        if self.preset.training.clip > 0:
            nn.utils.clip_grad_norm_(self.parameters, self.preset.training.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return torch.stack(losses).sum()

    def loss(self, batch: Batch) -> Tensor:
        """The smoothed loss, added up. What comes after the end of a target is not looked at."""
        labels, source = batch.targets.ids, batch.inputs.ids
        logits = self.forward(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            decoder_input_ids=F.pad(labels[:, :-1], (1, 0), value=START),
            use_cache=False,
        ).logits
        return F.cross_entropy(
            logits.flatten(0, 1),
            labels.flatten(),
            ignore_index=PAD,
            label_smoothing=self.preset.loss.amount,
            reduction="sum",
        )


def lowered(preset: Preset, device: torch.device) -> AbstractContextManager[object]:
    """Autocast to bf16 where ours computes in it."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=is_low(preset, device))


def batching(preset: Preset, device: torch.device) -> Bucketed:
    """One example a row, padded: the preset's budget of slots, and its longest example. On a GPU
    lengths are such as its matrix units want."""
    if isinstance(preset.batch, Bucketed):
        return preset.batch
    common = {f.name: getattr(preset.batch, f.name) for f in fields(Batching)}
    multiple = MULTIPLE if device.type == "cuda" else 1
    return Bucketed(**{**common, "longest": preset.batch.limit, "multiple": multiple})


class Kept:
    """The weights towards the end, for their mean: as many as ours averages, as far apart in parts
    of the whole as our checkpoints are."""

    def __init__(self, model: nn.Module, training: Training, seconds: float) -> None:
        self.model, self.training = model, training
        every = (training.checkpoint_every or training.steps) / training.steps
        parts = [1.0 - back * every for back in range(training.average - 1, 0, -1)]
        self.marks = [part * seconds for part in parts if part > 0]
        self.weights: list[dict[str, Tensor]] = []

    def look(self, clock: Clock) -> None:
        """Keep the weights as they are if it is time; the clock stands still meanwhile."""
        if len(self.weights) < len(self.marks) and (
            clock.seconds() >= self.marks[len(self.weights)]
        ):
            settle(next(self.model.parameters()).device)
            with clock.paused():
                self.weights.append(snapshot(self.model))

    def average(self) -> None:
        """Give the model the mean of what was kept and of its last weights."""
        if self.training.average:
            whole = [*self.weights, snapshot(self.model)]
            fill(self.model, {name: mean([w[name] for w in whole]) for name in whole[-1]})


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """The weights as they are now, on the CPU; what is tied is there once."""
    return {name: p.detach().to("cpu", copy=True) for name, p in model.named_parameters()}


@torch.no_grad()
def fill(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Put weights that `snapshot` gave into a model."""
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])


def settle(device: torch.device) -> None:
    """Wait until a GPU has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
