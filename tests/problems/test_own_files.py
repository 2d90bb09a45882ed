import random
from pathlib import Path

import pytest

from heedful.config import from_json, to_json, vary
from heedful.data.preparation import fingerprint, prepare
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.own_files import OwnFiles, place_of
from heedful.registry import problems
from heedful.text.bytes import Bytes

SENTENCES = [f"sentence number {i}" for i in range(1000)]


@pytest.fixture
def own(tmp_path: Path) -> OwnFiles:
    (tmp_path / "a.en").write_text("\n".join(SENTENCES) + "\n")
    (tmp_path / "a.fr").write_text("".join(f"phrase numéro {i}\n" for i in range(1000)))
    return OwnFiles(source=(str(tmp_path / "a.en"),), target=(str(tmp_path / "a.fr"),))


def sources(problem: OwnFiles, split: str) -> list[str]:
    return [str(example["inputs"]) for example in problem.examples(split, random.Random(1))]


def test_it_is_registered_and_judged_by_bleu() -> None:
    assert problems.get("own_files") is OwnFiles
    assert OwnFiles.best_by == "bleu" and OwnFiles.metrics == ("bleu", "chrf", "exact_match")


def test_pairs_stay_together(own: OwnFiles) -> None:
    for split in (TRAIN, VALID, TEST):
        for example in own.examples(split, random.Random(1)):
            number = str(example["inputs"]).split()[-1]
            assert example["targets"] == f"phrase numéro {number}"


def test_splits_share_out_the_lines_by_their_hash(own: OwnFiles) -> None:
    splits = {split: sources(own, split) for split in (TRAIN, VALID, TEST)}
    assert sorted(sum(splits.values(), [])) == sorted(SENTENCES)
    assert 8 <= len(splits[VALID]) <= 35 and 8 <= len(splits[TEST]) <= 35
    assert all(place_of(line) < 0.02 for line in splits[VALID])
    assert all(place_of(line) >= 0.98 for line in splits[TEST])


def test_the_place_of_a_line_is_the_same_everywhere() -> None:
    assert place_of("sentence number 1") == 0.8710304448153321


def test_a_large_corpus_gives_no_more_than_it_needs(
    own: OwnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.problems.own_files._HELD_OUT_LINES", 5)
    assert all(place_of(line) < 0.005 for line in sources(own, VALID))


def test_files_for_valid_and_test_are_taken_as_they_are(own: OwnFiles, tmp_path: Path) -> None:
    (tmp_path / "v.en").write_text("hello\nhello\n")
    (tmp_path / "v.fr").write_text("salut\nbonjour\n")
    files = {"valid_source": (str(tmp_path / "v.en"),), "valid_target": (str(tmp_path / "v.fr"),)}
    given = vary(own, files)
    assert sources(given, VALID) == ["hello", "hello"]
    assert sorted(sources(given, TRAIN) + sources(given, TEST)) == sorted(SENTENCES)
    both = vary(given, {"test_source": files["valid_source"], "test_target": files["valid_target"]})
    assert sources(both, TRAIN) == SENTENCES
    assert [path.name for path in both.files()] == ["a.en", "a.fr", *["v.en", "v.fr"] * 2]


def test_several_files_follow_each_other(own: OwnFiles) -> None:
    twice = OwnFiles(source=own.source * 2, target=own.target * 2)
    assert len(sources(twice, TRAIN)) == 2 * len(sources(own, TRAIN))


def test_what_the_files_hold_is_part_of_the_fingerprint(own: OwnFiles) -> None:
    before = fingerprint("own_files", own)
    Path(own.target[0]).write_text("autre\n" * 1000)
    assert fingerprint("own_files", own) != before


def test_it_can_be_prepared_with_any_text(own: OwnFiles, tmp_path: Path) -> None:
    prepared = prepare("own_files", vary(own, {"text": "bytes", "shared": "no"}), tmp_path)
    assert prepared.info["vocabularies"].keys() == {"source", "target"}
    assert isinstance(prepared.problem.features["inputs"].text, Bytes)
    assert sum(split["examples"] for split in prepared.info["splits"].values()) == 1000


def test_it_is_the_same_after_json(own: OwnFiles) -> None:
    assert from_json(OwnFiles, to_json(own)) == own


def test_files_that_do_not_match_are_named(own: OwnFiles, tmp_path: Path) -> None:
    Path(own.target[0]).write_text("phrase\n" * 998)
    with pytest.raises(HeedfulError, match=r"line 999 of .*a\.en has no partner in .*a\.fr"):
        prepare("own_files", own, tmp_path)


def test_too_few_lines_to_hold_any_out_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "few").write_text("one\n")
    few = OwnFiles(source=(str(tmp_path / "few"),), target=(str(tmp_path / "few"),))
    with pytest.raises(HeedfulError, match="fell to the valid split. Give problem.valid_source"):
        sources(few, VALID)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source": "", "target": ""}, "own_files needs files to learn from: --source"),
        ({"target": ""}, "problem.source names 1 files and problem.target 0"),
        ({"valid_source": "x"}, "problem.valid_source names 1 files"),
        ({"held_out": "0.5"}, "held_out must be over 0 and under 0.5"),
    ],
)
def test_what_cannot_be_is_said(own: OwnFiles, changes: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sources(vary(own, changes), VALID)
