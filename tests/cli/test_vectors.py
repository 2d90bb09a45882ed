"""`heedful vectors`: neighbours shown, files written, mistakes named."""

import json
from pathlib import Path

import pytest
import typer

from heedful.cli.main import run
from heedful.cli.vectors import vectors
from heedful.errors import UsageError
from heedful.interop.word_vectors import vectors_of


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors of a text where a meets b and c meets d, and no others."""
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "text.txt").write_text("a b a b b a\nc d d c d c\n" * 300)
    settings = {
        "problem.train": folder / "text.txt",
        "problem.valid": folder / "text.txt",
        "problem.test": folder / "text.txt",
        "problem.piece": 7,
        "model.dim": 8,
        "model.rare": 0,
        "batch.tokens": 256,
        "batch.row": 64,
        "schedule.peak": 0.05,
    }
    said = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    out = folder / "run"
    command = ["train", "own_text", "--preset", "skip_gram_topics", "--out", str(out)]
    assert run([*command, "--steps", "60", "--device", "cpu", *said]) == 0
    return out


def call(*arguments: str) -> None:
    app = typer.Typer()
    app.command()(vectors)
    typer.main.get_command(app).main(list(arguments), standalone_mode=False)


def test_words_that_keep_company_are_near(trained: Path, capsys: pytest.CaptureFixture) -> None:
    call(str(trained), "--near", "a", "--near", "d", "--count", "1")
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("a: b ") and second.startswith("d: c ")
    call(str(trained), "--near", "c", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["words"], said["dim"], said["file"]) == (4, 8, None)
    assert [one["word"] for one in said["near"]["c"]][0] == "d" and len(said["near"]["c"]) == 3


def test_a_file_is_word2vecs_and_has_the_runs_vectors(trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors.txt"
    call(str(trained), "--out", str(out))
    head, *lines = out.read_text().splitlines()
    assert head == "4 8" and len(lines) == 4
    found = vectors_of(trained)
    for line, word, vector in zip(lines, found.words, found.vectors.tolist(), strict=True):
        name, *numbers = line.split(" ")
        assert name == word and [float(n) for n in numbers] == pytest.approx(vector, rel=1e-5)


def test_what_is_not_there_is_said(trained: Path) -> None:
    with pytest.raises(UsageError, match="'z' is not one of the 4 words"):
        call(str(trained), "--near", "z")
    with pytest.raises(UsageError, match="--near WORD, or --out FILE"):
        call(str(trained))
