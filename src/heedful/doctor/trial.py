"""The run's half: the model is built, and its longest batch, a few steps and a decode are done."""

import math
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from heedful.data.batching import Packed
from heedful.data.loader import Cursor, Step
from heedful.data.preparation import Prepared, Progress, silent
from heedful.decoding.translator import Translator
from heedful.doctor import memory
from heedful.doctor.finding import Finding, percent
from heedful.doctor.gradients import compared, exactly, still
from heedful.doctor.memory import Budget, Peak
from heedful.doctor.patient import Patient
from heedful.errors import HeedfulError
from heedful.problems.base import TRAIN, VALID
from heedful.runs.config import RunConfig
from heedful.runs.weights import optimizer_tensors, weights

STEPS = 5  # that are timed, or fewer if they take longer than this together:
SECONDS = 1.5
PLANNED = 64  # batches of the plan that padding is counted over
DECODED = 4  # examples
PADDED = 0.25  # share of padding from which batches are badly filled
COMPARED = 512  # slots, or one row, whose gradient is compared
WRONG = 0.5  # of a gradient; one that has nothing to do with it is off by all of it, or more


@dataclass(frozen=True)
class Speed:
    """What a few steps of training took. A step is all of its parts, here one after the other."""

    seconds: float  # a step
    targets: float  # target tokens a step
    tokens: float  # of all features
    steps: int  # that were timed


@dataclass(frozen=True)
class Trial:
    """What is so about the run."""

    findings: list[Finding]
    numbers: dict[str, Any]


def try_run(
    config: RunConfig,
    prepared: Prepared,
    device: torch.device,
    out: Path = Path("."),
    progress: Progress = silent,
) -> Trial:
    """Build the model and do a little of everything; what cannot be done is a finding."""
    findings: list[Finding] = []
    numbers: dict[str, Any] = {"device": str(device)}
    try:
        for part in _parts(config, prepared, device, out, numbers, progress):
            findings.append(part)
    except HeedfulError as error:
        findings.append(Finding("problem", "run", f"the run cannot be: {error}"))
    return Trial(findings, numbers)


def _parts(
    config: RunConfig,
    prepared: Prepared,
    device: torch.device,
    out: Path,
    numbers: dict[str, Any],
    progress: Progress,
) -> Iterator[Finding]:
    progress(0, "building the model")
    patient = Patient(config, prepared, device)
    count = sum(p.numel() for p in patient.model.parameters())
    numbers["parameters"] = count
    title = f"{config.preset.model.kind} with {count:,} parameters, on {device}"
    yield Finding("ok", "parameters", title, count)
    yield _padding(patient, numbers)
    progress(0, "training a few steps")
    short = False
    try:
        yield from _longest(patient, numbers)
        speed = _speed(patient)
    except (RuntimeError, MemoryError) as error:
        if not memory.ran_out(error):
            raise
        short = True
    if short:  # only out here is what the failed step held free again: an error holds on to it
        yield _too_large(patient, numbers)
        return
    yield from _time(patient, speed, numbers)
    yield _disk(patient, out, numbers)
    progress(0, "decoding a few examples")
    yield from _decode(patient, numbers)
    del patient
    progress(0, "comparing gradients")
    yield _gradients(config, prepared, device, numbers)


def _padding(patient: Patient, numbers: dict[str, Any]) -> Finding:
    recipe, lengths = patient.loader().recipe, patient.shards.lengths
    plan = list(islice(recipe.line(Cursor()), PLANNED))
    slots = sum(part.slots for part, _ in plan)
    tokens = sum(int(lengths[f][part.examples].sum()) for part, _ in plan for f in recipe.features)
    numbers["padding"] = share = 1 - tokens / slots
    epoch = sum(after.epoch == 0 for _, after in plan) + 1  # its last batch is seldom full
    advice = "Raise batch.window"
    if epoch < PLANNED // 8:
        advice = (
            f"Lower batch.tokens: an epoch fills few batches ({epoch}), the last of them not whole"
        )
    elif not isinstance(patient.preset.batch, Packed):
        advice = "Raise batch.window, or use batch=packed where the model takes it"
    return Finding(
        "warning" if share > PADDED else "ok",
        "padding",
        f"{percent(share)} of the slots are padding, over the first {len(plan)} batches",
        share,
        advice if share > PADDED else "",
    )


def _longest(patient: Patient, numbers: dict[str, Any]) -> Iterator[Finding]:
    tokens, there = patient.preset.batch.tokens, memory.room(patient.device)
    batch = patient.longest(tokens)
    with Peak(patient.device) as peak:  # the first step of all: nothing freed is there to be used
        seconds, finite = patient.take([batch])
    rows = {name: list(rows.ids.shape) for name, rows in batch.features.items()}
    numbers["longest_batch"] = {"shape": rows, "seconds": seconds, "peak_bytes": peak.peak}
    shapes = ", ".join(f"{name} {height} x {width}" for name, (height, width) in rows.items())
    yield Finding(
        "ok" if finite else "problem",
        "longest_batch",
        f"the longest batch ({shapes}) is trained on in {seconds:.2f} s, with a peak of "
        f"{peak.peak / 1e9:.2f} GB" + ("" if finite else "; its loss is not a number"),
        peak.peak,
    )
    if patient.device.type == "cuda":
        del batch
        budget = memory.largest(lambda n: _attempt(patient, n), tokens, there)
    else:
        budget = memory.estimated(tokens, peak, there)
    if budget is not None:
        yield _budget(patient, budget, numbers)


def _budget(patient: Patient, budget: Budget, numbers: dict[str, Any]) -> Finding:
    tokens = patient.preset.batch.tokens
    numbers["budget"] = asdict(budget)
    fits = budget.tokens >= tokens
    return Finding(
        "ok" if fits else "problem",
        "budget",
        f"batch.tokens={tokens:,} {'fits' if fits else 'does not fit'}; up to about "
        f"{budget.tokens:,} would ({budget.how})",
        budget.tokens,
        "" if fits else f"Set batch.tokens={budget.tokens}, and training.parts to make up for it",
    )


def _attempt(patient: Patient, tokens: int) -> int | None:
    """The peak of one step with so many tokens; None if it cannot be taken."""
    peak = Peak(patient.device)
    try:
        with peak:
            patient.take([patient.longest(tokens)])
    except (RuntimeError, MemoryError):  # of memory, or of kernels that count no further
        peak.peak = 0
    if not peak.peak and patient.device.type == "cuda":
        torch.cuda.empty_cache()
    return peak.peak or None


def _too_large(patient: Patient, numbers: dict[str, Any]) -> Finding:
    """The batches of the preset do not fit: find some that do."""
    tokens = patient.preset.batch.tokens
    there = memory.room(patient.device)
    budget = memory.largest(lambda n: _attempt(patient, n), tokens // 2, there)
    if budget is not None:
        return _budget(patient, budget, numbers)
    title = f"memory ran out: batch.tokens={tokens:,} does not fit, nor does a sixteenth of it"
    return Finding("problem", "budget", title, 0, "Use a smaller model, or another device")


def _speed(patient: Patient) -> Speed:
    """The time of a few steps; one that takes long must do for all."""
    timed: list[tuple[Step, float]] = []
    with patient.steps() as steps:
        while len(timed) < STEPS and sum(seconds for _, seconds in timed) < SECONDS:
            step = next(steps)
            seconds, _ = patient.take(step.parts)
            timed.append((step, seconds))
    share = patient.preset.training.parts / len(timed)
    return Speed(
        seconds=share * sum(seconds for _, seconds in timed),
        targets=share * sum(step.targets for step, _ in timed),
        tokens=share * sum(step.tokens for step, _ in timed),
        steps=len(timed),
    )


def _time(patient: Patient, speed: Speed, numbers: dict[str, Any]) -> Iterator[Finding]:
    steps = patient.preset.training.steps
    left = steps * speed.seconds
    kept = patient.loader().recipe.kept()
    epochs = steps * speed.targets / max(1, int(patient.shards.lengths["targets"][kept].sum()))
    numbers |= {
        "seconds_per_step": speed.seconds,
        "target_tokens_per_second": speed.targets / speed.seconds,
        "tokens_per_second": speed.tokens / speed.seconds,
        "steps": steps,
        "seconds_to_finish": left,
        "epochs": epochs,
    }
    faster = "; torch.compile, left out here, makes it faster" if patient.compiles else ""
    yield Finding(
        "ok",
        "speed",
        f"{speed.targets / speed.seconds:,.0f} target tokens a second, {speed.seconds:.3f} s a "
        f"step of {speed.targets:,.0f} (steps timed: {speed.steps}){faster}",
        speed.targets / speed.seconds,
    )
    yield Finding(
        "note" if left > 86_400 else "ok",
        "time",
        f"{steps:,} steps take about {duration(left)}, evaluation not counted: {epochs:,.1f} times "
        "through the training examples",
        left,
        "Fewer training.steps, a smaller model, or another device take less" * (left > 86_400),
    )


def _disk(patient: Patient, out: Path, numbers: dict[str, Any]) -> Finding:
    training = patient.preset.training
    tensors = weights(patient.model)
    size = sum(t.nbytes for t in tensors.values())
    one = size + sum(
        t.nbytes for t in optimizer_tensors(patient.model, patient.step.optimizer).values()
    )
    one += size if training.ema > 0 else 0
    # The newest is written before the oldest goes; of the best, one may be among the last.
    written = math.ceil(training.steps / max(1, training.checkpoint_every))
    held = min(written, training.keep_last + training.keep_best) + 1
    need = held * one
    if training.disk_cap_gb > 0:
        need = min(need, int(training.disk_cap_gb * 1e9) + one)
    need += size if training.average else 0
    free = shutil.disk_usage(out).free
    numbers["disk"] = {"checkpoint_bytes": one, "bytes": need, "free_bytes": free}
    return Finding(
        "problem" if need > free else "ok",
        "disk",
        f"checkpoints take up to {need / 1e9:,.2f} GB ({held} of {one / 1e6:,.1f} MB); "
        f"{free / 1e9:,.1f} GB are free here",
        need,
        "Lower training.keep_last, or set training.disk_cap_gb" if need > free else "",
    )


def _decode(patient: Patient, numbers: dict[str, Any]) -> Iterator[Finding]:
    """The outputs of a model that has learnt nothing are as long as can be: the worst case."""
    split = VALID if patient.prepared.info["splits"].get(VALID, {}).get("examples") else TRAIN
    if "inputs" not in patient.prepared.features:
        return
    shards = patient.prepared.split(split)
    texts = [patient.reader.texts(shards, i)["inputs"] for i in range(min(DECODED, len(shards)))]
    patient.model.eval()
    translator = Translator(
        patient.model, patient.reader.tokenizers, patient.preset.decode, patient.device
    )
    began = time.perf_counter()
    with torch.no_grad():
        decoded = translator.decode(texts)
    seconds = time.perf_counter() - began
    errors = [line.error for line in decoded if line.error is not None]
    numbers["decode"] = {"examples": len(texts), "seconds": seconds, "failed": len(errors)}
    beam = patient.preset.decode.beam
    yield Finding(
        "problem" if errors else "ok",
        "decode",
        f"{len(texts)} {split} examples decode in {seconds:.2f} s with a beam of {beam}"
        if not errors
        else f"{len(errors)} of {len(texts)} {split} examples do not decode: {errors[0]}",
        seconds,
    )


def _gradients(
    config: RunConfig, prepared: Prepared, device: torch.device, numbers: dict[str, Any]
) -> Finding:
    """Those of training, by kernels and in half precision, beside float64's."""
    patient = Patient(replace(config, preset=still(config.preset)), prepared, device)
    batch = patient.few(COMPARED)
    try:
        exact = exactly(patient.model, batch)
        if exact is None:
            return Finding("ok", "gradients", "gradients are not compared: chance decides them")
        patient.step.collect(1, [batch])
        distance = compared(patient.step, exact)
    except (RuntimeError, MemoryError) as error:
        if not memory.ran_out(error):
            raise
        return Finding("ok", "gradients", "gradients are not compared: float64 needs more memory")
    numbers["gradients"] = asdict(distance)
    wrong = not distance.share < WRONG
    which = "other gradients than the model's" if wrong else "the model's gradients"
    off = f"{percent(distance.share)} off float64's ({distance.weight})"
    return Finding(
        "problem" if wrong else "ok",
        "gradients",
        f"training has {which}: at most {off}",
        distance.share,
        "Another precision (training.precision), or another release of PyTorch or Triton, may have "
        "the right ones; and please tell us, with this report" * wrong,
    )


def duration(seconds: float) -> str:
    """A time as a person says it.

    >>> duration(42), duration(3_000), duration(40_000), duration(400_000)
    ('42 s', '50 minutes', '11 hours', '4.6 days')
    """
    for unit, size, most in (("minutes", 60, 7_200), ("hours", 3_600, 172_800)):
        if seconds < 120:
            return f"{seconds:.0f} s"
        if seconds < most:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.1f} days"
