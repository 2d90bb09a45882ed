import gzip
import json
import random
from pathlib import Path

import pytest

from heedful.config import from_json, to_json, vary
from heedful.data.preparation import fingerprint, prepare
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example
from heedful.problems.own_files import OwnFiles, place_of
from heedful.registry import problems
from heedful.text.bytes import Bytes

SENTENCES = [f"sentence number {i}" for i in range(1000)]


@pytest.fixture
def own(tmp_path: Path) -> OwnFiles:
    (tmp_path / "a.en").write_text("\n".join(SENTENCES) + "\n")
    (tmp_path / "a.fr").write_text("".join(f"phrase numéro {i}\n" for i in range(1000)))
    return OwnFiles(source=(str(tmp_path / "a.en"),), target=(str(tmp_path / "a.fr"),))


def rows(problem: OwnFiles, split: str) -> list[Example]:
    return list(problem.examples(split, random.Random(1)))


def sources(problem: OwnFiles, split: str) -> list[str]:
    return [str(example["inputs"]) for example in rows(problem, split)]


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
    with pytest.raises(HeedfulError, match="fell to the valid split. Give --valid-source"):
        sources(few, VALID)


def test_pairs_of_every_kind_are_one_problem(own: OwnFiles, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("id\ten\tfr\n1\tone cat\tun chat\n2\ttwo cats\tdeux chats\n")
    record = {"en": "three cats", "fr": "trois chats"}
    with gzip.open(tmp_path / "p.jsonl.gz", "wt") as file:
        file.write(json.dumps(record) + "\n")
    pairs = (str(tmp_path / "p.tsv"), str(tmp_path / "p.jsonl.gz"))
    mixed = vary(own, {"pairs": pairs, "fields": "en,fr", "valid_pairs": pairs[1:]})
    mixed.check()
    assert sources(mixed, VALID) == ["three cats"]
    found = sources(mixed, TRAIN) + sources(mixed, TEST)
    assert sorted(found) == sorted([*SENTENCES, "one cat", "two cats", "three cats"])
    other = vary(mixed, {"valid_pairs": (), "test_pairs": pairs[1:]})
    assert sources(other, TEST) == ["three cats"]
    assert sorted(sources(other, TRAIN) + sources(other, VALID)) == sorted(found)
    names = ["a.en", "a.fr", "p.tsv", "p.jsonl.gz", "p.jsonl.gz"]
    assert [path.name for path in mixed.files()] == names
    assert from_json(OwnFiles, to_json(mixed)) == mixed
    only = OwnFiles(pairs=pairs, fields=("fr", "en"), held_out=0.4)
    read = [e for split in (TRAIN, VALID, TEST) for e in rows(only, split)]
    assert {"inputs": "trois chats", "targets": "three cats"} in read and len(read) == 3
    before = fingerprint("own_files", only)
    (tmp_path / "p.tsv").write_text("en\tfr\nx\ty\n")
    assert fingerprint("own_files", only) != before


def test_lines_are_counted_no_further_than_asked(own: OwnFiles) -> None:
    assert own.lines() == 1000 and own.lines(most=10) == 10 and own.lines(most=5000) == 1000
    twice = OwnFiles(source=own.source * 2, target=own.target * 2)
    assert twice.lines() == 2000 and twice.lines(most=10) == 10 and twice.lines(most=1500) == 1500


def test_an_empty_side_is_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("a b\tx y\n\n \tx\na\t\n" * 5)
    (tmp_path / "v.tsv").write_text("a b\tx y\n")
    valid = {f"{split}_pairs": (str(tmp_path / "v.tsv"),) for split in (VALID, TEST)}
    problem = OwnFiles(pairs=(str(tmp_path / "p.tsv"),), **valid)
    splits = prepare("own_files", vary(problem, {"text": "bytes"}), tmp_path).info["splits"]
    assert splits[TRAIN]["examples"] == 5 and splits[TRAIN]["empty"] == 15
    assert splits[VALID]["examples"] == 1 and splits[VALID]["empty"] == 0


@pytest.mark.parametrize("split", [TRAIN, VALID])
def test_files_with_nothing_but_empty_sides_are_an_error(tmp_path: Path, split: str) -> None:
    (tmp_path / "p.tsv").write_text("a\t\n\n")
    path = (str(tmp_path / "p.tsv"),)
    problem = OwnFiles(pairs=path, valid_pairs=path, test_pairs=path)
    with pytest.raises(HeedfulError, match=rf"p.tsv that is left for {split} has two full sides"):
        sources(problem, split)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"valid_pairs": "absent.tsv"}, r"no file absent\.tsv"),
        ({"test_source": "absent.en", "test_target": "absent.fr"}, r"no file absent\.en"),
        ({"fields": "en,fr"}, "--fields chooses columns or keys of --pairs FILE"),
    ],
)
def test_files_are_looked_at_before_anything_is_made(
    own: OwnFiles, changes: dict[str, str], words: str
) -> None:
    own.check()
    with pytest.raises(HeedfulError, match=words):
        vary(own, changes).check()


def test_the_first_pair_is_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"en": "a", "de": "b"}\n')
    with pytest.raises(HeedfulError, match="has the keys en, de"):
        OwnFiles(pairs=(str(tmp_path / "p.jsonl"),)).check()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source": "", "target": ""}, "own_files needs files to learn from: --source"),
        ({"target": ""}, "problem.source names 1 files and problem.target 0"),
        ({"valid_source": "x"}, "problem.valid_source names 1 files"),
        ({"test_target": "x"}, "problem.test_source names 0 files and problem.test_target 1"),
        ({"held_out": "0.5"}, "held_out must be over 0 and under 0.5"),
    ],
)
def test_what_cannot_be_is_said(own: OwnFiles, changes: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sources(vary(own, changes), VALID)
