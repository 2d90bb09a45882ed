"""Those who watch: the log's file, lines, the bar."""

import io
import json

from rich.console import Console

from heedful.training.watchers import Bar, Lines, LogFile, Watchers, person, spoken_time

TRAIN = {
    "kind": "train",
    "step": 10,
    "epoch": 0,
    "loss": 2.0,
    "nll": 1.5,
    "rate": 1e-3,
    "grad_norm": 0.5,
    "tokens_per_second": 12345.6,
    "padding": 0.25,
    "seconds": 3.0,
    "left": 61.0,
}
EVALUATE = {
    "kind": "evaluate",
    "step": 10,
    "split": "valid",
    "weights": "ema",
    "metrics": {"bleu": {"value": 31.4159, "signature": "s"}},
}


def test_lines_say_speed_padding_and_time_left():
    stream = io.StringIO()
    watcher = Watchers(Lines(100, stream))
    watcher.advance(10)
    watcher.record(TRAIN)
    watcher.record(EVALUATE)
    watcher.note("a word")
    watcher.close()
    train, evaluation, note = stream.getvalue().splitlines()
    assert train.startswith("step 10/100")
    for said in ("loss 2.000", "12,346 tokens/s", "padding 25%", "left 1m01s"):
        assert said in train
    assert "bleu 31.42" in evaluation and "moving average" in evaluation
    assert note == "a word"


def test_a_bar_shows_the_same():
    stream = io.StringIO()
    bar = Bar(100, 5, Console(file=stream, force_terminal=True, width=160))
    bar.advance(10)
    bar.record(TRAIN)
    bar.record(EVALUATE)
    bar.note("[a word]")
    bar.close()
    shown = stream.getvalue()
    assert "10/100" in shown and "12,346 tokens/s" in shown and "left 1m01s" in shown
    assert "bleu 31.42" in shown and "[a word]" in shown


def test_without_a_terminal_a_person_gets_lines():
    assert isinstance(person(10), Lines)


def test_a_log_that_goes_on_drops_what_will_happen_again(tmp_path):
    path = tmp_path / "log.jsonl"
    records = [
        {"kind": "train", "step": 5},
        {"kind": "evaluate", "step": 6},
        {"kind": "non_finite", "step": 6},
        {"kind": "train", "step": 10},
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in records) + '{"kind": "tr')
    log = LogFile(path, 6)
    log.record({"kind": "train", "step": 7})
    log.close()
    steps = [json.loads(line) for line in path.read_text().splitlines()]
    assert steps == [*records[:2], {"kind": "train", "step": 7}]


def test_a_new_log_begins_empty(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"kind": "train", "step": 1}\n')
    LogFile(path, 0).close()
    assert path.read_text() == ""


def test_times_are_said_shortly():
    assert [spoken_time(s) for s in (0, 59.4, 60, 3599, 3600, 90_000)] == [
        "0s",
        "59s",
        "1m00s",
        "59m59s",
        "1h00m",
        "25h00m",
    ]
