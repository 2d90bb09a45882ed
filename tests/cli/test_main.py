"""The command line as a whole: help, versions, statuses, and what wrong usage is told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import heedful as package
from heedful.cli import list as listing
from heedful.cli.main import VERBS, run
from heedful.cli.tensor2tensor import COMMANDS, FLAGS
from heedful.errors import HeedfulError
from heedful.training.signals import Interrupted


def python(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    """A real process, as a user starts one."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        **options,  # type: ignore
    )


def test_help_answers_without_loading_anything_heavy() -> None:
    program = (
        "import sys; from heedful.cli.main import run; status = run(['--help'])\n"
        "slow = {'torch', 'numpy', 'sacrebleu', 'pyarrow', 'tokenizers', 'rich'}\n"
        "heavy = slow & set(sys.modules)\n"
        "sys.exit(f'{heavy} loaded' if heavy else status)"
    )
    done = python("-c", program)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(verb in done.stdout for verb in VERBS)


def test_python_dash_m_heedful_works() -> None:
    done = python("-m", "heedful", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"heedful {package.__version__}\n",
        "",
    )


def test_a_process_ends_with_the_status_of_what_happened() -> None:
    done = python("-m", "heedful", "score", "--hyp", "absent.txt", "--ref", "absent.txt")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1 and done.stdout == ""


def test_no_arguments_show_the_help(heedful) -> None:
    answer = heedful()
    assert answer.status == 0 and "Usage: heedful" in answer.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help_with_an_example(heedful, verb: str) -> None:
    answer = heedful(verb, "--help")
    assert answer.status == 0
    assert "Example:" in answer.out and f"heedful {verb}" in answer.out.partition("Example:")[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lsit"], "no command 'lsit'. Close: list."),
        (["train", "--presett", "x"], "no option --presett. Close: --preset,"),
        (["--versionn"], "no option --versionn. Close: --version."),
        (["list"], "missing argument 'KIND'"),
        (["list", "problem"], "cannot list 'problem'. Close: problems"),
        (["list", "claimz"], "cannot list 'claimz'"),
        (["train", "--steps", "many"], "'--steps'"),
        (["train", "--steps", "0"], "'--steps'"),
        (["train", "x", "--preset", "y"], "train needs --out RUN"),
        (["train", "--out", "r"], "no PROBLEM is named: give one"),
        (
            ["train", "algorithmic_reverse_binary40", "--out", "r"],
            "no preset is named: give --preset NAME",
        ),
        (["average", "r"], "one of --last N and --steps A,B"),
        (["average", "r", "--steps", "ten"], "--steps takes step numbers, got 'ten'"),
        (["decode", "r", "--nbest", "2"], "add --jsonl"),
        (["decode", "r", "--greedy", "--beam", "4"], "--greedy and --beam cannot both be had"),
        (["decode", "r", "--top-k", "4"], "--top-k is of sampling"),
        (["decode", "r", "--set", "model.dim=4"], "cannot set 'model.dim' of a finished run"),
        (["list", "problems", "--plugin", "no_such_module"], "no module named 'no_such_module'"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told_in_one_line_what_is_right(
    heedful, arguments: list[str], said: str
) -> None:
    answer = heedful(*arguments)
    assert answer.status == 2 and answer.out == ""
    assert answer.err.startswith("error: ") and answer.err.count("\n") == 1
    assert said in answer.err


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("verb", ["train", "decode"])
def test_flags_of_tensor2tensor_are_told_ours(heedful, verb: str, flag: str) -> None:
    answer = heedful(verb, f"{flag}=x")
    assert answer.status == 2
    assert f"error: {flag} is Tensor2Tensor's. Here it is: {FLAGS[flag]}" in answer.err


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_tensor2tensor_are_told_ours(heedful, command: str) -> None:
    answer = heedful(command, "--problem=x")
    assert answer.status == 2 and COMMANDS[command] in answer.err


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (HeedfulError("the disk is full"), 1, "error: the disk is full\n"),
        (Interrupted("stopped at step 3; saved"), 130, "stopped at step 3; saved\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (
            PermissionError(13, "Permission denied", "runs/x"),
            1,
            "error: runs/x: Permission denied\n",
        ),
        (ZeroDivisionError("by zero\nmore"), 1, "error: ZeroDivisionError: by zero. This is a bug"),
    ],
    ids=repr,
)
def test_whatever_goes_wrong_is_one_line_and_a_status(
    heedful, monkeypatch: pytest.MonkeyPatch, raised: BaseException, status: int, said: str
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.delenv("HEEDFUL_TRACEBACK", raising=False)
    monkeypatch.setattr(listing, "load_plugins", fail)
    answer = heedful("list", "problems")
    assert answer.status == status and answer.err.startswith(said)
    assert answer.err.count("\n") == 1 and "Traceback" not in answer.err


def test_a_traceback_is_shown_to_who_asks(heedful, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setenv("HEEDFUL_TRACEBACK", "1")
    monkeypatch.setattr(listing, "load_plugins", fail)
    assert "Traceback (most recent call last)" in heedful("list", "problems").err


def test_of_several_processes_that_fail_alike_one_speaks(
    heedful, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    answer = heedful("train", "--out", "r")
    assert answer.status == 2 and answer.err == ""


def test_a_reader_that_has_read_enough_is_no_error(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one line\n")
    read, write = os.pipe()
    os.close(read)
    program = "import sys; from heedful.cli.main import run; sys.exit(run(['list', 'problems']))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_lacks_a_letter_is_no_error() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = python("-c", "from heedful.cli.main import run; run([]); print('é')", env=environment)
    assert done.returncode == 0 and done.stdout.endswith("\\xe9\n")


def test_run_takes_the_arguments_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["heedful", "--version"])
    assert run() == 0
    assert capsys.readouterr().out == f"heedful {package.__version__}\n"
