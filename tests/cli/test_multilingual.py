"""`--to`: one model for several languages, from the command line."""

import io
import json
import shutil
from pathlib import Path

import pytest

import heedful as package
from heedful.cli.main import run as run_command
from heedful.errors import UsageError

from .conftest import PRESET, PROBLEM
from .test_own_files import ENGLISH, TINY

NUMBERS = ["--preset", PRESET, *TINY]


def pair(folder: Path, name: str, tag: str, lines: list[str]) -> list[str]:
    (folder / f"{name}.en").write_text("\n".join(ENGLISH[: len(lines)]) + "\n")
    (folder / f"{name}.{tag}").write_text("\n".join(lines) + "\n")
    files = ["--source", str(folder / f"{name}.en"), "--target", str(folder / f"{name}.{tag}")]
    return [*files, "--to", tag]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Path:
    """A run into upper case and backwards, of which tests read and change nothing."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "b.tsv").write_text("".join(f"{line}\t{line[::-1]}\n" for line in ENGLISH[:60]))
    files = [*pair(folder, "a", "upper", [line.upper() for line in ENGLISH])]
    files += ["--pairs", str(folder / "b.tsv"), "--to", "back"]
    numbers = [*NUMBERS, "--set", "batch.temperature=5", "--steps", "4"]
    assert run_command(["train", *files, "--out", str(folder / "run"), *numbers]) == 0
    return folder / "run"


def test_a_run_knows_its_languages(many: Path) -> None:
    config = json.loads((many / "config.json").read_text())
    assert config["problem"]["name"] == "multilingual_files"
    assert config["problem"]["fields"]["to"] == ["upper", "back"]
    assert config["settings"]["batch"]["temperature"] == 5.0
    assert json.loads((many / "vocab" / "shared.json").read_text())["tags"] == ["upper", "back"]


def test_decoding_puts_the_tag_on(heedful, many: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("red old\n\nnew\n")
    found = [heedful("decode", many, "-i", tmp_path / "in", "--to", to) for to in ("upper", "back")]
    assert all(answer.status == 0 and len(answer.lines) == 3 for answer in found)
    model = package.load(many, device="cpu")
    for answer, to in zip(found, ("upper", "back"), strict=True):
        assert answer.lines == model.translate(["red old", "", "new"], to=to)
    scores = [model.decode(["red old"], to=to)[0].score for to in ("upper", "back")]
    assert scores[0] != scores[1]


def test_decoding_without_a_language_lists_them(heedful, many: Path, tiny_run: Path) -> None:
    answer = heedful("decode", many, "-i", many / "config.json")
    assert answer.status == 2 and "(--to …). It can be: upper, back" in answer.err
    answer = heedful("decode", many, "-i", many / "config.json", "--to", "uper")
    assert answer.status == 2 and "no tag for the language 'uper'. Close: upper." in answer.err
    answer = heedful("decode", tiny_run, "-i", many / "config.json", "--to", "back")
    assert answer.status == 2 and "trained without tags of languages" in answer.err
    with pytest.raises(UsageError, match="It can be: upper, back"):
        package.load(many, device="cpu").translate(["red"])


def test_talking_to_it(heedful, many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = package.load(many, device="cpu").translate(["red old"], to="back")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"red old\n")))
    answer = heedful("decode", many, "--interactive", "--to", "back")
    assert answer.status == 0 and answer.lines == expected
    answer = heedful("decode", many, "--interactive")
    assert answer.status == 2 and "It can be: upper, back" in answer.err


@pytest.mark.parametrize("split", ["test", "test_upper", "test_back", "valid_back", "train"])
def test_every_split_is_scored(heedful, many: Path, split: str) -> None:
    report = heedful("evaluate", many, "--split", split, "--json", "--examples", "6").json()
    assert report["split"] == split and report["examples"] > 0
    assert {"loss", "bleu", "chrf"} <= set(report["metrics"])
    assert "undecoded" not in report["metrics"]


def test_the_overall_loss_is_that_of_all_members(heedful, many: Path) -> None:
    reports = {
        split: heedful("evaluate", many, "--split", split, "--json").json()
        for split in ("test", "test_upper", "test_back")
    }
    counts = {split: report["examples"] for split, report in reports.items()}
    assert counts["test"] == counts["test_upper"] + counts["test_back"]
    loss = {split: report["metrics"]["loss"]["value"] for split, report in reports.items()}
    assert min(loss["test_upper"], loss["test_back"]) < loss["test"]
    assert loss["test"] < max(loss["test_upper"], loss["test_back"])


def test_a_run_is_gone_on_with(heedful, many: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(many, copy)
    answer = heedful("train", "--out", copy, "--resume", "--steps", "5")
    assert answer.status == 0 and "trained to step 5" in answer.out
    answer = heedful("train", "--out", copy, "--resume", "--set", "batch.temperature=2")
    assert answer.status == 2 and "batch.temperature: 5.0 → 2.0" in answer.err


def test_fine_tuning_keeps_the_tags(heedful, many: Path, tmp_path: Path) -> None:
    plain = ["--source", many.parent / "a.en", "--target", many.parent / "a.upper"]
    begin = ["--init", many, "--steps", "2", "--set", "problem.held_out=0.1"]
    natural = [*begin, "--set", "batch.temperature=1"]
    answer = heedful("train", *plain, "--to", "upper", *natural, "--out", tmp_path / "tuned")
    assert answer.status == 0, answer.err
    assert f"beginning from {many}" in answer.err and "new" not in answer.err
    before, after = (folder / "vocab" / "shared.json" for folder in (many, tmp_path / "tuned"))
    assert before.read_bytes() == after.read_bytes()
    assert heedful("decode", tmp_path / "tuned", "-i", before, "--to", "back").status == 0
    answer = heedful("train", *plain, *natural, "--out", tmp_path / "x")
    assert answer.status == 2 and "(upper, back), and 'own_files' uses none" in answer.err


def test_fine_tuning_may_bring_a_language(heedful, many: Path, tmp_path: Path) -> None:
    plain = ["--source", many.parent / "a.en", "--target", many.parent / "a.upper"]
    begin = ["--init", many, "--steps", "2", "--set", "problem.held_out=0.1"]
    natural = [*begin, "--set", "batch.temperature=1"]
    answer = heedful("train", *plain, "--to", "lower", *natural, "--out", tmp_path / "y")
    assert answer.status == 0 and "1 pieces are new" in answer.err, answer.err
    assert (
        heedful("decode", tmp_path / "y", "-i", many.parent / "a.en", "--to", "lower").status == 0
    )


def test_other_commands_know_it_too(heedful, many: Path, tmp_path: Path) -> None:
    shown = heedful("show", "multilingual", "--json", "--set", "problem.members=multi30k_en_cs")
    assert shown.json()["splits"] == dict.fromkeys(
        ["train", "valid", "test", "valid_cs", "test_cs"]
    )
    fields = json.loads((many / "config.json").read_text())["problem"]["fields"]
    files = [
        part
        for name in ("source", "target", "pairs", "to")
        for part in ("--set", f"problem.{name}={','.join(fields[name])}")
    ]
    files += ["--set", "problem.text=characters", "--set", "problem.held_out=0.1"]
    prepared = heedful("prepare", "multilingual_files", *files, "--json").json()
    assert prepared["splits"]["train"]["members"].keys() == {"upper", "back"}
    answer = heedful(
        *("compare", "multilingual_files", "--presets", PRESET, "--budget", "steps:2", "--json"),
        *("--out", tmp_path / "compared", *files, *NUMBERS[2:]),
    )
    assert answer.status == 0, answer.err


def test_the_doctor_looks_at_every_split(heedful, many: Path) -> None:
    files = ["--source", many.parent / "a.en", "--target", many.parent / "a.upper", "--to", "upper"]
    files += ["--pairs", many.parent / "b.tsv", "--to", "back"]
    answer = heedful("doctor", *files, *NUMBERS, "--set", "batch.temperature=5", "--json")
    assert answer.status == 0, answer.err
    report = answer.json()
    found = {finding["name"]: finding for finding in report["findings"]}
    assert found["decode"]["level"] == "ok" and found["several_targets"]["level"] == "ok"
    assert {"overlap_train_test_upper", "overlap_train_test_back"} <= set(found)
    assert not any(name.startswith(("overlap_valid_valid_", "swapped")) for name in found)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--to", "de"], "--to says into which language your own files go"),
        ([PROBLEM, "--preset", PRESET, "--to", "de"], "--to says into which language your own"),
        (
            ["FILES", "--to", "de", "--to", "fr"],
            "pairs of files to learn from: 1; languages (--to): 2",
        ),
        (["FILES", "--to", "<2de>"], "'<2de>' cannot be the tag of a language"),
        ([PROBLEM, "FILES", "--to", "de"], f"so '{PROBLEM}' cannot be"),
        (["FILES", "--to", "de", "--interactive"], "cannot know which of de to write"),
        (["FILES", "--set", "batch.temperature=3"], "batch.temperature=3 is for the members"),
        (["multilingual", "--preset", PRESET], "multilingual needs members"),
    ],
)
def test_what_does_not_fit_is_said(heedful, many: Path, tmp_path, arguments, says) -> None:
    files = ["--source", many.parent / "a.en", "--target", many.parent / "a.upper", *NUMBERS]
    given = [part for one in arguments for part in (files if one == "FILES" else [one])]
    answer = heedful("train", *given, "--out", tmp_path / "run", "--steps", "2")
    assert answer.status == 2 and says in answer.err, answer.err
