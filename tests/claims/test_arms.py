"""Arms: trained under one budget, used again when they are done, gone on with when they are not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.claims import arms as room
from heedful.claims.arms import Arm, Budget
from heedful.claims.base import Context, Measured, Number, Numbers
from heedful.claims.logs import POINTS, points, speed
from heedful.claims.readings import Reading
from heedful.claims.several import Several, together
from heedful.errors import HeedfulError, UsageError
from heedful.registry import presets
from heedful.runs import durable
from heedful.runs.folder import RunFolder
from heedful.training.guard import NonFinite
from heedful.training.signals import Interrupted

from .conftest import arm, quick


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that are trained, as they are."""
    names = []

    def counted(config, out, *arguments, **options):
        names.append(out.name)
        return train(config, out, *arguments, **options)

    train = room.train
    monkeypatch.setattr(room, "train", counted)
    return names


def test_a_finished_arm_is_used_again(context: Context, trained: list[str]) -> None:
    first = quick()(context)
    assert trained == ["ours-seed1", "ours-seed2", "theirs-seed1", "theirs-seed2"]
    again = quick()(context)
    assert len(trained) == 4
    assert again.numbers["ours/exact_match"] == first.numbers["ours/exact_match"]
    assert again.numbers["ours/seconds"] == first.numbers["ours/seconds"]
    assert again.curve == first.curve and again.commits == first.commits


def test_what_the_same_code_has_read_is_not_read_again(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = []

    def counted(*arguments):
        readings.append(arguments)
        return read(*arguments)

    read = room.read
    monkeypatch.setattr(room, "read", counted)
    ours = quick(arm("ours"), seeds=(1,))
    for commit, count in [("a" * 12, 1), ("a" * 12, 1), ("b" * 12, 2), ("b" * 12 + "+changes", 3)]:
        monkeypatch.setattr(room.circumstances, "commit", lambda said=commit: said)
        measured = ours(context)
        assert len(readings) == count and "ours/exact_match" in measured.numbers
    assert ours(context).numbers == measured.numbers and len(readings) == 4
    ours(replace(context, fresh=True))
    assert "+changes" in json.loads((context.runs / "ours-seed1.json").read_text())["commits"][0]
    monkeypatch.setattr(room.circumstances, "commit", lambda: "a" * 12)
    ours(context)
    assert len(readings) == 6  # what was read of the run before it was trained anew is gone


def test_runs_are_looked_at_and_arms_compared(context: Context) -> None:
    looked = []

    def look(arm: Arm, seed: int, context: Context) -> dict[str, float]:
        looked.append(context.run_of(arm.name, seed))
        return {"steps": len(arm.name) * seed}

    def compare(numbers: Numbers) -> Numbers:
        both = [numbers[f"{name}/steps"].by_seed for name in ("ours", "theirs")]
        return {
            "ours/longer": Number({seed: value - both[1][seed] for seed, value in both[0].items()})
        }

    measured = replace(quick(), look=look, compare=compare)(context)
    assert sorted(looked) == sorted(path for path in context.runs.iterdir() if path.is_dir())
    assert measured.numbers["theirs/steps"].by_seed == {1: 6.0, 2: 12.0}
    assert measured.numbers["ours/longer"].by_seed == {1: -2.0, 2: -4.0}


def test_seeds_add_runs_and_leave_the_others(context: Context, trained: list[str]) -> None:
    only = quick(arm("ours"), seeds=(1,))
    assert only(context).seeds == (1,)
    measured = only(replace(context, seeds=(1, 3)))
    assert trained == ["ours-seed1", "ours-seed3"] and measured.seeds == (1, 3)
    assert set(measured.numbers["ours/exact_match"].by_seed) == {1, 3}


def test_an_arm_may_do_with_fewer_seeds(context: Context, trained: list[str]) -> None:
    few = quick(arm("ours"), replace(arm("theirs"), seeds=(2,)), seeds=(1, 2))
    assert set(few(context).numbers["theirs/exact_match"].by_seed) == {2}
    assert trained == ["ours-seed1", "ours-seed2", "theirs-seed2"]
    few(replace(context, seeds=(1,), only=("theirs",)))
    assert trained[3:] == ["theirs-seed1"]


def test_several_trainings_are_one_measurement_in_arms(
    context: Context, trained: list[str]
) -> None:
    one, other = quick(arm("ours"), seeds=(1, 2)), quick(arm("theirs"), seeds=(3,))
    both = Several(parts=(one, other))
    assert both.arm_names() == ("ours", "theirs")
    part = both(replace(context, only=("theirs",)))
    assert trained == ["theirs-seed3"] and not any("ours" in name for name in part.numbers)
    measured = both(context)
    assert trained[1:] == ["ours-seed1", "ours-seed2"] and measured.seeds == (1, 2, 3)
    assert {"ours/exact_match", "theirs/exact_match"} <= measured.numbers.keys()
    halves = [Measured(numbers={}, seconds=1.5, notes=("by hand",)) for _ in range(2)]
    assert together(halves).seconds == 3.0 and together(halves).notes == ("by hand",)


def test_runs_that_were_trained_side_by_side_are_said(context: Context) -> None:
    assert not any("side by side" in note for note in quick()(context).notes)
    file = context.runs / "theirs-seed1.json"
    origin = json.loads(file.read_text())
    ours = json.loads((context.runs / "ours-seed1.json").read_text())
    file.write_text(json.dumps(origin | {"spans": ours["spans"]}))
    assert any("side by side" in note for note in quick()(context).notes)


def test_every_arm_gets_the_same_budget() -> None:
    trainings = quick(steps=7)
    for each in trainings.arms:
        preset = trainings.config(each, 5, smoke=False).preset
        assert preset.training.steps == 7 and preset.training.seed == 5
        assert preset.schedule.steps == 7


def test_a_budget_of_tokens_is_as_many_steps_as_make_them() -> None:
    preset = presets.get("transformer_algorithmic_tiny")()
    assert Budget(tokens=10 * preset.batch.tokens).spent_on(preset).training.steps == 10
    noam = presets.get("transformer_tiny")()
    assert Budget(steps=3).spent_on(noam).training.steps == 3
    with pytest.raises(UsageError, match="either steps or tokens"):
        Budget(steps=1, tokens=1)
    with pytest.raises(UsageError, match="either steps or tokens"):
        Budget()


def test_a_run_of_another_config_is_not_taken_for_this_one(context: Context) -> None:
    quick(arm("ours"), seeds=(1,))(context)
    with pytest.raises(UsageError, match=r"another config: .*training.steps: 4 → 5.*--fresh"):
        quick(arm("ours"), steps=5, seeds=(1,))(context)
    other = quick(arm("ours", **{"model.layers": 2}), seeds=(1,))
    with pytest.raises(UsageError, match=r"model.layers: 1 → 2"):
        other(context)
    other(replace(context, fresh=True))
    config = RunFolder.open(context.runs / "ours-seed1").config()
    assert config.preset.model.layers == 2


def test_an_arm_that_was_cut_short_goes_on(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = quick(arm("ours", **{"training.checkpoint_every": 1}), seeds=(1,))
    from heedful.training.trainer import Trainer

    advance = Trainer.advance

    def halfway(self, batch):
        if self.state.step == 2:
            raise Interrupted("asked to stop")
        advance(self, batch)

    monkeypatch.setattr(Trainer, "advance", halfway)
    with pytest.raises(Interrupted):
        whole(context)
    monkeypatch.setattr(Trainer, "advance", advance)
    monkeypatch.setattr(room.circumstances, "commit", lambda: "another")
    before = json.loads((context.runs / "ours-seed1.json").read_text())
    measured = whole(context)
    assert RunFolder.open(context.runs / "ours-seed1").checkpoints.newest(print).step == 4
    assert measured.seconds > before["seconds"] > 0
    assert measured.commits == (*before["commits"], "another")


def test_a_run_that_is_no_longer_finite_is_measured_where_it_was(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = room.train

    def bursting(config, out: Path, *arguments, **options):
        train(config, out, *arguments, **options)
        durable.delete_folder(out / "checkpoints" / "average")
        raise NonFinite("the loss is nan", 5, [1])

    monkeypatch.setattr(room, "train", bursting)
    averaged = replace(
        arm("ours", **{"training.average": 2, "training.checkpoint_every": 2}),
        readings=(Reading(metrics=("exact_match",), checkpoint="average"),),
    )
    measured = quick(averaged, seeds=(1,))(context)
    assert measured.notes == ("ours-seed1 stopped: the loss is nan",)
    assert "ours/exact_match" in measured.numbers


def test_one_that_never_was_finite_is_an_error(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bursting(config, out: Path, *arguments, **options):
        out.mkdir(parents=True)
        RunFolder(out).write_config(config)
        raise NonFinite("the loss is nan", 1, [1])

    monkeypatch.setattr(room, "train", bursting)
    with pytest.raises(NonFinite):
        quick(arm("ours"), seeds=(1,))(context)


def test_the_time_of_a_run_that_was_thrown_away_is_not_counted(context: Context) -> None:
    once = quick(arm("ours"), seeds=(1,))
    once(context)
    (context.runs / "ours-seed1.json").write_text('{"seconds": 1e6, "commits": ["old"]}')
    assert once(context).commits == ("old",)
    durable.delete_folder(context.runs / "ours-seed1")
    again = once(context)
    assert again.seconds < 1e6 and "old" not in again.commits


def test_a_torn_origin_is_named(context: Context) -> None:
    quick(arm("ours"), seeds=(1,))(context)
    (context.runs / "ours-seed1.json").write_text("{")
    with pytest.raises(HeedfulError, match=r"ours-seed1\.json cannot be read.*--fresh"):
        quick(arm("ours"), seeds=(1,))(context)


def test_readings_name_their_numbers_and_may_ask_for_any_metric(context: Context) -> None:
    asked = (
        Reading(metrics=("exact_match", "loss"), checkpoint="latest"),
        Reading(name="long", metrics=("token_accuracy", "chrf"), split="test_long"),
        Reading(name="only", metrics=("bleu",)),
    )
    trainings = quick(replace(arm("ours"), readings=asked), seeds=(1,))
    numbers = trainings(context).numbers
    assert set(numbers) == {
        "ours/seconds",
        "ours/tokens_per_second",
        "ours/exact_match",
        "ours/loss",
        "ours/long_token_accuracy",
        "ours/long_chrf",
        "ours/only_bleu",
    }
    assert "nrefs:1" in numbers["ours/only_bleu"].signature


def test_smoke_is_tiny_and_may_stand_in_another_problem(context: Context) -> None:
    trainings = quick()
    config = trainings.config(trainings.arms[0], 1, smoke=True)
    assert config.preset.model.dim == 4 and config.preset.training.steps == 1
    small = replace(trainings.small, problem="algorithmic_sort_problem")
    elsewhere = Arm(
        name="far",
        problem="must_be_downloaded",
        preset="transformer_tiny",
        settings={"problem.nothing_like_this": 1, "model.layers": 1},
    )
    config = replace(trainings, small=small).config(elsewhere, 1, smoke=True)
    assert config.problem_name == "algorithmic_sort_problem" and config.preset.model.layers == 1


def test_a_curve_is_thinned_and_keeps_its_end(tmp_path: Path) -> None:
    train = {"kind": "train", "tokens": 1, "seconds": 1.0, "nll": 2.0}
    lines = [{**train, "step": i, "tokens_per_second": float(i)} for i in range(1, 301)]
    lines.append({"kind": "evaluate", "step": 300, "metrics": {"bleu": {"value": 3.0}}})
    lines.append({"kind": "other", "step": 300})
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    curve = points(tmp_path)
    assert len(curve) <= POINTS
    assert curve[-1] == {"step": 300, "valid_bleu": 3.0}
    assert speed(tmp_path) == 151.0  # the median of 2 … 300
