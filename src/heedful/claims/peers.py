"""Peer arms: another toolkit beside ours, on the same pairs, for the same seconds."""

import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from heedful.claims.arms import NOWHERE, Arm, Trainings, joined, read_origin
from heedful.claims.base import Context, Measured, Number, Point
from heedful.claims.logs import thinned, training_seconds
from heedful.claims.readings import Reading
from heedful.config import difference, vary
from heedful.data.preparation import Prepared, prepare
from heedful.distributed.processes import pick_device
from heedful.errors import HeedfulError, UsageError
from heedful.metrics.base import Score, score
from heedful.peers import marian
from heedful.peers.decoding import decode
from heedful.peers.training import Lesson, fill, snapshot, train
from heedful.runs import durable
from heedful.runs.config import RunConfig
from heedful.training.step import mixed


@dataclass(frozen=True, kw_only=True)
class PeerArm:
    """Hugging Face's Marian beside an arm of ours: its problem, shape, seeds, seconds, readings."""

    name: str
    beside: str  # the arm of ours
    settings: Mapping[str, Any] = field(default_factory=dict)  # where other numbers suit it better


@dataclass(frozen=True, kw_only=True)
class WithPeers:
    """Measures a claim by training our arms, and a peer beside some of them.

    A peer trains for as many seconds as ours did with that seed, by the same clock: steps and the
    waiting for batches. It gives the numbers that ours does, `seconds` being those it trained for,
    and `seconds_allowed`, those that ours did. What came of it is in `PEER-seedN.json` beside the
    runs, its weights in `PEER-seedN.safetensors`; where they are, they are used.
    """

    ours: Trainings
    peers: tuple[PeerArm, ...]

    def arm_names(self) -> tuple[str, ...]:
        return (*self.ours.arm_names(), *(peer.name for peer in self.peers))

    def __call__(self, context: Context) -> Measured:
        wanted = [peer for peer in self.peers if context.wants(peer.name)]
        if wanted:
            marian.library()  # that it is not there is said before hours are spent
        for peer in wanted:
            _check(self.config(peer, 1, context.smoke))
        measured = self.ours(context)
        made = [
            (peer, seed, self.train(peer, seed, context))
            for peer in wanted
            for seed in self.ours.seeds_of(context, self.arm(peer))
        ]
        numbers: dict[str, dict[int, float]] = {}
        signatures: dict[str, str] = {}
        began = time.monotonic()
        for peer, seed, outcome in made:
            found = self.read(peer, outcome, context)
            for name, value in [*outcome.numbers(), *((n, s["value"]) for n, s in found.items())]:
                numbers.setdefault(f"{peer.name}/{name}", {})[seed] = value
            signatures |= {f"{peer.name}/{n}": s.get("signature", "") for n, s in found.items()}
        outcomes = [outcome for _, _, outcome in made]
        return replace(
            measured,
            numbers={
                **measured.numbers,
                **{name: Number(v, signatures.get(name, "")) for name, v in numbers.items()},
            },
            curve={**measured.curve, **{o.path.name: thinned(o.points()) for o in outcomes}},
            seconds=measured.seconds
            + math.fsum(outcome.lesson.seconds for outcome in outcomes)
            + time.monotonic()
            - began,
            notes=(*measured.notes, *_notes(wanted, outcomes)),
            commits=_all(measured.commits, outcomes, "commits"),
            hardware=_all(measured.hardware, outcomes, "hardware"),
        )

    def arm(self, peer: PeerArm) -> Arm:
        """The arm of ours that a peer stands beside."""
        for arm in self.ours.arms:
            if arm.name == peer.beside:
                return arm
        names = ", ".join(self.ours.arm_names())
        raise UsageError(f"{peer.name} stands beside '{peer.beside}', which is no arm: {names}")

    def config(self, peer: PeerArm, seed: int, smoke: bool) -> RunConfig:
        """What a peer trains with a seed: what ours does, but for its own settings."""
        config = self.ours.config(self.arm(peer), seed, smoke)
        return replace(config, preset=vary(config.preset, peer.settings))

    def train(self, peer: PeerArm, seed: int, context: Context) -> "Outcome":
        """What came of a peer with a seed: what is there, or trained now, after ours."""
        ours = self.ours.train(self.arm(peer), seed, replace(context, fresh=False))
        seconds = training_seconds(ours.path)
        config = self.config(peer, seed, context.smoke)
        path = context.runs / f"{peer.name}-seed{seed}"
        said = _said(config, seconds)
        if not context.fresh and (there := Outcome.read(path)) is not None:
            if changed := difference(there.config, said):
                raise UsageError(
                    f"{path}.json is of another config: {'; '.join(changed)}. "
                    f"Train it anew: --only {peer.name} --fresh"
                )
            context.note(f"{path.name} is trained already and is used")
            return there
        context.note(f"training {path.name}: Marian for {seconds:.0f} seconds, as long as ours")
        place = pick_device(context.device)
        prepared = _prepared(config, context)
        model = _model(config, prepared)
        lesson = train(model, config.preset, prepared, seconds, place, context.note)
        origin = joined(NOWHERE, context.device)
        made = Outcome(path, said, lesson, marian.version(), origin["commits"], origin["hardware"])
        made.keep(model)
        return made

    def read(self, peer: PeerArm, outcome: "Outcome", context: Context) -> dict[str, Score]:
        """The scores of our arm's readings, by their numbers' names; each is made once."""
        config = self.config(peer, outcome.seed, context.smoke)
        examples = self.ours.small.examples if context.smoke else 0
        found: dict[str, Score] = {}
        for reading in self.arm(peer).readings:
            key = json.dumps([reading.split, *reading.metrics, dict(reading.decode), examples])
            if key not in outcome.scores:
                context.note(f"{outcome.path.name}: decoding {reading.name or reading.split}")
                outcome.scores[key] = _read(reading, outcome, config, context, examples)
                outcome.write()
            found |= {reading.numbers()[m]: s for m, s in outcome.scores[key].items()}
        return found


@dataclass(frozen=True)
class Outcome:
    """What came of a peer with one seed, and under which circumstances."""

    path: Path  # without an ending
    config: dict[str, Any]  # what it was trained by
    lesson: Lesson
    library: str
    commits: list[str]
    hardware: list[str]
    scores: dict[str, dict[str, Score]] = field(default_factory=dict)  # by reading, by metric

    @classmethod
    def read(cls, path: Path) -> "Outcome | None":
        """The one that is there, if one is."""
        if not (data := read_origin(path)).get("lesson"):
            return None
        lesson = Lesson(**data["lesson"])
        kept = (data[k] for k in ("library", "commits", "hardware", "scores"))
        return cls(path, data["config"], lesson, *kept)

    @property
    def seed(self) -> int:
        return int(self.config["settings"]["training"]["seed"])

    @property
    def weights(self) -> Path:
        return self.path.with_name(f"{self.path.name}.safetensors")

    def write(self) -> None:
        content = {k: v for k, v in asdict(self).items() if k != "path"}
        file = self.path.with_name(f"{self.path.name}.json")
        durable.write_file(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def keep(self, model: nn.Module) -> None:
        """Write the weights, then the outcome: where this is, those are."""
        beside = self.weights.with_name(f"{durable.TEMPORARY}{self.weights.name}")
        save_file(snapshot(model), beside)
        os.replace(beside, self.weights)
        self.write()

    def numbers(self) -> Iterator[tuple[str, float]]:
        yield "seconds", self.lesson.seconds
        yield "seconds_allowed", float(self.config["seconds"])
        yield "tokens_per_second", self.lesson.speed()

    def points(self) -> list[Point]:
        return list(self.lesson.points)


def _said(config: RunConfig, seconds: float) -> dict[str, Any]:
    """What an outcome depends on, as JSON gives it back."""
    said = {k: v for k, v in config.to_json().items() if k != "heedful"}
    return dict(json.loads(json.dumps({**said, "seconds": seconds})))


def _prepared(config: RunConfig, context: Context) -> Prepared:
    return prepare(config.problem_name, config.problem, context.data, context.progress)


def _check(config: RunConfig) -> None:
    """Raise where Marian cannot do what ours does: another shape, sides of two vocabularies."""
    marian.fitting(config.preset.model)
    names = {feature.vocabulary for feature in config.problem.features.values()}
    if set(config.problem.features) != {"inputs", "targets"} or len(names) > 1:
        raise UsageError(
            f"Marian needs inputs and targets of one vocabulary, and {config.problem_name} has: "
            f"{', '.join(config.problem.features)} of {', '.join(sorted(names))}"
        )


def _model(config: RunConfig, prepared: Prepared) -> nn.Module:
    """A new Marian for the vocabulary, which both sides share."""
    torch.manual_seed(mixed(config.preset.training.seed, 0, 0))  # its first weights
    return marian.build(config.preset.model, prepared.tokenizer("targets").size)


def _read(
    reading: Reading, outcome: Outcome, config: RunConfig, context: Context, examples: int
) -> dict[str, Score]:
    prepared = _prepared(config, context)
    model = _model(config, prepared)
    try:
        fill(model, load_file(outcome.weights))
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise HeedfulError(
            f"{outcome.weights} cannot be used ({error}). Train it anew with --fresh"
        ) from error
    shards = prepared.split(reading.split)
    texts = [shards.raw(i) for i in range(min(examples or len(shards), len(shards)))]
    sources = [text["inputs"] for text in texts]
    tokenizers = {name: prepared.tokenizer(name) for name in prepared.features}
    settings = vary(config.preset.decode, reading.decode)
    outputs = decode(model, tokenizers, sources, settings, pick_device(context.device))
    return score(outputs, [text["targets"] for text in texts], reading.metrics, sources)


def _notes(peers: list[PeerArm], outcomes: list[Outcome]) -> Iterator[str]:
    if not outcomes:
        return
    libraries = ", ".join(dict.fromkeys(outcome.library for outcome in outcomes))
    yield (
        f"peers are Hugging Face's Marian ({libraries}), each trained for as many seconds as ours "
        "with that seed. Counted on both sides: steps and the waiting for batches; not counted: "
        f"preparing, evaluating, saving. They differ in: {'; '.join(marian.DIFFERENCES)}"
    )
    for peer in peers:
        if peer.settings:
            own = ", ".join(f"{name}={value}" for name, value in peer.settings.items())
            yield f"{peer.name} has settings of its own: {own}"


def _all(before: tuple[str, ...], outcomes: list[Outcome], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*before, *(said for o in outcomes for said in getattr(o, name))]))
