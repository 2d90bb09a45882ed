"""`heedful compose`, from the command line to its four files."""

from pathlib import Path

import pytest

from heedful.cli.main import run
from heedful.text.midi import Note, composed, read

SMALL = {
    "problem.train_examples": 20,
    "problem.valid_examples": 1,
    "problem.test_examples": 1,
    "model.dim": 16,
    "model.ff": 16,
    "model.layers": 1,
    "batch.tokens": 256,
}


def train(out: Path, problem: str, preset: str) -> Path:
    """A run of two steps."""
    given = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    asked = ["train", problem, "--preset", preset, "--out", str(out)]
    data = ["--data", str(out.parent / "data")]
    assert run([*asked, *data, "--steps", "2", "--device", "cpu", *given]) == 0
    return out


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """On made-up motifs."""
    out = tmp_path_factory.mktemp("run") / "motifs"
    return train(out, "music_motifs", "transformer_lm_motifs")


@pytest.fixture(scope="module")
def accompanist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """On made-up canons."""
    out = tmp_path_factory.mktemp("run") / "canons"
    return train(out, "music_canons", "music_accompaniment_canons")


@pytest.fixture
def motif(tmp_path: Path) -> Path:
    path = tmp_path / "motif.mid"
    path.write_bytes(composed([Note(0.3 * i, 0.3 * i + 0.2, 60 + 2 * i, 90) for i in range(4)]))
    return path


def test_four_files_are_written_and_the_motif_leads(
    trained: Path, motif: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "piece"
    asked = ["compose", str(trained), "--seconds", "4", "--out", str(out), "--device", "cpu"]
    assert run([*asked, "--prime", str(motif)]) == 0
    assert sorted(path.name for path in out.parent.iterdir()) == [
        f"piece.{ending}" for ending in ("html", "mid", "png", "wav")
    ]
    notes = read(f"{out}.mid")
    begun = [(note.start, note.pitch) for note in notes if note.start < 0.95]
    assert begun == [(pytest.approx(0.3 * i), 60 + 2 * i) for i in range(4)]
    assert 3 <= max(note.end for note in notes) <= 5.5 and len(notes) > 4
    assert (out.parent / "piece.wav").read_bytes()[:4] == b"RIFF"
    assert "Composed by motifs" in (out.parent / "piece.html").read_text(encoding="utf-8")
    first = (out.parent / "piece.mid").read_bytes()
    assert run([*asked[:-4], "--out", f"{out}.mid", *asked[-2:], "--prime", str(motif)]) == 0
    assert (out.parent / "piece.mid").read_bytes() == first  # the same seed, and one ending


def test_from_silence_and_by_the_likeliest(trained: Path, motif: Path, tmp_path: Path) -> None:
    asked = ["compose", str(trained), "--seconds", "4", "--device", "cpu", "--seed"]
    assert run([*asked, "7", "--out", str(tmp_path / "a")]) == 0
    assert len(read(str(tmp_path / "a.mid"))) > 1
    likeliest = ["--temperature", "0", "--prime", str(motif)]
    for seed in ("1", "2"):  # chance has no part in it
        assert run([*asked, seed, "--out", str(tmp_path / seed), *likeliest]) == 0
    assert (tmp_path / "1.mid").read_bytes() == (tmp_path / "2.mid").read_bytes()


def test_a_melody_is_accompanied_and_stays_as_it_was(
    accompanist: Path, motif: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["compose", str(accompanist), "--melody", str(motif), "--device", "cpu", "--out"]
    assert run([*asked, str(tmp_path / "piece")]) == 0
    assert "several notes at once" not in capsys.readouterr().err
    names = sorted(path.name for path in tmp_path.glob("piece.*"))
    assert names == [f"piece.{ending}" for ending in ("html", "mid", "png", "wav")]
    notes = read(str(tmp_path / "piece.mid"))
    melody = [(8 * note.start, 8 * note.end, note.pitch) for note in notes if note.channel == 0]
    assert melody == [(0, 2, 60), (2, 4, 62), (5, 6, 64), (7, 9, 66)]  # in sixteenths
    assert len({note.channel for note in notes}) > 1
    page = (tmp_path / "piece.html").read_text(encoding="utf-8")
    assert '"cross"' in page and "Composed by canons" in page
    chord = tmp_path / "chord.mid"
    chord.write_bytes(composed([Note(0, 0.5, 60, 90), Note(0, 0.25, 67, 90), Note(0.5, 1, 65, 9)]))
    asked[3] = str(chord)
    assert run([*asked, str(tmp_path / "top"), "--seconds", "0.5", "--temperature", "0"]) == 0
    said = capsys.readouterr().err
    assert "chord.mid has several notes at once: the highest are taken as the melody" in said
    assert "the melody lasts 1.0 seconds: the first 0.5 are accompanied" in said
    tops = [n.pitch for n in read(str(tmp_path / "top.mid")) if n.channel == 0]
    assert tops == [67, 60]


def test_what_cannot_be_is_one_line(
    trained: Path,
    accompanist: Path,
    motif: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bad = {name: tmp_path / f"{name}.mid" for name in ("cut", "empty", "silent", "drums")}
    bad["cut"].write_bytes(motif.read_bytes()[:-12])
    bad["empty"].write_bytes(b"")
    bad["silent"].write_bytes(composed([]))
    bad["drums"].write_bytes(composed([Note(0, 1, 38, 90, 9)]))
    reasons = {"cut": "is cut short", "empty": "is empty", "silent": "has no notes"}
    reasons["drums"] = "has only drums"
    prime, melody = ["--prime", str(motif)], ["--melody", str(motif)]
    told = [
        (trained, ["--prime", str(tmp_path / "none.mid")], 1, "no MIDI file"),
        (trained, ["--prime", str(tmp_path)], 1, "is a folder"),
        (trained, [*prime, "--seconds", "1"], 2, "the motif lasts 1.1 seconds"),
        (trained, ["--temperature", "-1"], 2, "--temperature is 0 or more"),
        (trained, ["--seconds", "-3"], 2, "--seconds is over 0"),
        (trained, ["--seconds", "4", "--out", "/dev/null/a"], 1, "cannot write"),
        (trained, melody, 2, "which has not learnt to accompany"),
        (trained, [*prime, *melody], 2, "give --prime or --melody, not both"),
        (accompanist, [], 2, "which accompanies a melody: give one by --melody"),
        (accompanist, prime, 2, "which accompanies a melody: give one by --melody"),
        (accompanist, [*melody, "--seconds", "0"], 2, "--seconds is over 0"),
    ]
    for name, reason in reasons.items():
        told.append((trained, ["--prime", str(bad[name])], 1, f"{name}.mid {reason}"))
        told.append((accompanist, ["--melody", str(bad[name])], 1, f"{name}.mid {reason}"))
    for of, more, status, reason in told:
        assert run(["compose", str(of), "--device", "cpu", *more]) == status
        said = capsys.readouterr().err.strip().splitlines()[-1]
        assert reason in said and said.startswith("error: ")


def test_a_run_of_something_else_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = tmp_path / "sort", ["--data", str(tmp_path / "data")]
    asked = ["train", "algorithmic_sort_problem", "--preset", "transformer_algorithmic_tiny"]
    small = {**SMALL, "problem.train_length": 8, "problem.eval_length": 8, "batch.row": 64}
    given = [part for name, value in small.items() for part in ("--set", f"{name}={value}")]
    assert run([*asked, "--out", str(out), *data, "--steps", "1", "--device", "cpu", *given]) == 0
    assert run(["compose", str(out), "--device", "cpu"]) == 2
    assert "which is no music" in capsys.readouterr().err
