"""The report: ordered, plain in a terminal, and a page that is well-formed and escaped."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from heedful.doctor.checkup import Checkup
from heedful.doctor.finding import Case, Finding, graded, percent, worst_first
from heedful.doctor.lengths import MOST, Lengths
from heedful.doctor.page import page
from heedful.doctor.report import Report
from heedful.doctor.scripts import Scripts, letters, script
from heedful.doctor.trial import Trial

EVIL = "<script>alert('x')</script> & \"quotes\" \x1b[31m"
VOID = {"meta"}


def lengths(*values: int) -> Lengths:
    made = Lengths()
    for value in values:
        made.add(value)
    return made


@pytest.fixture
def report() -> Report:
    splits = {
        split: {"examples": 4, "empty": 0, "tokens": {"inputs": 9}, "longest": {"inputs": 5}}
        for split in ("train", "valid")
    }
    case = Case("train", 7, {"inputs": EVIL, "targets": "a" * 500}, EVIL)
    findings = [
        Finding("ok", "fine", "all fine"),
        Finding("problem", "bad", EVIL, 3, EVIL, (case,)),
        Finding("note", "some", "a note"),
    ]
    checkup = Checkup(
        findings,
        {"inputs": {"words": lengths(1, 2, 2, 90), "tokens": Lengths()}},
        {"train": 2, "valid": 4},
        splits,
    )
    trial = Trial([Finding("warning", "slow", "slow", 1.5)], {"parameters": 12})
    return Report("<b>own</b>", "small", checkup, trial)


def test_the_worst_comes_first_in_the_text(report) -> None:
    lines = report.text().splitlines()
    assert lines[0] == "<b>own</b> with small: 1 problem, 1 warning, 1 note"
    marks = [line.split()[0] for line in lines[1:] if line[:1].strip()]
    assert marks == ["PROBLEM", "WARNING", "note", "ok", "text"]
    assert "2 of 4 train examples (--examples 0 reads all)" in lines[-1]


def test_a_terminal_is_not_told_to_do_anything(report) -> None:
    case = next(line for line in report.text().splitlines() if "train 7" in line)
    assert "\x1b" not in case.partition(": ")[2] and case.endswith("…")


def test_all_well_is_said(report) -> None:
    well = Report("own", "small", Checkup([Finding("ok", "a", "b")]), Trial([], {}))
    assert well.summary() == "own with small: all is well" and well.sampled() == ""


def test_json_has_the_promised_shape(report) -> None:
    shape = json.loads(json.dumps(report.to_json()))
    assert set(shape) == {
        *("problem", "preset", "counts", "findings", "splits", "texts_read", "histograms", "run")
    }
    assert shape["counts"] == {"problem": 1, "warning": 1, "note": 1, "ok": 1}
    first = shape["findings"][0]
    assert set(first) == {"level", "name", "title", "number", "advice", "examples"}
    assert set(first["examples"][0]) == {"split", "number", "note", "texts"}
    assert len(first["examples"][0]["texts"]["targets"]) == 160
    assert shape["histograms"]["inputs"]["words"]["longest"] == 90
    assert shape["run"] == {"parameters": 12}


class Reader(HTMLParser):
    """Checks that what is opened is closed, and collects what there is."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag, attributes) -> None:
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text += data


def test_the_page_is_well_formed_self_contained_and_escaped(report) -> None:
    written = page(report)
    reader = Reader()
    reader.feed(written)
    reader.close()
    assert reader.open == [] and "script" not in reader.tags and reader.tags.count("b") == 4
    assert reader.text.count("<script>alert('x')</script>") == 4  # title, advice, text and note
    assert not {"src", "href", "onload"} & {name for name, _ in reader.attributes}
    assert not re.search(r"https?:|url\(|@import", written)
    assert "prefers-color-scheme: dark" in written and ("lang", "en") in reader.attributes


def test_the_histograms_can_be_heard(report) -> None:
    written = page(report)
    assert written.count("<svg") == written.count('role="img"') == 1  # the empty one is left out
    labelled = set(re.findall(r'aria-labelledby="([^"]+)"', written))
    assert labelled <= set(re.findall(r'id="([^"]+)"', written)) and len(labelled) == 4
    assert "half have up to 2 words, 95 % up to 90, the longest 90" in written
    assert written.count("<th") - written.count("<thead") == written.count('scope="')


def test_bars_cover_every_length_once() -> None:
    made = Lengths()
    made.add_many(np.array([3] * 500 + list(range(1, 400)) + [MOST + 5], np.int32))
    bars = made.bars()
    assert sum(bar.count for bar in bars) == made.count == 900
    assert all(a.end + 1 == b.begin for a, b in zip(bars, bars[1:], strict=False))
    assert (bars[0].begin, bars[-1].end, made.longest) == (1, MOST + 5, MOST + 5)
    assert made.quantile(0.5) == 3 and made.mean == pytest.approx(made.sum / 900)
    assert Lengths().bars() == [] and Lengths().to_json()["mean"] == 0


def test_one_length_is_one_bar() -> None:
    assert [(bar.begin, bar.end, bar.count) for bar in lengths(4, 4).bars()] == [(4, 4, 2)]


def test_levels_go_by_shares() -> None:
    shares = (0.0, 0.001, 0.01, 0.5)
    assert [graded(s, warning=0.01, problem=0.1) for s in shares] == [
        *("ok", "note", "warning", "problem")
    ]
    assert percent(0.0) == "0 %" and percent(0.25) == "25.0 %" and percent(1e-5) == "under 0.1 %"
    levels = [f.level for f in worst_first([Finding("ok", "", ""), Finding("problem", "", "")])]
    assert levels == ["problem", "ok"]


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("a", "Latin"),
        ("ß", "Latin"),
        ("ж", "Cyrillic"),
        ("猫", "Han or Kana"),
        ("の", "Han or Kana"),
        ("Ａ", "Latin"),
        ("ｶ", "Han or Kana"),
        ("가", "Hangul"),
        ("ع", "Arabic"),
        ("7", ""),
        ("𝐀", ""),
        ("ª", ""),
    ],
)
def test_letters_have_a_script(character: str, name: str) -> None:
    assert script(character) == name


def test_a_line_without_letters_is_in_no_wrong_script() -> None:
    scripts = Scripts(("targets",))
    for index, text in enumerate(["жук", "12 34", "стол", "…"]):
        scripts.see("train", index, {"targets": text})
    (found,) = scripts.findings()
    assert found.level == "ok" and found.title.startswith("targets are written in Cyrillic")


def test_letters_are_counted_by_script() -> None:
    assert letters("Abc, 12!") == {"Latin": 3}
    assert letters("жук in 2 猫") == {"Cyrillic": 3, "Latin": 2, "Han or Kana": 1}
    assert letters("12 34 …").total() == 0
