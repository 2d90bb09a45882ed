"""The documentation holds: its commands run, its Python runs, its tables and links are right.

Every `heedful` command in a ```sh block is really run, page by page and in order, in a folder of
its own. Long ones are cut, not left out: steps are divided by 100, and models and data made small.
`torchrun` is not started; its `heedful` part is only parsed. `make` commands are looked up in the
Makefile. Python blocks are run as they stand; those of CONTRIBUTING.md form a plug-in, which is
used and held to the laws in a process of its own.
"""

import gzip
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from heedful.cli.main import application, run
from heedful.cli.tensor2tensor import COMMANDS, FLAGS
from heedful.config import flat
from heedful.registry import presets, problems
from heedful.text.midi import Note, composed

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EVERY_PAGE = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
CUT = 100  # steps are divided by this

MODEL = {
    "model.dim": 16,
    "model.ff": 32,
    "model.heads": 2,
    "model.layers": 1,
    "batch.tokens": 256,
    "decode.beam": 2,
    "decode.extra_length": 2,
}
ALGORITHMIC = {
    "problem.train_examples": 300,
    "problem.valid_examples": 5,
    "problem.test_examples": 5,
    "problem.eval_length": 50,
}
DEMO = {
    "problem.train_examples": 400,
    "problem.valid_examples": 5,
    "problem.test_examples": 5,
    "problem.unseen_examples": 5,
    "problem.coreference_examples": 5,
    "problem.text.size": 300,
}
OWN = {"problem.text.size": 300, "problem.held_out": 0.1}


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def commands(page: Path) -> list[str]:
    return [line for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]


def cut(arguments: list[str]) -> list[str]:
    """A command that takes hours, made to take a second."""
    verb = arguments[0]
    if verb == "bench":
        return cut_bench(arguments)
    if verb == "compare":
        small = {**MODEL, **ALGORITHMIC}
        shorter = [re.sub(r"^(steps:)\d+$", r"\g<1>2", argument) for argument in arguments]
        return shorter + [part for k, v in small.items() for part in ("--set", f"{k}={v}")]
    if verb == "doctor":
        own = {"--source", "--pairs", "own_files"} & set(arguments)
        small = {**MODEL, **(OWN if own else ALGORITHMIC)}
        return arguments + [part for k, v in small.items() for part in ("--set", f"{k}={v}")]
    if verb not in ("train", "demo"):
        return arguments
    shorter = [
        re.sub(
            r"^(training\.checkpoint_every=)(\d+)$", lambda m: f"{m[1]}{int(m[2]) // CUT}", argument
        )
        for argument in arguments
    ]
    if "--steps" in shorter:
        place = shorter.index("--steps") + 1
        shorter[place] = str(int(shorter[place]) // CUT)
    else:
        shorter += ["--steps", "2"]
    if "--resume" in shorter:
        return shorter
    if "--init" in shorter:  # small already, as what it begins from is
        own = {k: v for k, v in {**ALGORITHMIC, **OWN}.items() if has(shorter, k)}
        own.pop("problem.text.size", None)  # the vocabulary is that of the other run
        return shorter + [part for k, v in own.items() for part in ("--set", f"{k}={v}")]
    small = ALGORITHMIC
    if {"--source", "--pairs", "--text", "own_files"} & set(shorter):
        small = OWN
    elif {"demo", "translate_demo_en_fr"} & set(shorter):
        small = DEMO
    small = {k: v for k, v in {**MODEL, **small}.items() if has(shorter, k)}
    if any("caption" in word for word in shorter):  # a budget that holds a picture
        small.pop("batch.tokens", None)
    return shorter + [part for k, v in small.items() for part in ("--set", f"{k}={v}")]


def has(arguments: list[str], field: str) -> bool:
    """Whether the preset and the problem of a command have a field."""
    if field.startswith("problem."):
        own = "labelled_files" if "--text" in arguments else "own_files"
        named = own if arguments[1].startswith("-") else arguments[1]
        named = "translate_demo_en_fr" if arguments[0] == "demo" else named
        return field in flat(problems.get(named)(), "problem")
    if "--preset" in arguments:
        preset = arguments[arguments.index("--preset") + 1]
    else:
        preset = "text_classifier_base" if "--text" in arguments else "transformer_base"
    return field in flat(presets.get(preset)())


def cut_bench(arguments: list[str]) -> list[str]:
    """A benchmark of the smallest sizes, once, on a CPU."""
    shorter = [*arguments, "--device", "cpu", "--repeats", "1"]
    kind = arguments[1]
    if "--peers" not in arguments and kind in ("train", "decode"):
        shorter += ["--peers", "none"]
    if kind == "attention":
        return [*shorter, "--length", "16", "--lengths", "16,32"]
    if kind == "complexity":
        return [*shorter, "--n", "16,32", "--d", "64,128", "--k", "3,5", "--r", "4,8"]
    if kind == "decode":
        return [*shorter, "--sentences", "3"]
    if "--end-to-end" in shorter:
        place = shorter.index("--end-to-end") + 1
        shorter[place] = str(int(shorter[place]) // CUT)
    small = {**MODEL, **({"problem.train_examples": 64} if "--preset" in arguments else DEMO)}
    shorter += [part for k, v in small.items() for part in ("--set", f"{k}={v}")]
    return [*shorter, "--batches", "2", "--warmup", "0"]


def parse(arguments: list[str]) -> None:
    """Raise if the command line does not understand this."""
    parser = application()
    with parser.make_context("heedful", list(arguments)) as context:
        name, verb, rest = parser.resolve_command(context, list(arguments))
        verb.make_context(name, rest, parent=context)


def follow(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what a line of a page says."""
    said, _, command = line.rpartition(" | ")
    words = shlex.split(command)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
        return
    if words[0] == "torchrun":
        parse(words[words.index("heedful") + 1 :])
        return
    assert words[0] == "heedful", line
    if said:
        assert said.startswith("echo ")
        monkeypatch.setattr(
            "sys.stdin", io.TextIOWrapper(io.BytesIO(shlex.split(said)[1].encode() + b"\n"))
        )
    parse(words[1:])
    if words[1] == "serve":  # runs until it is stopped; tests/cli/test_serve.py really starts it
        return
    assert run(cut(words[1:])) == 0, line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages speak of, to stand in."""
    words = ["red", "blue", "green", "old", "new"]
    english = [
        f"the {a} {b} {c} {d} cat." for a in words for b in words for c in words for d in words
    ]
    french = [line[::-1] for line in english]
    for name, lines in {
        "train": 300,
        "a": 600,
        "b": 60,
        "valid": 9,
        "test": 9,
        "sentences": 3,
        "new": 2,
    }.items():
        (tmp_path / f"{name}.en").write_text("\n".join(english[:lines]) + "\n")
        (tmp_path / f"{name}.fr").write_text("\n".join(french[:lines]) + "\n")
    rows = list(zip(english, french, strict=True))[:300]
    (tmp_path / "train.tsv").write_text("".join(f"{en}\t{fr}\n" for en, fr in rows))
    (tmp_path / "valid.tsv").write_text("".join(f"7\t{en}\t{fr}\n" for en, fr in rows[:9]))
    (tmp_path / "mined.tsv").write_text("".join(f"7\t{en}\t{fr}\n" for en, fr in rows))
    with gzip.open(tmp_path / "train.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps({'en': en, 'fr': fr})}\n" for en, fr in rows)
    judged = [f"{'good' if i % 2 else 'bad'}\t{line}" for i, line in enumerate(english[:300])]
    (tmp_path / "reviews.tsv").write_text("\n".join(["stars\treview", *judged]) + "\n")
    pictures(tmp_path)
    (tmp_path / "new.en.gz").write_bytes(gzip.compress((tmp_path / "new.en").read_bytes()))
    (tmp_path / "reference.fr").write_text("\n".join(french[:3]) + "\n")
    tune = [Note(0.25 * i, 0.25 * i + 0.25, 67 + 2 * (i % 4), 80) for i in range(8)]
    (tmp_path / "melody.mid").write_bytes(composed(tune))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pictures(folder: Path) -> None:
    """Photographs of one colour each, with captions that say which; and two shapes."""
    (folder / "photos").mkdir()
    lines = []
    for number in range(30):
        name = "dog.jpg" if not number else f"{number}.png"
        picture = Image.new("RGB", (12, 8), (8 * number, 0, 255 - 8 * number))
        picture.save(folder / "photos" / name)
        lines.append(f"{name}\ta picture that is {'blue' if number < 15 else 'red'}\n")
    (folder / "captions.tsv").write_text("".join(lines))
    Image.new("RGB", (30, 30), "white").save(folder / "shapes.png")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_works(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commands(page)
    for line in commands(page):
        follow(line, monkeypatch)
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), {})


def test_the_worked_examples_of_contributing_work(folder: Path) -> None:
    page = ROOT / "CONTRIBUTING.md"
    parts, rest = [], []
    for block in blocks(page, "python"):
        (parts if block.startswith("# my_plugin.py\n") else rest).append(block)
    (folder / "my_plugin.py").write_text("\n".join(parts))
    lines = [shlex.split(line)[1:] for line in commands(page) if line.startswith("heedful ")]
    assert len(parts) == 3 and len(rest) == 1 and len(lines) == 3
    small = [
        "--steps",
        "3",
        "--set",
        "problem.train_examples=200",
        "--set",
        "problem.test_examples=5",
    ]
    (folder / "story.py").write_text(
        rest[0]
        + "from heedful.cli.main import run\n"
        + "".join(
            f"assert run({[*line, *(small if line[0] == 'train' else [])]!r}) == 0\n"
            for line in lines
        )
    )
    command = [sys.executable, "-W", "error", "story.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "repeated_tiny: a preset. One block of 32, twice." in done.stdout
    assert "sort_digits, split test, 5 examples" in done.stdout


def test_the_tables_of_tensor2tensor_are_complete() -> None:
    rows = set(
        re.findall(
            r"^\| `(t2t-[^`]+|--[^`]+)` \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE
        )
    )
    assert rows == set(COMMANDS.items()) | set(FLAGS.items())


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue  # the tests have no network
        assert (page.parent / target).exists(), target


def test_the_version_stands_in_the_changes() -> None:
    import heedful

    assert heedful.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_ci_runs_what_contributing_says() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()
