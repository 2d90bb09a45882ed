"""How fast training is: bare steps of ours, plain, recorded and compiled, beside other toolkits.

Every row works through the same sentences: ours in the rows its loader packs, peers in padded
batches of like length under the same budget of slots. Batches are on the device beforehand; what
the data path costs is seen end to end. Counted are real target tokens. On a CPU peers are measured
in each precision that ours are, so that like is compared with like.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from heedful.bench.beside import BUILDS, DIFFERENCES, Compiled, Way
from heedful.bench.end_to_end import whole_run
from heedful.bench.matmul import Product
from heedful.bench.rivals import Rival
from heedful.bench.table import Bench, Row, Tell, attempt, gain
from heedful.bench.timing import Peak, by_clock, rates
from heedful.bench.workload import Workload
from heedful.config import vary
from heedful.data.loader import Step
from heedful.data.preparation import Progress, silent
from heedful.distributed.processes import Processes
from heedful.errors import HeedfulError, UsageError, nearest
from heedful.models.base import ModelConfig
from heedful.nn.heap import keep_freed
from heedful.peers import torch_recurrent
from heedful.peers.training import MULTIPLE, Mover
from heedful.presets.base import Preset
from heedful.runs.config import RunConfig
from heedful.runs.loading import make_model
from heedful.training.low import is_low
from heedful.training.step import TrainStep, mixed

UNIT = "target tokens/s"
MODES: dict[str, dict[str, bool]] = {
    "plain": {"training.compile": False, "training.capture": False},
    "captured": {"training.compile": False, "training.capture": True},
    "compiled": {"training.compile": True, "training.capture": True},
}
PRECISIONS = ("fp32", "bf16")
HEAP = ", with our heap"  # how a peer's name ends where it is measured with what ours changes of it
COLUMNS = ("tflops", "share_of_matmul", "peak_gb", "reserved_gb", "padding", "share_of_step")


def is_compiled(model: ModelConfig, device: torch.device) -> bool:
    """Whether compiling is tried where nobody asks: not on a CPU, and not for recurrent models,
    whose loops take minutes for every length."""
    return device.type == "cuda" and model.kind not in torch_recurrent.RECURRENT


def usual_modes(model: ModelConfig, device: torch.device) -> tuple[str, ...]:
    """The ways of ours that are measured where nobody names any."""
    if device.type != "cuda":
        return ("plain",)
    return tuple(MODES) if is_compiled(model, device) else ("plain", "captured")


def usual_precisions(preset: Preset, device: torch.device) -> tuple[str, ...]:
    """Those measured where nobody names any: a preset's own where it has one; on a CPU bf16 only
    where training would choose it."""
    if preset.training.precision != "auto":
        return (preset.training.precision,)
    return PRECISIONS if device.type == "cuda" or chooses_low(preset, device) else ("fp32",)


def chooses_low(preset: Preset, device: torch.device) -> bool:
    """Whether training computes in bf16 here where nobody names a precision."""
    return is_low(vary(preset, {"training.precision": "auto"}), device)


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """What is measured, and how often."""

    config: RunConfig
    precisions: tuple[str, ...]
    modes: tuple[str, ...]
    rivals: tuple[Rival, ...]
    compiled_rivals: bool  # peers compiled, too
    batches: int  # that a round goes through
    repeats: int  # rounds that are timed
    warmup: int  # rounds before them
    product: Product  # whose rate others are a share of
    end_to_end: int = 0  # steps of a whole run; 0 for none

    def __post_init__(self) -> None:
        for what, given, known in (
            ("mode", self.modes, tuple(MODES)),
            ("precision", self.precisions, PRECISIONS),
        ):
            for name in given:
                if name not in known:
                    raise UsageError(
                        f"no {what} named '{name}'.{nearest(name, known)} "
                        f"There are: {', '.join(known)}"
                    )


def bench_train(
    measuring: Measuring,
    device: torch.device,
    data: Path,
    tell: Tell,
    progress: Progress = silent,
) -> Bench:
    """Measure all of it, one after the other."""
    m = measuring
    work = Workload.of(m.config, m.batches, data, progress)
    rows = [m.product.row(device, m.repeats)]
    ceiling = rows[0].value
    on_cpu = device.type == "cpu"
    # On a CPU they come before malloc is told; elsewhere after ours, since compiling them takes
    # minutes.
    alone = _peers(m, work, device, ceiling, tell) if on_cpu else []
    kept = on_cpu and keep_freed()  # as in training
    measured: list[tuple[Row, Preset]] = []
    for name, preset in arms(m):
        tell(name)
        measure = _ours(name, preset, work, m, device, ceiling)
        measured.append((attempt(name, UNIT, measure, device), preset))
        _say(measured[-1][0], tell)
    ours = [row for row, _ in measured]
    if not on_cpu:
        alone = _peers(m, work, device, ceiling, tell)
    beside = _peers(m, work, device, ceiling, tell, HEAP) if kept else []
    rows += [*ours, *alone, *beside, *gains([*ours, *alone]), *gains([*ours, *beside], HEAP)]
    known = [(row, preset) for row, preset in measured if row.value is not None]
    if m.end_to_end and known:
        bare, preset = max(known, key=lambda pair: pair[0].value or 0.0)
        tell("heedful train, end to end")
        config = replace(m.config, preset=preset)
        name = f"heedful train end to end, {bare.name.removeprefix('heedful ')}"
        rows.append(
            attempt(
                name,
                UNIT,
                lambda: whole_run(name, UNIT, config, m.end_to_end, bare, device, data),
                device,
            )
        )
        _say(rows[-1], tell)
    return Bench(kind="train", rows=tuple(rows), settings=_settings(work, m), notes=_notes(m))


def _peers(
    m: Measuring,
    work: Workload,
    device: torch.device,
    ceiling: float | None,
    tell: Tell,
    heap: str = "",
) -> list[Row]:
    """A row for each way of the others, one after the other; the first time, one for what is not
    installed."""
    found: list[Row] = []
    for rival in m.rivals:
        if not rival.installed:
            if not heap:
                found.append(rival.missing(UNIT))
                _say(found[-1], tell)
            continue
        for way in ways(m, rival, device, heap):
            tell(way.name)
            measure = _theirs(way, work, m, device, ceiling)
            found.append(attempt(way.name, UNIT, measure, device))
            _say(found[-1], tell)
    return found


def ways(m: Measuring, rival: Rival, device: torch.device, heap: str = "") -> Iterator[Way]:
    """Each way of a peer: on a GPU in the fastest precision of ours that it has, on a CPU in all of
    them."""
    low = "bf16" in m.precisions and chooses_low(m.config.preset, device)
    best = "bf16" if low else "fp32"
    for precision in m.precisions if device.type == "cpu" else (best,):
        for compiled in (False, True) if m.compiled_rivals else (False,):
            yield Way(rival=rival, precision=precision, compiled=compiled, heap=heap)


def gains(rows: Sequence[Row], heap: str = "") -> list[Row]:
    """Our fastest over the others' fastest; and, where those are measured in several precisions,
    in each of them."""
    found = gain(f"heedful over the best peer{heap}", rows)
    theirs = {row.more["precision"] for row in rows if not row.ours and row.value is not None}
    for precision in sorted(theirs, reverse=True) if len(theirs) > 1 else ():
        like = [row for row in rows if row.more.get("precision") == precision]
        found += gain(f"heedful over the best peer, {precision}{heap}", like)
    return found


def arms(measuring: Measuring) -> Iterator[tuple[str, Preset]]:
    """Each way of ours, by its row's name."""
    for precision in measuring.precisions:
        for mode in measuring.modes:
            changes = {"training.precision": precision, **MODES[mode]}
            yield f"heedful {precision} {mode}", vary(measuring.config.preset, changes)


def _ours(
    name: str,
    preset: Preset,
    work: Workload,
    m: Measuring,
    device: torch.device,
    ceiling: float | None,
) -> Callable[[], Row]:
    def measure() -> Row:
        if preset.training.compile:
            torch.compiler.reset()
        peak = Peak(device)
        config = replace(m.config, preset=preset)
        tokenizers = {
            feature: work.prepared.tokenizer(feature) for feature in ("inputs", "targets")
        }
        torch.manual_seed(mixed(preset.training.seed, 0, 0))
        model = make_model(config, tokenizers).to(device).train()
        step = TrainStep(model, preset, Processes(device))
        steps, number = work.own(device), 0
        last: list[Any] = []

        def round_() -> None:
            nonlocal number
            for one in steps:
                number += 1
                last[:] = [step(number, one.parts)]

        seconds = by_clock(round_, device, m.repeats, m.warmup)
        if not bool(last[0].finite):
            raise HeedfulError("the loss is no longer finite, so this shows nothing")
        return _row(name, preset, seconds, work, steps, peak, ceiling)

    return measure


def _theirs(
    way: Way,
    work: Workload,
    m: Measuring,
    device: torch.device,
    ceiling: float | None,
) -> Callable[[], Row]:
    def measure() -> Row:
        if way.compiled:
            torch.compiler.reset()
        peak = Peak(device)
        preset = vary(m.config.preset, {"training.precision": way.precision})
        torch.manual_seed(mixed(preset.training.seed, 0, 0))
        model = BUILDS[way.rival.name](preset.model, work.size).to(device).train()
        mover = (Compiled if way.compiled else Mover)(model, preset, device, False)
        steps, number = work.padded(device, MULTIPLE if device.type == "cuda" else 1), 0
        losses: list[Tensor] = []

        def round_() -> None:
            nonlocal number
            for one in steps:
                number += 1
                losses[:] = [mover(one, preset.schedule.rate(number, preset.model.dim))]

        seconds = by_clock(round_, device, m.repeats, m.warmup)
        if not bool(torch.isfinite(losses[0])):
            raise HeedfulError("the loss is no longer finite, so this shows nothing")
        return _row(way.name, preset, seconds, work, steps, peak, ceiling)

    return measure


def _row(
    name: str,
    preset: Preset,
    seconds: Sequence[float],
    work: Workload,
    steps: Sequence[Step],
    peak: Peak,
    ceiling: float | None,
) -> Row:
    found, needed = rates(work.targets, seconds), work.flops()
    tflops = None if needed is None else rates(needed / 1e12, seconds).value
    more = {
        "precision": preset.training.precision,
        "tflops": tflops,
        "share_of_matmul": tflops / ceiling if tflops and ceiling else None,
        "peak_gb": peak.gigabytes(),
        "reserved_gb": peak.reserved(),
        "padding": 1 - sum(s.tokens for s in steps) / sum(s.slots for s in steps),
        "batches": len(steps),
    }
    return Row.of(name, UNIT, found, more)


def _say(row: Row, tell: Tell) -> None:
    """Tell at once of what went wrong, or how it went."""
    tell(f"{row.name}: {row.note or f'{row.value:,.0f} {row.unit}'}")


def _settings(work: Workload, m: Measuring) -> dict[str, Any]:
    sides = {name: work.shards.lengths[name][work.examples] for name in ("inputs", "targets")}
    batch = m.config.preset.batch
    return {
        "problem": m.config.problem_name,
        "preset": m.config.preset_name,
        "seed": m.config.preset.training.seed,
        "batch": f"{batch.kind}, {batch.tokens:,} slots"
        + (f", rows of {row}" if (row := getattr(batch, "row", 0)) else ""),
        "vocabulary": work.size,
        "dropout": getattr(m.config.preset.model, "dropout", None),
        "sentences": len(work.examples),
        "mean_length": {name: float(lengths.mean()) for name, lengths in sides.items()},
        "longest": {name: int(lengths.max()) for name, lengths in sides.items()},
        "batches": m.batches,
        "repeats": m.repeats,
        "warmup": m.warmup,
    }


def _notes(m: Measuring) -> tuple[str, ...]:
    found = [
        "real target tokens only; batches are on the device beforehand; TFLOP/s by the formula of "
        "the model's definition over real tokens, forward and backward",
        "peers: bf16 by autocast; fused AdamW; compiled with their loss",
        "padded batches are cut from these sentences alone: of more of them (batches), those of a "
        "batch would be more alike in length, and there would be less padding",
        "ours in bf16 on a CPU: the products of linear layers and of the softmax, and nothing else",
        "on a CPU training has malloc keep what is freed; peers are measured before that is asked "
        f"for, as they are by themselves, and after it ('{HEAP[2:]}')",
    ]
    for rival in m.rivals:
        found.append(f"{rival.title} differs in: {'; '.join(DIFFERENCES[rival.name])}")
    return tuple(found)
