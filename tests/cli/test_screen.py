"""What is said where."""

import json

import pytest

from heedful.cli import screen


def test_results_go_to_stdout_and_progress_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    screen.say("a result")
    screen.note("working")
    screen.warn("odd")
    out = capsys.readouterr()
    assert out.out == "a result\n"
    assert out.err == "working\nwarning: odd\n"


def test_only_the_first_of_several_processes_speaks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    screen.say("a result")
    screen.warn("odd")
    assert capsys.readouterr() == ("", "")


def test_json_keeps_letters_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    screen.say_json({"text": "élève"})
    out = capsys.readouterr().out
    assert "élève" in out and json.loads(out) == {"text": "élève"}


def test_columns_are_aligned_and_carry_no_trailing_space() -> None:
    assert screen.columns([("a", "bb", "c"), ("ddd", "e", "")], " ") == " a    bb  c\n ddd  e"
    assert screen.columns([]) == ""


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (True, "true"),
        (False, "false"),
        (None, "none"),
        ([0.9, 0.98], "0.9,0.98"),
        (1e-9, "1e-09"),
        (3, "3"),
    ],
)
def test_a_value_is_written_as_set_would_take_it(held: object, said: str) -> None:
    assert screen.value(held) == said
