import json
import random
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from heedful.data import preparation
from heedful.data.files import read_lines
from heedful.data.preparation import Prepared, fingerprint, prepare
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.registry import problems
from heedful.text.bytes import Bytes
from heedful.text.chars import Characters
from heedful.text.specials import EOS
from heedful.text.symbols import Symbols

WORDS = ["the", "green", "cat", "sleeps", "under", "a", "tree", "and", "dreams", "of", "fish"]


@dataclass(frozen=True, kw_only=True)
class Echo(Problem):
    """Say it again, louder."""

    train: int = 500
    holes: bool = False

    @property
    def features(self) -> dict[str, Feature]:
        return {"inputs": Feature(Characters()), "targets": Feature(Characters())}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: self.train, VALID: 20, TEST: 10}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        number = 0
        while True:
            text = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
            hole = self.holes and number % 10 == 3
            yield {"inputs": " " if hole else text, "targets": text.upper()}
            number += 1


@dataclass(frozen=True, kw_only=True)
class Count(Problem):
    """A few short numbers: a finite problem over symbols, with targets alone."""

    @property
    def features(self) -> dict[str, Feature]:
        return {"targets": Feature(Symbols(5), "digits")}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {TRAIN: None, TEST: 100}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        return iter([{"targets": [4, 0, i % 5]} for i in range(7)] + [{"targets": []}])


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(problems._makers, "echo", Echo)


def test_a_prepared_problem_says_what_it_holds(tmp_path: Path) -> None:
    prepared = prepare("echo", Echo(), tmp_path)
    assert prepared.folder.name == f"echo-{fingerprint('echo', Echo())[:8]}"
    splits = prepared.info["splits"]
    assert {s: splits[s]["examples"] for s in splits} == {TRAIN: 500, VALID: 20, TEST: 10}
    train = prepared.split(TRAIN)
    for feature in prepared.features:
        assert splits[TRAIN]["tokens"][feature] == train.lengths[feature].sum()
        assert splits[TRAIN]["longest"][feature] == train.lengths[feature].max()
    assert prepared.info["vocabularies"] == {"shared": prepared.tokenizer("inputs").size}


def test_ids_are_the_tokenizer_s_with_an_end_symbol_and_raw_text_is_kept(tmp_path: Path) -> None:
    prepared = prepare("echo", Echo(), tmp_path)
    rng = random.Random("echo/valid/0")
    wanted = Echo().examples(VALID, rng)
    valid = prepared.split(VALID)
    for i in range(len(valid)):
        raw, example = valid.raw(i), next(wanted)
        assert raw == example
        for feature, ids in valid.example(i).items():
            assert ids.tolist() == [*prepared.tokenizer(feature).encode(raw[feature]), EOS]
    train = prepared.split(TRAIN)
    first = next(Echo().examples(TRAIN, random.Random("echo/train/0")))
    assert prepared.tokenizer("targets").decode(train.example(0)["targets"]) == first["targets"]


def test_symbols_pass_through_and_a_finite_problem_gives_what_it_has(tmp_path: Path) -> None:
    prepared = prepare("count", Count(), tmp_path)
    test = prepared.split(TEST)
    assert len(test) == 7 and prepared.info["splits"][TEST]["empty"] == 1
    assert test.raw(2) == {"targets": "4 0 2"}
    assert test.example(2)["targets"].tolist() == [
        *prepared.tokenizer("targets").encode("4 0 2"),
        EOS,
    ]
    assert prepared.vocabulary("targets").name == "digits.json"


def test_pairs_with_an_empty_side_are_left_out_and_counted(tmp_path: Path) -> None:
    info = prepare("echo", Echo(holes=True), tmp_path).info["splits"]
    assert (info[TRAIN]["examples"], info[TRAIN]["empty"]) == (450, 50)
    assert (info[VALID]["examples"], info[VALID]["empty"]) == (18, 2)


def test_chunks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = prepare("echo", Echo(holes=True), tmp_path / "whole").split(TRAIN)
    monkeypatch.setattr(preparation, "_CHUNK_CHARACTERS", 300)
    pieces = prepare("echo", Echo(holes=True), tmp_path / "pieces").split(TRAIN)
    assert len(whole) == len(pieces)
    for i in range(len(whole)):
        assert whole.example(i)["inputs"].tolist() == pieces.example(i)["inputs"].tolist()


def test_what_is_prepared_is_used_again(tmp_path: Path) -> None:
    before = prepare("echo", Echo(), tmp_path).folder.stat().st_mtime_ns
    calls: list[str] = []
    again = prepare("echo", Echo(), tmp_path, lambda done, note: calls.append(note))
    assert again.folder.stat().st_mtime_ns == before and calls == []


def test_another_field_name_or_seed_is_another_folder() -> None:
    marks = {
        fingerprint("echo", Echo()),
        fingerprint("echo", Echo(train=501)),
        fingerprint("shout", Echo()),
        fingerprint("echo", Echo(), seed=1),
    }
    assert len(marks) == 4
    assert fingerprint("echo", replace(Echo(train=1), train=500)) in marks


def test_changed_files_are_another_fingerprint(tmp_path: Path) -> None:
    @dataclass(frozen=True, kw_only=True)
    class FromFile(Echo):
        path: str = ""

        def files(self) -> tuple[Path, ...]:
            return (Path(self.path),)

        def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
            return ({"inputs": line, "targets": line} for line in read_lines(self.path))

    path = tmp_path / "text"
    path.write_text("one\n")
    before = fingerprint("file", FromFile(path=str(path)))
    assert fingerprint("file", FromFile(path=str(path))) == before
    path.write_text("two\n")
    assert fingerprint("file", FromFile(path=str(path))) != before


def _tear_info(folder: Path) -> None:
    text = (folder / "info.json").read_text()
    (folder / "info.json").write_text(text[: len(text) // 2])


def _other_mark(folder: Path) -> None:
    info = json.loads((folder / "info.json").read_text())
    (folder / "info.json").write_text(json.dumps({**info, "fingerprint": "0" * 64}))


def _other_format(folder: Path) -> None:
    info = json.loads((folder / "info.json").read_text())
    (folder / "info.json").write_text(json.dumps({**info, "format": 0}))


HARMS: dict[str, Callable[[Path], Any]] = {
    "info.json is damaged": _tear_info,
    "info.json is missing": lambda folder: (folder / "info.json").unlink(),
    "train-00000.arrow is missing": lambda folder: (folder / "train-00000.arrow").unlink(),
    "train-00000.arrow is damaged": lambda folder: (folder / "train-00000.arrow").write_bytes(b"x"),
    "is in format 0": _other_format,
    "from something else": _other_mark,
}


@pytest.mark.parametrize("words", HARMS)
def test_damaged_data_is_named_and_made_again(tmp_path: Path, words: str) -> None:
    folder = prepare("echo", Echo(), tmp_path).folder
    HARMS[words](folder)
    if words != "from something else":
        with pytest.raises(HeedfulError, match=f"{words}.*prepare the problem again"):
            Prepared.open(folder, Echo())
    notes: list[str] = []
    mended = prepare("echo", Echo(), tmp_path, lambda done, note: notes.append(note))
    assert words in notes[0] and notes[0].startswith("preparing again")
    assert len(mended.split(TRAIN)) == 500


@pytest.mark.usefixtures("registered")
def test_the_problem_can_be_read_back_from_the_folder(tmp_path: Path) -> None:
    prepared = prepare("echo", Echo(train=30), tmp_path)
    assert Prepared.open(prepared.folder).problem == Echo(train=30)
    with pytest.raises(UsageError, match="no split 'tests'. There are: train, valid, test"):
        prepared.split("tests")


def run_apart(code: str, root: Path) -> "subprocess.Popen[str]":
    """A process of its own, with this file's names and `root`."""
    opening = f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_preparation import Echo, prepare
        root = Path({str(root)!r})
    """
    whole = textwrap.dedent(opening) + textwrap.dedent(code)
    return subprocess.Popen([sys.executable, "-c", whole], stdout=subprocess.PIPE, text=True)


class Interrupted(Exception):
    """Stands for anything that ends a preparation half way."""


def test_a_preparation_that_fails_leaves_nothing_that_looks_done(tmp_path: Path) -> None:
    def interrupt(done: int, note: str) -> None:
        if "valid" in note:
            raise Interrupted

    with pytest.raises(Interrupted):
        prepare("echo", Echo(), tmp_path, interrupt)
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]
    assert len(prepare("echo", Echo(), tmp_path).split(VALID)) == 20


def test_what_a_killed_one_left_is_cleared_away(tmp_path: Path) -> None:
    left = tmp_path / f"echo-{fingerprint('echo', Echo())[:8]}.partial"
    left.mkdir()
    (left / "train-00007.arrow").write_bytes(b"half")
    folder = prepare("echo", Echo(), tmp_path).folder
    assert not left.exists() and not (folder / "train-00007.arrow").exists()


TELL = """
    notes = []
    prepared = prepare("echo", Echo(train=20_000), root, lambda done, note: notes.append(note))
    print(len(prepared.split("train")), any(note.startswith("writing") for note in notes))
"""


def test_two_at_once_prepare_it_once(tmp_path: Path) -> None:
    both = [run_apart(TELL, tmp_path) for _ in range(2)]
    answers = [process.communicate(timeout=60)[0] for process in both]
    assert sorted(answers) == ["20000 False\n", "20000 True\n"]


def test_one_that_waits_says_so(tmp_path: Path) -> None:
    notes: list[str] = []
    held, waited = threading.Event(), threading.Event()

    def hold() -> None:
        with FileLock(tmp_path / f"echo-{fingerprint('echo', Echo())[:8]}.lock"):
            held.set()
            waited.wait(timeout=20)

    def listen(done: int, note: str) -> None:
        notes.append(note)
        waited.set()

    other = threading.Thread(target=hold)
    other.start()
    held.wait(timeout=20)
    assert len(prepare("echo", Echo(), tmp_path, listen).split(TRAIN)) == 500
    other.join()
    assert notes[0].startswith("waiting for another process that prepares echo-")


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(HeedfulError, match="cannot prepare 'echo' in .*file/data"):
        prepare("echo", Echo(), tmp_path / "file" / "data")


def test_a_problem_without_training_examples_is_an_error(tmp_path: Path) -> None:
    class Nothing(Count):
        def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
            return iter(())

    with pytest.raises(HeedfulError, match="'nothing' has no training examples"):
        prepare("nothing", Nothing(), tmp_path)


def test_features_that_share_a_vocabulary_must_ask_for_the_same(tmp_path: Path) -> None:
    class Split(Echo):
        @property
        def features(self) -> dict[str, Feature]:
            return {"inputs": Feature(Characters()), "targets": Feature(Bytes())}

    with pytest.raises(UsageError, match="inputs and targets share the vocabulary 'shared'"):
        prepare("split", Split(), tmp_path)


def test_a_vocabulary_is_learnt_from_the_first_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    train = Characters.train

    def listen(self: Characters, texts: Iterator[str]) -> Any:
        seen.extend(texts)
        return train(self, iter(seen))

    monkeypatch.setattr(Characters, "train", listen)
    monkeypatch.setattr(preparation, "SAMPLE_EXAMPLES", 100)
    prepare("echo", Echo(), tmp_path)
    assert len(seen) == 200  # both sides
    seen.clear()
    monkeypatch.setattr(preparation, "SAMPLE_CHARACTERS", 500)
    prepare("echo", Echo(), tmp_path)
    assert 500 <= sum(map(len, seen)) < 600


# Not getrusage: its peak is inherited from the process that started this one.
MEASURE = """
    prepare("echo", Echo(train=TRAIN), root)
    status = Path("/proc/self/status").read_text()
    print(status.split("VmHWM:")[1].split()[0])
"""


def peak_megabytes(train: int, root: Path) -> float:
    measured, _ = run_apart(MEASURE.replace("TRAIN", str(train)), root).communicate(timeout=120)
    return int(measured) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's own account")
def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    small = peak_megabytes(40_000, tmp_path)
    large = peak_megabytes(160_000, tmp_path)
    assert large < 400 and large - small < 30  # the ids of the larger one alone are 40 MB
