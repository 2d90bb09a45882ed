"""Texts with labels: your own files, those made on the spot, and GLUE's."""

import io
import lzma
import random
import zipfile
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from heedful.config import vary
from heedful.data.preparation import prepare, source_of
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.classification import joined
from heedful.problems.classification_files import LabelledFiles
from heedful.problems.elmo_text import sentences
from heedful.registry import problems
from heedful.text.specials import EOS, RESERVED
from heedful.text.words import Words

REAL = Path(__file__).parents[2].parent / "shared" / "data"
real = pytest.mark.skipif(not (REAL / "glue").is_dir(), reason=f"no GLUE at {REAL}")


def written(path: Path, rows: list[tuple[str, ...]]) -> str:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def examples(problem, split: str) -> list[tuple[str, str]]:
    found = problem.examples(split, random.Random(0))
    return [(one["inputs"], one["targets"]) for one in found]


def many(count: int = 300) -> list[tuple[str, ...]]:
    return [(f"text number {i}", "even" if i % 2 == 0 else "odd") for i in range(count)]


def test_every_line_falls_to_one_split_whatever_their_order(tmp_path: Path) -> None:
    one = LabelledFiles(train=(written(tmp_path / "a.tsv", many()),), held_out=0.2)
    other = LabelledFiles(train=(written(tmp_path / "b.tsv", many()[::-1]),), held_out=0.2)
    for split in (TRAIN, VALID, TEST):
        assert sorted(examples(one, split)) == sorted(examples(other, split))
    parts = [set(examples(one, split)) for split in (TRAIN, VALID, TEST)]
    assert set.union(*parts) == set(many()) and sum(map(len, parts)) == 300
    assert all(30 < len(part) < 240 for part in parts)


def test_files_that_are_given_are_taken_whole(tmp_path: Path) -> None:
    train = written(
        tmp_path / "train.tsv", [("text", "label", "id"), ("a", "x", "1"), ("b", "y", "2")]
    )
    valid = written(tmp_path / "valid.tsv", [("label", "text"), ("y", "c")])
    problem = LabelledFiles(
        train=(train,), valid=(valid,), test=(valid,), columns=("text",), label="label"
    )
    assert examples(problem, TRAIN) == [("a", "x"), ("b", "y")]
    assert examples(problem, VALID) == [("c", "y")]
    assert problem.files() == (Path(train), Path(valid), Path(valid))


def test_two_texts_are_prepared_with_an_end_symbol_between(tmp_path: Path) -> None:
    rows = [(f"a{i}", "b c", "yes" if i % 2 else "no") for i in range(60)]
    problem = LabelledFiles(
        train=(written(tmp_path / "a.tsv", rows),),
        columns=("1", "2"),
        label="3",
        held_out=0.2,
        text=Words(),
    )
    prepared = prepare("labelled_files", problem, tmp_path / "data")
    ids = prepared.split(TRAIN).example(0)
    b, c = prepared.tokenizer("inputs").plain.encode("b c")
    assert ids["inputs"].tolist()[1:] == [EOS, b, c, EOS]
    assert ids["targets"].tolist()[0] >= RESERVED and ids["targets"].tolist()[1:] == [EOS]
    assert prepared.tokenizer("targets").labels == ("no", "yes")


def test_a_label_that_training_has_not_is_an_error_that_names_its_line(tmp_path: Path) -> None:
    train = written(tmp_path / "train.tsv", many())
    test = written(tmp_path / "test.tsv", [("one", "even"), ("two", "evn")])
    problem = LabelledFiles(train=(train,), test=(test,))
    says = r"line 2 of .*test.tsv has the label 'evn', which none of the training lines has. Close"
    with pytest.raises(HeedfulError, match=says):
        examples(problem, TEST)
    with pytest.raises(HeedfulError, match="line 2 of .*test.tsv"):
        prepare("labelled_files", vary(problem, {"text": "characters"}), tmp_path / "data")
    named = vary(problem, {"labels": "even,odd,evn"})
    assert examples(named, TEST) == [("one", "even"), ("two", "evn")]
    with pytest.raises(HeedfulError, match="line 2 of .*train.tsv .* none of problem.labels has"):
        examples(vary(problem, {"labels": "even,evn"}), TRAIN)


def test_empty_texts_and_labels_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [*many(100), ("", "even"), ("a text", ""), ("  ", "odd")]
    assert joined(("one", " ")) == joined(("", "two")) == "" and joined(("a", "b")) == "a\tb"
    problem = LabelledFiles(train=(written(tmp_path / "a.tsv", rows),), text=Words(), held_out=0.2)
    splits = prepare("labelled_files", problem, tmp_path / "data").info["splits"]
    assert sum(split["empty"] for split in splits.values()) == 3
    assert sum(split["examples"] for split in splits.values()) == 100


def test_one_class_only_is_nothing_to_learn(tmp_path: Path) -> None:
    rows = [(text, "same") for text, _ in many()]
    problem = LabelledFiles(train=(written(tmp_path / "a.tsv", rows),), text=Words())
    with pytest.raises(HeedfulError, match="'same' is the only label"):
        prepare("labelled_files", problem, tmp_path / "data")


def test_wrong_files_and_columns_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", many())
    for problem, says in [
        (LabelledFiles(train=(path,), label="stars"), "no column 'stars' in its first line"),
        (LabelledFiles(train=(path,), label="3"), "line 1 of .* has 2 columns"),
        (LabelledFiles(train=(str(tmp_path / "none.tsv"),)), "no file .*none.tsv"),
    ]:
        with pytest.raises(HeedfulError, match=says):
            problem.check()
    for fields, says in [
        ({"columns": ("1", "2", "3"), "label": "4"}, "two texts in two; got 3"),
        ({"held_out": 0.5}, "under 0.5"),
    ]:
        with pytest.raises(UsageError, match=says):
            LabelledFiles(**fields)
    with pytest.raises(UsageError, match="'2' cannot be both"):
        LabelledFiles(train=(path,), columns=("2",)).check()
    with pytest.raises(UsageError, match="--text train.tsv"):
        LabelledFiles().files()
    with pytest.raises(HeedfulError, match="left for valid has both"):
        examples(LabelledFiles(train=(written(tmp_path / "b.tsv", many(2)),)), VALID)


def test_the_demos_labels_are_true() -> None:
    language = islice(problems.get("demo_language")().examples(TRAIN, random.Random(1)), 50)
    labels = {one["targets"] for one in language}
    assert labels == {"en", "fr"}
    text = list(islice(problems.get("demo_text")().examples(TEST, random.Random(1)), 4))
    assert [set(one) for one in text] == [{"targets"}] * 4


def test_a_translation_is_told_from_that_of_the_sentence_before(monkeypatch) -> None:
    made = [SimpleNamespace(english=f"en {i}", french=f"fr {i // 2}") for i in range(200)]
    monkeypatch.setattr("heedful.problems.classification_demo.pairs", lambda *_: iter(made))
    found = examples(problems.get("demo_translated")(), TRAIN)
    labels = [label for _, label in found]
    assert 30 < labels.count("no") < 70 and len(found) == 200
    for text, label in found:
        english, french = (int(part.split()[1]) for part in text.split("\t"))
        assert (label == "yes") == (english // 2 == french)


def packed(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_glue_is_read_from_its_published_archive(tmp_path: Path, monkeypatch) -> None:
    rows = [f"film {i} is fine\t{i % 2}" for i in range(400)]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("SST-2/train.tsv", packed(["sentence\tlabel", *rows]))
        archive.writestr("SST-2/dev.tsv", packed(["sentence\tlabel", 'it "is \t1', "bad\t0"]))
    (tmp_path / "SST-2.zip").write_bytes(buffer.getvalue())
    monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
    problem = problems.get("glue_sst2")()
    read = source_of(problem, tmp_path / "data")
    train, valid, test = (list(read(split, random.Random(0))) for split in (TRAIN, VALID, TEST))
    assert test == [{"inputs": 'it "is', "targets": "1"}, {"inputs": "bad", "targets": "0"}]
    assert len(train) + len(valid) == 400 and 0 < len(valid) < 20
    few = source_of(vary(problem, {"share": 0.2}), tmp_path / "data")
    fewer = list(few(TRAIN, random.Random(0)))
    assert 40 < len(fewer) < 130 and all(one in train for one in fewer)
    assert list(few(VALID, random.Random(0))) == valid


def test_what_is_not_glues_file_is_said(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "glue" / "MRPC").mkdir(parents=True)
    (tmp_path / "glue" / "MRPC" / "msr_paraphrase_train.txt").write_bytes(packed(["a\tb"]))
    (tmp_path / "glue" / "MRPC" / "mrpc_dev_ids.tsv").write_bytes(packed(["1\t2"]))
    monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
    read = source_of(problems.get("glue_mrpc")(), tmp_path / "data")
    with pytest.raises(HeedfulError, match="line 1 of .* has 2 columns and should have 5"):
        next(read(TRAIN, random.Random(0)))
    with pytest.raises(UsageError, match="problem.share must be over 0"):
        vary(problems.get("glue_rte")(), {"share": 0.0})


def test_wikitext_is_cut_after_full_stops() -> None:
    assert list(sentences(" A game , ver . 2.5 . It sold . \n")) == [
        "A game , ver .",
        "2.5 .",
        "It sold .",
    ]
    assert list(sentences(" \n")) == []


SIZES = {  # train and valid together, as GLUE counts them, and test
    "glue_sst2": (67_349, 872),
    "glue_cola": (8_551, 1_043),
    "glue_mrpc": (3_668, 408),
    "glue_rte": (2_490, 277),
}


@real
@pytest.mark.parametrize("name", SIZES)
def test_the_real_tasks_have_the_published_sizes(name, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    problem = problems.get(name)()
    read = source_of(problem, tmp_path)
    found = {split: list(read(split, random.Random(0))) for split in (TRAIN, VALID, TEST)}
    assert (len(found[TRAIN]) + len(found[VALID]), len(found[TEST])) == SIZES[name]
    for split in found.values():
        assert {one["targets"] for one in split} == set(problem.names)
        assert all(one["inputs"].count("\t") == problem.two for one in split)


@real
def test_the_language_model_reads_no_test(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    read = source_of(problems.get("elmo_text")(), tmp_path)
    seen = {one["targets"] for one in read(TRAIN, random.Random(0))}
    with lzma.open(REAL / "glue" / "SST-2" / "dev.tsv.xz", "rt") as file:
        tested = {line.split("\t")[0].strip() for line in file.readlines()[1:]}
    assert len(seen) > 100_000 and not tested & seen
