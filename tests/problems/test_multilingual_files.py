"""Your own files, pair by pair, each into a language of its own."""

import random
from pathlib import Path

import pytest

from heedful.config import from_json, to_json
from heedful.data.preparation import fingerprint, prepare
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.multilingual_files import MultilingualFiles
from heedful.problems.own_files import OwnFiles
from heedful.registry import problems
from heedful.text.bytes import Bytes
from heedful.text.tagged import Tagged

LINES = [f"sentence number {i}" for i in range(300)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, lines in {"a": LINES, "b": LINES[:80], "v": LINES[:3]}.items():
        for side in ("en", "de", "fr"):
            text = "".join(f"{side} {name} {line}\n" for line in lines)
            (tmp_path / f"{name}.{side}").write_text(text)
    (tmp_path / "c.tsv").write_text("".join(f"en c {i}\tcs c {i}\n" for i in range(90)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def many(folder: Path) -> MultilingualFiles:
    return MultilingualFiles(
        source=("a.en", "b.en", "b.fr"),
        target=("a.de", "b.fr", "b.de"),
        pairs=("c.tsv",),
        to=("de", "fr", "de", "cs"),
        text=Bytes(),
        held_out=0.1,
    )


def targets(problem: MultilingualFiles, split: str) -> list[str]:
    return [str(example["targets"]) for example in problem.examples(split, random.Random(1))]


def test_each_pair_goes_into_its_language(many: MultilingualFiles, folder: Path) -> None:
    assert problems.get("multilingual_files") is MultilingualFiles
    assert list(many.parts()) == ["de", "fr", "cs"] == list(many.tags)
    of = {label: member.problem for label, member in many.parts().items()}
    assert of["de"] == OwnFiles(
        source=("a.en", "b.fr"), target=("a.de", "b.de"), text=Bytes(), held_out=0.1
    )
    assert of["cs"] == OwnFiles(pairs=("c.tsv",), text=Bytes(), held_out=0.1)
    for split in (TRAIN, VALID, TEST):
        for example in many.examples(split, random.Random(1)):
            assert str(example["targets"]).startswith(f"{example['member']} ")
    assert from_json(MultilingualFiles, to_json(many)) == many
    assert many.lines() == 300 + 80 + 80 + 90 and many.lines(100) == 100
    many.check()
    MultilingualFiles(**{**vars(many), "fields": ("1", "2")}).check()  # of c.tsv, and no other


def test_lines_are_held_out_of_each_as_if_it_were_alone(many: MultilingualFiles) -> None:
    for label, member in many.parts().items():
        for split in (VALID, TEST):
            alone = [e["targets"] for e in member.problem.examples(split, random.Random(1))]
            assert targets(many, f"{split}_{label}") == alone and alone
    parts = [targets(many, f"{VALID}_{label}") for label in many.parts()]
    assert sorted(targets(many, VALID)) == sorted(sum(parts, []))


def test_files_to_validate_on_are_one_pair_a_language(folder: Path) -> None:
    given = {"source": ("a.en", "b.en", "b.en"), "target": ("a.de", "b.de", "b.fr")}
    problem = MultilingualFiles(
        **given,
        to=("de", "de", "fr"),
        valid_source=("v.en",),
        valid_target=("v.de",),
        valid_pairs=("c.tsv",),
        held_out=0.1,
    )
    assert targets(problem, "valid_de") == [f"de v {line}" for line in LINES[:3]]
    assert targets(problem, "valid_fr") == [f"cs c {i}" for i in range(90)]
    assert "de v" not in " ".join(targets(problem, TRAIN) + targets(problem, TEST))


def test_sides_may_have_vocabularies_of_their_own(many: MultilingualFiles, folder: Path) -> None:
    apart = MultilingualFiles(**{**vars(many), "shared": False})
    features = apart.features
    assert features["inputs"].text == Tagged(Bytes(), ("de", "fr", "cs"))
    assert features["targets"].text == Bytes()
    data = prepare("multilingual_files", apart, folder / "data")
    assert data.info["vocabularies"] == {"source": 262, "target": 259}
    assert data.split(TRAIN).example(1)["inputs"][0] == 260


def test_other_content_is_other_data(many: MultilingualFiles, folder: Path) -> None:
    before = fingerprint("multilingual_files", many)
    (folder / "c.tsv").write_text((folder / "c.tsv").read_text() + "one more\tone more\n")
    assert fingerprint("multilingual_files", many) != before


PAIR = {"source": ("a.en",), "target": ("a.de",)}
TWO = {"source": ("a.en", "b.en"), "target": ("a.de", "b.fr")}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "multilingual_files needs files to learn from"),
        (PAIR, r"to learn from: 1; languages \(--to\): 0"),
        ({**PAIR, "to": ("de", "fr")}, r"to learn from: 1; languages \(--to\): 2"),
        ({**TWO, "to": ("de",)}, r"to learn from: 2; languages \(--to\): 1"),
        ({"source": ("a.en",), "to": ("de",)}, "problem.source names 1 files and .*target 0"),
        (
            {**TWO, "to": ("de", "fr"), "valid_source": ("v.en",), "valid_target": ("v.de",)},
            "pairs of files for valid: 1; languages: 2. Give one pair for each, .* de, fr",
        ),
        ({**PAIR, "to": ("de",), "fields": ("1", "2")}, "--fields chooses columns or keys"),
        ({**PAIR, "to": ("pt-BR",), "target": ("no.pt",)}, "no.pt"),
        ({**TWO, "to": ("pt-BR", "pt_BR")}, "would both have a split 'valid_pt_BR'"),
    ],
)
def test_what_does_not_fit_is_said(
    fields: dict[str, tuple[str, ...]], says: str, folder: Path
) -> None:
    with pytest.raises(HeedfulError, match=says):
        made = MultilingualFiles(**fields)  # type: ignore[arg-type]
        made.check()
        _ = made.sizes


@pytest.mark.parametrize("tag", ["<2de>", "d e", ""])
def test_odd_tags_are_said_at_once(tag: str) -> None:
    with pytest.raises(UsageError, match="cannot be the tag of a language"):
        MultilingualFiles(to=("fr", tag))


def test_a_member_with_nothing_held_out_is_named(folder: Path) -> None:
    (folder / "few.en").write_text("one\ntwo\n")
    (folder / "few.fr").write_text("un\ndeux\n")
    problem = MultilingualFiles(
        source=("a.en", "few.en"), target=("a.de", "few.fr"), to=("de", "fr"), text=Bytes()
    )
    with pytest.raises(HeedfulError, match=r"no pair of few.en, few.fr fell to the valid split"):
        prepare("multilingual_files", problem, folder / "data")
