"""`decode`: one line out for each line in, whatever the lines are."""

import io
import json
from pathlib import Path

import pytest

import heedful as package
from heedful.decoding import of_run, ready

LINES = ["1 0 1", "0 0 1 1", "1", "0 1 0 1 0"]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch):
    """Put bytes or text on stdin."""

    def put(content: bytes | str) -> None:
        data = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put


def test_stdin_to_stdout_is_a_line_for_a_line(heedful, tiny_run: Path, say) -> None:
    say("\n".join(LINES) + "\n")
    answer = heedful("decode", tiny_run, "--greedy")
    assert answer.status == 0 and answer.err == ""
    assert answer.out.count("\n") == len(LINES)


def test_files_give_the_same_as_streams_and_as_python(
    heedful, tiny_run: Path, say, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text("\n".join(LINES))  # no newline at the end
    answer = heedful(
        "decode",
        tiny_run,
        "-i",
        tmp_path / "in",
        "-o",
        tmp_path / "out",
        "--beam",
        2,
        "--alpha",
        0.6,
    )
    assert answer.status == 0 and answer.out == ""
    say("\n".join(LINES) + "\n")
    streamed = heedful("decode", tiny_run, "--beam", "2").lines
    assert (tmp_path / "out").read_text().splitlines() == streamed
    usual = heedful("decode", tiny_run, "-i", tmp_path / "in").lines
    assert package.load(tiny_run).translate(LINES) == usual


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_in_any_precision_there_is_a_line_for_a_line(
    heedful, tiny_run: Path, say, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = ready.make_ready
    monkeypatch.setattr(of_run, "make_ready", lambda *given: asked.append(real(*given)))
    monkeypatch.setattr(ready, "check_whole", lambda device: None)
    say("\n".join(LINES) + "\n")
    answer = heedful("decode", tiny_run, "--greedy", "--precision", precision)
    assert answer.status == 0 and answer.out.count("\n") == len(LINES)
    package.load(tiny_run, precision=precision)
    assert asked == [precision] * 2


def test_a_precision_that_this_machine_lacks_is_an_error_before_anything_is_written(
    heedful, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "has_whole_products", lambda: False)
    (tmp_path / "in").write_text("1 0 1\n")
    answer = heedful(
        "decode", tiny_run, "-i", tmp_path / "in", "-o", tmp_path / "out", "--precision", "int8"
    )
    assert answer.status == 2 and not (tmp_path / "out").exists()
    assert "precision int8 needs a processor" in answer.err and "Use fp32, or bf16" in answer.err


def test_a_line_that_cannot_be_decoded_is_named_and_the_rest_go_on(
    heedful, tiny_run: Path, tmp_path: Path
) -> None:
    bad = ["1 0 1", "", "zebra ☃", " ".join(["1"] * 10_000), "0 1"]
    (tmp_path / "in").write_text("\n".join(bad) + "\n", encoding="utf-8")
    answer = heedful("decode", tiny_run, "-i", tmp_path / "in")
    assert answer.status == 0 and len(answer.lines) == 5
    assert [answer.lines[i] for i in (1, 2, 3)] == ["", "", ""]
    assert "warning: line 3: 'zebra'" in answer.err
    assert "warning: line 4: the line has 10000 tokens" in answer.err
    assert answer.err.count("\n") == 2
    alone = heedful("decode", tiny_run, "-i", tmp_path / "in", "--strict")
    assert alone.status == 1 and alone.out == answer.out
    assert alone.err.endswith("error: 2 of 5 lines could not be decoded; they are named above\n")


def test_jsonl_has_the_n_best_with_scores_and_tokens(heedful, tiny_run: Path, say) -> None:
    say("1 0 1\nzebra\n")
    answer = heedful("decode", tiny_run, "--beam", "3", "--nbest", "3", "--jsonl")
    good, bad = (json.loads(line) for line in answer.lines)
    assert good["line"] == 1 and good["input"] == "1 0 1" and "error" not in good
    assert good["output"] == good["hypotheses"][0]["text"] and len(good["hypotheses"]) == 3
    scores = [hypothesis["score"] for hypothesis in good["hypotheses"]]
    assert scores == sorted(scores, reverse=True) and good["score"] == scores[0]
    first = good["hypotheses"][0]
    assert len(first["tokens"]) == len(first["token_scores"])
    assert bad["output"] == "" and bad["score"] is None and "zebra" in bad["error"]


def test_scores_stand_after_a_tab(heedful, tiny_run: Path, say) -> None:
    say("1 0 1\n\n")
    lines = heedful("decode", tiny_run, "--scores").lines
    assert float(lines[0].split("\t")[1]) < 0 and lines[1] == "\t"


def test_sampling_is_the_same_for_the_same_seed(heedful, tiny_run: Path, say) -> None:
    def sampled(seed: str) -> list[str]:
        say("\n".join(LINES * 4) + "\n")
        options = [
            "--sample",
            "--temperature",
            "2",
            "--top-k",
            "2",
            "--top-p",
            "0.99",
            "--seed",
            seed,
        ]
        return heedful("decode", tiny_run, *options).lines

    assert sampled("1") == sampled("1") != sampled("2")


def test_every_output_begins_with_the_prefix(heedful, tiny_run: Path, say) -> None:
    say("\n".join(LINES) + "\n")
    lines = heedful("decode", tiny_run, "--prefix", "1 1 0").lines
    assert len(lines) == 4 and all(line.startswith("1 1 0") for line in lines)


def test_interactive_answers_each_line_and_ends_with_the_input(
    heedful, tiny_run: Path, say
) -> None:
    say(b"1 0 1\n\xff\nzebra\n")
    answer = heedful("decode", tiny_run, "--interactive")
    assert answer.status == 0 and len(answer.lines) == 3 and answer.lines[1:] == ["", ""]
    assert "not UTF-8" in answer.err and "'zebra'" in answer.err


def test_a_person_at_a_terminal_is_told_how_to_end(
    heedful, tiny_run: Path, say, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments, said in ([["--interactive"], "Ctrl-D ends"], [[], "end with Ctrl-D"]):
        say("1\n")
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        assert said in heedful("decode", tiny_run, *arguments).err


def test_bad_bytes_are_told_before_anything_is_written(
    heedful, tiny_run: Path, say, tmp_path: Path
) -> None:
    say(b"1 0 1\n0 \xff 1\n")
    answer = heedful("decode", tiny_run, "-o", tmp_path / "out")
    assert answer.status == 1 and answer.err.startswith("error: stdin is not UTF-8 text: line 2")
    assert not (tmp_path / "out").exists()


def test_no_input_is_no_output(heedful, tiny_run: Path, tmp_path: Path) -> None:
    (tmp_path / "in").touch()
    answer = heedful("decode", tiny_run, "-i", tmp_path / "in", "-o", tmp_path / "out")
    assert answer.status == 0 and (tmp_path / "out").read_text() == ""


def test_a_file_without_the_right_to_read_is_named(
    heedful, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("heedful.data.files.open", refuse, raising=False)
    answer = heedful("decode", tiny_run, "-i", tmp_path / "in")
    assert answer.status == 1 and "in cannot be read: Permission denied" in answer.err


def test_missing_input_is_named(heedful, tiny_run: Path, tmp_path: Path) -> None:
    answer = heedful("decode", tiny_run, "-i", tmp_path / "absent")
    assert answer.status == 1 and f"error: no file {tmp_path / 'absent'}" in answer.err


def test_a_setting_of_decoding_can_be_changed(heedful, tiny_run: Path, say) -> None:
    say("1 0 1\n")
    answer = heedful("decode", tiny_run, "--set", "decode.longest_input=2", "--strict")
    assert answer.status == 1 and "decode.longest_input is 2" in answer.err


def test_load_warns_of_a_damaged_checkpoint(tiny_run: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy)
    (copy / "checkpoints" / "best.json").unlink()
    (copy / "checkpoints" / "step-60" / "model.safetensors").write_bytes(b"torn")
    with pytest.warns(UserWarning, match="damaged checkpoint left aside"):
        assert package.load(copy).translate([""]) == [""]
