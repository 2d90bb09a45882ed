"""Beginning from another run: the same weights, and vectors for pieces that were not there."""

from pathlib import Path

import pytest
import torch

from heedful.config import vary
from heedful.errors import UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.transformer import tiny
from heedful.problems.base import Problem
from heedful.problems.own_files import OwnFiles
from heedful.registry import presets, problems
from heedful.runs.config import RunConfig
from heedful.runs.initial import begin_from, rows
from heedful.runs.loading import load_model
from heedful.text.extension import extend
from heedful.text.subwords import Subwords
from heedful.text.vocabulary import Vocabulary
from heedful.training.trainer import train
from heedful.training.watchers import Watchers

SMALL = {
    "model.dim": 16, "model.ff": 16, "model.heads": 2, "model.layers": 1, "batch": "bucketed",
    "batch.tokens": 256, "training.steps": 2, "training.evaluate_every": 0, "decode.beam": 1,
    "training.evaluate_examples": 1, "training.log_every": 1,
}  # fmt: skip
GERMAN = [f"{n} Boxkämpfer jagen Viktor {m}" for n in "abcde" for m in "xyz"]
TEXT = [f"the {a} {b} sees the {c}" for a in ("red", "old") for b in ("cat", "dog") for c in "xyz"]


def own_files(folder: Path, lines: list[str], text) -> OwnFiles:
    folder.mkdir(exist_ok=True)
    (folder / "a.en").write_text("\n".join(lines * 5) + "\n")
    (folder / "a.fr").write_text("\n".join(line[::-1] for line in lines * 5) + "\n")
    problem = problems.get("own_files")()
    sides = {"source": str(folder / "a.en"), "target": str(folder / "a.fr")}
    return vary(vary(problem, sides), {"text": text, "held_out": 0.2})


def trained(out: Path, problem: OwnFiles, changes: dict | None = None) -> list[str]:
    notes: list[str] = []

    class Listener(Watchers):
        def note(self, text: str) -> None:
            notes.append(text)

    config = RunConfig(
        problem_name="own_files",
        problem=problem,
        preset_name="transformer_tiny",
        preset=vary(tiny(), {**SMALL, **(changes or {})}),
    )
    train(config, out, out.parent / "data", device="cpu", watch=lambda *_: Listener())
    return notes


@pytest.fixture
def base(tmp_path: Path) -> Path:
    trained(tmp_path / "base", own_files(tmp_path / "files", TEXT, Subwords(size=300)))
    return tmp_path / "base"


def test_a_run_begins_from_anothers_weights_and_vocabulary(base: Path) -> None:
    text = Vocabulary(path=str(base / "vocab" / "shared.json"))
    problem = own_files(base.parent / "files", TEXT, text)
    still = {"training.init": str(base), "schedule": "constant", "schedule.peak": 0.0}
    notes = trained(base.parent / "tuned", problem, still)
    assert any(note.startswith(f"beginning from {base}") for note in notes)
    before, after = load_model(base).model, load_model(base.parent / "tuned").model
    for (name, one), other in zip(before.named_parameters(), after.parameters(), strict=True):
        assert torch.equal(one, other), name


def test_an_extended_vocabulary_keeps_the_old_vectors(base: Path) -> None:
    text = Vocabulary(path=str(base / "vocab" / "shared.json"), extend=12)
    problem = own_files(base.parent / "other", GERMAN, text)
    still = {"training.init": str(base), "schedule": "constant", "schedule.peak": 0.0}
    notes = trained(base.parent / "tuned", problem, still)
    assert any("12 pieces are new" in note for note in notes)
    before, after = load_model(base), load_model(base.parent / "tuned")
    old, new = before.model.targets.weight, after.model.targets.weight
    assert len(new) == len(old) + 12 and torch.equal(new[: len(old)], old)


def test_a_new_piece_begins_as_the_mean_of_what_it_was_cut_into() -> None:
    before = Subwords(size=280).train(TEXT)
    after = extend(before, ["blackbird"] * 9, 4)
    table = torch.randn(before.size, 3)
    made = rows(table, before, after)
    last = after.size - 1
    cut = before.encode(after.decode([last]))
    assert len(cut) > 1
    torch.testing.assert_close(made[last], table[cut].mean(0))


def test_an_unlike_vocabulary_keeps_the_vectors_of_shared_pieces() -> None:
    before, after = Subwords(size=300).train(TEXT), Subwords(size=280).train(TEXT[::-1] + ["q" * 9])
    table = torch.randn(before.size, 3)
    made = rows(table, before, after)
    (one,), (other,) = before.encode(" the"), after.encode(" the")
    assert torch.equal(made[other], table[one])


def test_another_shape_of_model_is_refused(base: Path) -> None:
    loaded = load_model(base)
    for changes, says in [
        ({"layers": 2}, "not there in it"),
        ({"ff": 32}, r"\[32, 16\] here and \[16, 16\] in it"),
        ({"dim": 32}, "--preset transformer_tiny"),
    ]:
        config = vary(loaded.config.preset.model, changes)
        size = loaded.tokenizers["targets"].size
        model = build(config, {"inputs": size, "targets": size}, True, Smoothing())
        with pytest.raises(UsageError, match=says):
            begin_from(base, model, loaded.tokenizers)


def labels_problem(labels: str, text) -> Problem:
    name = {"en,fr": "demo_language", "no,yes": "demo_translated"}[labels]
    sizes = {"train_examples": 30, "valid_examples": 2, "test_examples": 2}
    return vary(problems.get(name)(), {**sizes, "text": text})


def trained_on(name: str, problem: Problem, preset: str, out: Path, **changes: object) -> list[str]:
    notes: list[str] = []

    class Listener(Watchers):
        def note(self, text: str) -> None:
            notes.append(text)

    small = {"training.steps": 2, "training.evaluate_every": 0, "training.log_every": 1}
    config = RunConfig(
        problem_name=name,
        problem=problem,
        preset_name=preset,
        preset=vary(presets.get(preset)(), {**small, **changes}),
    )
    train(config, out, out.parent / "data", device="cpu", watch=lambda *_: Listener())
    return notes


STILL = {"schedule": "constant", "schedule.peak": 0.0}


def test_a_classifier_takes_over_the_language_model_inside_it(tmp_path: Path) -> None:
    sizes = {"train_examples": 30, "valid_examples": 2, "test_examples": 2}
    text = vary(problems.get("demo_text")(), {**sizes, "text.size": 300})
    trained_on("demo_text", text, "elmo_tiny", tmp_path / "lm")
    taken = Vocabulary(path=str(tmp_path / "lm" / "vocab" / "shared.json"))
    notes = trained_on(
        "demo_language",
        labels_problem("en,fr", taken),
        "elmo_classifier_tiny",
        tmp_path / "run",
        **STILL,
        **{"training.init": str(tmp_path / "lm")},
    )
    assert any("tensors begin anew" in note for note in notes)
    lm, run = load_model(tmp_path / "lm").model, load_model(tmp_path / "run").model
    assert torch.equal(run.inputs.lm.weight, lm.targets.weight)
    inside = run.body.reading.lm.state_dict()
    assert inside and all(torch.equal(inside[k], v) for k, v in lm.body.state_dict().items())
    other = vary(presets.get("elmo_classifier_tiny")().model, {"features.hidden": 48})
    loaded = load_model(tmp_path / "run")
    model = build(other, loaded.tokenizers, False, Smoothing())
    with pytest.raises(UsageError, match=r"reading.lm.* give it the numbers of that run"):
        begin_from(tmp_path / "lm", model, loaded.tokenizers)


def test_a_classifier_with_other_labels_takes_over_all_but_those(tmp_path: Path) -> None:
    first = labels_problem("en,fr", "bytes")
    trained_on("demo_language", first, "text_classifier_tiny", tmp_path / "one")
    again = {**STILL, "training.init": str(tmp_path / "one")}
    notes = trained_on("demo_language", first, "text_classifier_tiny", tmp_path / "same", **again)
    assert not any("begin anew" in note for note in notes)
    second = labels_problem("no,yes", "bytes")
    preset = "text_classifier_tiny"
    notes = trained_on("demo_translated", second, preset, tmp_path / "other", **again)
    assert any("1 of " in note and "begin anew" in note for note in notes)
    runs = [load_model(tmp_path / name).model for name in ("one", "same", "other")]
    one, same, other = (run.state_dict() for run in runs)
    for name, weight in one.items():
        assert torch.equal(same[name], weight)
        labels = name in ("targets.weight", "head.embedding.weight")
        assert torch.equal(other[name], weight) != labels, name


def test_an_encoder_becomes_a_classifier(tmp_path: Path) -> None:
    text = vary(problems.get("demo_text")(), {"train_examples": 30, "text.size": 300})
    tiny = {"model.dim": 16, "model.ff": 16, "model.heads": 2, "model.layers": 1}
    trained_on("demo_text", text, "transformer_lm_tiny", tmp_path / "lm", **tiny)
    taken = Vocabulary(path=str(tmp_path / "lm" / "vocab" / "shared.json"))
    problem = labels_problem("en,fr", taken)
    init = {"training.init": str(tmp_path / "lm"), **STILL, **tiny}
    trained_on("demo_language", problem, "transformer_classifier_tiny", tmp_path / "run", **init)
    lm, run = load_model(tmp_path / "lm").model, load_model(tmp_path / "run").model
    there = lm.body.decoder.state_dict()
    assert all(torch.equal(there[k], v) for k, v in run.body.encoder.state_dict().items())
    assert torch.equal(run.inputs.weight, lm.targets.weight)
