"""Several presets on one problem: same data, same budget, same seeds; resumable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful.claims import circumstances
from heedful.claims.arms import Arm, Budget, Small, Trainings
from heedful.claims.base import Context, Measured, Number
from heedful.claims.readings import LIKELIHOOD, Reading
from heedful.compare.spending import Spending
from heedful.data.preparation import prepare
from heedful.decoding.translator import Translator
from heedful.distributed.processes import pick_device
from heedful.errors import UsageError
from heedful.problems.base import TEST
from heedful.registry import presets, problems
from heedful.runs.config import RunConfig
from heedful.runs.loading import load_model

SAMPLES = 8  # sources whose outputs are shown side by side


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What is compared with what, on what, for how much."""

    problem: str
    presets: tuple[str, ...]
    seeds: tuple[int, ...] = (1,)
    budget: Spending = Spending("steps", 1_000)
    split: str = TEST
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the problem and of every preset

    def __post_init__(self) -> None:
        if len(set(self.presets)) < len(self.presets) or not self.presets:
            raise UsageError("name presets to compare, each once: --presets a,b")
        if not self.seeds:
            raise UsageError("name at least one seed: --seeds 1,2,3")


def compare(contest: Contest, context: Context) -> dict[str, Any]:
    """Train what is not trained yet, measure all of it, and give the whole report as plain values.

    Runs are in `context.runs`, one folder a preset and seed; asked again, what is done is used.
    """
    for name in contest.presets:
        presets.get(name)  # a wrong name is said before hours are spent
    problem = problems.get(contest.problem)()
    metrics = (*problem.metrics, *LIKELIHOOD)
    place = pick_device(context.device)
    measured: dict[str, Measured] = {}
    rows = []
    for name in contest.presets:
        reading = Reading(metrics=metrics, split=contest.split)
        arm = Arm(
            name=name,
            problem=contest.problem,
            preset=name,
            settings=contest.settings,
            readings=(reading,),
        )
        trainings = Trainings(
            arms=(arm,),
            budget=contest.budget.buys(
                _config(arm, contest), context.data, place, context.progress
            ),
            seeds=contest.seeds,
            small=Small(settings={}),
        )
        measured[name] = trainings(context)
        config = trainings.config(arm, contest.seeds[0], smoke=False)
        rows.append(_row(name, measured[name], config.preset.training.steps, context))
    return {
        "problem": contest.problem,
        "split": contest.split,
        "budget": str(contest.budget),
        "seeds": list(contest.seeds),
        "settings": {name: str(value) for name, value in contest.settings.items()},
        "best_by": problem.best_by,
        "rows": rows,
        "curves": {name: dict(found.curve) for name, found in measured.items()},
        "samples": _samples(contest, context),
        "commit": circumstances.commit(),
        "hardware": circumstances.hardware(place),
        "versions": circumstances.versions(),
    }


def _config(arm: Arm, contest: Contest) -> RunConfig:
    """The arm's config as its preset has it, before the budget says how long."""
    one = Trainings(arms=(arm,), budget=Budget(steps=1), small=Small(settings={}))
    return one.config(arm, contest.seeds[0], smoke=False)


def _row(name: str, measured: Measured, steps: int, context: Context) -> dict[str, Any]:
    numbers: dict[str, Number] = {
        number.removeprefix(f"{name}/"): value for number, value in measured.numbers.items()
    }
    seed = next(iter(numbers["seconds"].by_seed))
    model = load_model(context.runs / f"{name}-seed{seed}").model
    return {
        "preset": name,
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": steps,
        "metrics": {number: value.to_json() for number, value in numbers.items()},
        "notes": list(measured.notes),
    }


def _samples(contest: Contest, context: Context) -> list[dict[str, Any]]:
    """The first sources of the split, their references, and what each preset makes of them."""
    place = pick_device(context.device)
    outputs: dict[str, Sequence[str]] = {}
    texts: list[dict[str, str]] = []
    for name in contest.presets:
        run = Path(context.runs / f"{name}-seed{contest.seeds[0]}")
        loaded = load_model(run, device=place)
        if not texts:
            config = loaded.config
            shards = prepare(config.problem_name, config.problem, context.data).split(contest.split)
            texts = [shards.raw(i) for i in range(min(SAMPLES, len(shards)))]
        if "inputs" not in loaded.tokenizers:
            return []
        decode = loaded.config.preset.decode
        translator = Translator(loaded.model, loaded.tokenizers, decode, place)
        found = translator.decode([text["inputs"] for text in texts])
        outputs[name] = [line.error or line.text for line in found]
    return [
        {
            "source": text["inputs"],
            "reference": text["targets"],
            "outputs": {name: lines[place] for name, lines in outputs.items()},
        }
        for place, text in enumerate(texts)
    ]
