"""Rows: what they say to a person and to a script, and that one that fails loses no other."""

import pytest
import torch

from heedful.bench.rivals import Rival, chosen
from heedful.bench.table import Bench, Row, attempt, cells, gain
from heedful.bench.timing import Middle
from heedful.errors import HeedfulError, UsageError

from .conftest import CPU

OURS = Row.of("heedful fast", "tokens/s", Middle(200.0, 5.0), {"peak_gb": 1.5, "tflops": None})
THEIRS = Row.of("a peer", "tokens/s", Middle(80.0, 1.0), {"peak_gb": None})
MISSING = Rival("b", "another peer", "no-such-package").missing("tokens/s")
RIVALS = (Rival("torch", "torch's", "torch"), Rival("b", "another peer", "no-such-package"))


def test_a_record_has_what_scripts_rely_on() -> None:
    bench = Bench(kind="train", rows=(OURS, MISSING), settings={"seed": 1}, notes=("so it is",))
    said = bench.to_json("a machine", {"torch": "2"}, "abc")
    assert {k: said[k] for k in ("hardware", "versions", "commit")} == {
        "hardware": "a machine",
        "versions": {"torch": "2"},
        "commit": "abc",
    }
    assert said["rows"][0] == {
        "name": "heedful fast",
        "value": 200.0,
        "unit": "tokens/s",
        "spread": 5.0,
        "peak_gb": 1.5,
        "tflops": None,
    }
    assert said["rows"][1]["value"] is None and said["rows"][1]["note"].startswith("not installed")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("first\nsecond"), "failed: ValueError: first"),
        (HeedfulError("this cannot be"), "failed: this cannot be"),
        (torch.OutOfMemoryError("pages of it"), "failed: out of memory"),
        (RuntimeError(""), "failed: RuntimeError: no reason given"),
    ],
)
def test_what_fails_is_a_row_that_says_why(error: Exception, said: str) -> None:
    def measure() -> Row:
        raise error

    row = attempt("a peer", "ms", measure, CPU)
    assert (row.name, row.unit, row.value, row.spread, row.note) == (
        "a peer",
        "ms",
        None,
        None,
        said,
    )


def test_an_interruption_is_no_failure_of_a_row() -> None:
    def measure() -> Row:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt("a peer", "ms", measure, CPU)


def test_the_gain_is_our_best_over_the_best_of_the_others() -> None:
    slower = Row.of("heedful plain", "tokens/s", Middle(100.0, 1.0), {})
    (row,) = gain("heedful over the best", [slower, OURS, THEIRS, MISSING])
    assert (row.value, row.unit) == (2.5, "times")
    assert row.more == {"ours": "heedful fast", "theirs": "a peer"}
    assert gain("nothing to compare", [OURS, MISSING]) == []
    assert gain("nothing to compare", [THEIRS]) == []


def test_the_table_shows_only_columns_that_have_something() -> None:
    head, first, second, third = cells([OURS, THEIRS, MISSING], ("tflops", "peak_gb"))
    assert head == ("", "median", "spread", "unit", "peak gb", "")
    assert first == ("heedful fast", "200", "5", "tokens/s", "1.5", "")
    assert second == ("a peer", "80", "1", "tokens/s", "", "")
    assert third[:3] == ("another peer", "", "") and third[-1] == MISSING.note


def test_peers_are_chosen_by_name() -> None:
    assert chosen(None, RIVALS) == RIVALS and chosen("none", RIVALS) == ()
    assert chosen(" b ,torch", RIVALS) == (RIVALS[1], RIVALS[0])
    with pytest.raises(UsageError, match="no peer named 'torhc' here. Close: torch"):
        chosen("torhc", RIVALS)


def test_a_peer_knows_whether_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    there, absent = RIVALS
    assert there.installed and there.version() == {"torch": torch.__version__}
    assert not absent.installed and absent.version() == {}
    monkeypatch.setitem(__import__("sys").modules, "ctranslate2", None)
    assert not Rival("c", "CTranslate2", "ctranslate2").installed
