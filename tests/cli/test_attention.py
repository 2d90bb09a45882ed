"""`attention`, `residuals`: a page, pictures and numbers of what a run attends to."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import heedful as package
from heedful.cli.main import run as run_command
from heedful.seeing.attention import look

from .conftest import SMALL_SETTINGS

TEXT = "1 0 1 1"


def data_of(page: Path) -> dict:
    held = re.search(r'id="heedful-data">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(held[1])


def size_of(png: Path) -> tuple[int, int]:
    head = png.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def test_a_page_is_written_and_opens(heedful, tiny_run: Path, tmp_path: Path, page) -> None:
    out = tmp_path / "page.html"
    answer = heedful("attention", tiny_run, "--text", TEXT, "--out", out)
    assert answer.status == 0 and answer.out == "" and f"wrote {out}" in answer.err
    (item,) = data_of(out)["items"]
    translator = package.load(tiny_run, device="cpu")
    assert item["look"]["target"] == item["tree"]["target"] == translator.translate([TEXT])[0]
    page.goto(out.as_uri())
    assert page.get_by_role("heading", name="Attention of tiny").count() == 1
    assert page.locator(".heedful-nodes button").count() == len(item["tree"]["nodes"]) - 1


def test_a_target_can_be_given(heedful, tiny_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    answer = heedful("attention", tiny_run, "--text", TEXT, "--target", "0 0", "--out", out)
    assert answer.status == 0
    (item,) = data_of(out)["items"]
    assert item["look"]["target"] == "0 0" and "tree" not in item


def test_the_numbers_are_the_models(heedful, tiny_run: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = heedful("attention", tiny_run, "--text", TEXT, "--json").json()
    assert not (tmp_path / "attention.html").exists()
    seen = look(package.load(tiny_run, device="cpu"), TEXT)
    for one, other in zip(found["attentions"], seen.attended, strict=True):
        assert one["kind"] == other.kind and one["keys"]["tokens"] == list(other.keys.tokens)
        np.testing.assert_allclose(one["layers"][0]["weights"], other.layers[0].weights, atol=1e-6)
        np.testing.assert_allclose(one["rollout"][0], other.rollout[0], atol=1e-6)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["cross, layer 1, head 1", "cross, layer 1, head 2"]),
        (("--kind", "encoder", "--head", "2"), ["encoder, layer 1, head 2"]),
        (("--kind", "decoder", "--layer", "1", "--head", "mean"), ["decoder, layer 1, mean"]),
        (("--head", "rollout", "--words"), ["cross, layer 1, rollout"]),
        (("--kind", "alignment"), ["alignment"]),
    ],
    ids=" ".join,
)
def test_pictures_are_drawn_for_papers(
    heedful, tiny_run: Path, tmp_path: Path, options, names: list[str]
) -> None:
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    answer = heedful("attention", tiny_run, "--text", TEXT, "--svg", svg, "--png", png, *options)
    assert answer.status == 0, answer.err
    assert not (tmp_path / "attention.html").exists()
    said = [text.text for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert all(name in said for name in names)
    assert sum("layer" in (text or "") for text in said) == sum("layer" in n for n in names)
    assert sum(text in ("0", "1", "<start>", "<eos>") for text in said) >= 4 * len(names)
    wide, high = size_of(png)
    assert wide > 500 and high > 400


def test_two_texts_are_compared(heedful, tiny_run: Path, tmp_path: Path) -> None:
    texts = ("--text", "1 0 1 1", "--against", "1 0 1 0", "--word", "0")
    out, png = tmp_path / "pair.html", tmp_path / "pair.png"
    answer = heedful("attention", tiny_run, *texts, "--out", out, "--png", png, "--json")
    assert answer.status == 0, answer.err
    pair = answer.json()
    assert pair["changed"] == 3 and pair["sides"][0]["place"] == 1
    assert data_of(out)["pairs"] == [pair]
    assert len(data_of(out)["items"]) == 2 and size_of(png)[0] > 500


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--kind", "encodr"), "no kind 'encodr'. Close: encoder"),
        (("--head", "0"), "--head is a number from 1 on, all, mean, rollout; got '0'"),
        (("--png", "a.jpg"), "--png writes a .png file, got 'a.jpg'"),
        (("--against", "1 0", "--target", "0"), "leave --target out"),
        (("--png", "{tmp}/a.png", "--layer", "2"), "no layer 2: attention to the source has 1"),
        (("--png", "{tmp}/a.png", "--head", "3"), "no head 3"),
        (("--against", "1 0 1 1"), "must differ in one word"),
        (("--to", "fr"), "cannot write 'fr' on demand"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_shown_is_said(
    heedful, tiny_run: Path, tmp_path: Path, options, said: str
) -> None:
    given = [option.format(tmp=tmp_path) for option in options]
    answer = heedful("attention", tiny_run, "--text", TEXT, *given)
    assert answer.status == 2 and said in answer.err


def test_a_page_that_cannot_be_written_is_said(heedful, tiny_run: Path, tmp_path: Path) -> None:
    answer = heedful("attention", tiny_run, "--text", TEXT, "--out", tmp_path / "no" / "a.html")
    assert answer.status == 1 and "cannot write" in answer.err


ENGLISH, FRENCH = "The cow ate the hay.", "La vache a mangé le foin."
FEW = {"train_examples": 60, "valid_examples": 3, "test_examples": 3, "text.size": 300}


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> dict[str, Path]:
    """Runs of two steps that say something about a text, about two, and one that cannot attend."""
    folder, made = tmp_path_factory.mktemp("judges"), {}
    few = [part for name, value in FEW.items() for part in ("--set", f"problem.{name}={value}")]
    for name, problem, preset in [
        ("language", "demo_language", "text_classifier_tiny"),
        ("translated", "demo_translated", "pair_classifier_tiny"),
        ("text", "demo_text", "recurrent_lm_tiny"),
    ]:
        made[name] = folder / name
        asked = ["train", problem, "--preset", preset, "--out", str(made[name]), "--steps", "2"]
        assert run_command([*asked, *few]) == 0
    return made


@pytest.mark.parametrize(
    ("name", "text", "kind", "rows"),
    [
        ("language", ENGLISH, "summary", ["<summary>"]),
        ("translated", f"{ENGLISH}\t{FRENCH}", "summary", ["<first>", "<second>"]),
        ("translated", f"{ENGLISH}\t{FRENCH}", "to_second", ["The", "hay", "<eos>"]),
    ],
    ids=["one text", "two texts", "between two texts"],
)
def test_a_classifier_is_shown(
    heedful, judges, tmp_path: Path, page, name: str, text: str, kind: str, rows: list[str]
) -> None:
    out, svg, png = (tmp_path / f"a.{suffix}" for suffix in ("html", "svg", "png"))
    pictures = ("--svg", svg, "--png", png, "--kind", kind, "--words")
    run = judges[name]
    answer = heedful("attention", run, "--text", text, "--json", "--out", out, *pictures)
    assert answer.status == 0, answer.err
    found = answer.json()
    translator = package.load(run, device="cpu")
    best = translator.decode([text])[0]
    assert found["target"] == found["labels"][0]["name"] == best.text
    assert np.log(found["labels"][0]["probability"]) == pytest.approx(best.score, abs=1e-5)
    for one, other in zip(found["attentions"], look(translator, text).attended, strict=True):
        assert one["kind"] == other.kind and one["queries"]["tokens"] == list(other.queries.tokens)
        np.testing.assert_allclose(one["layers"][0]["weights"], other.layers[0].weights, atol=1e-6)
    (item,) = data_of(out)["items"]
    assert item["look"]["labels"] == found["labels"] and "tree" not in item
    page.goto(out.as_uri())
    likely = page.get_by_role("table", name="How likely each label is").get_by_role("row").nth(1)
    assert likely.inner_text().split() == [best.text, f"{np.exp(best.score):.3f}"]
    said = [text.text for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert f"{kind}, layer 1, head 1" in said and set(rows) <= set(said)
    wide, high = size_of(png)
    assert wide > 500 and high > 300


def test_a_label_can_be_given_and_nothing_else(heedful, judges, tmp_path: Path) -> None:
    asked = ("attention", judges["language"], "--text", ENGLISH, "--json", "--target")
    assert heedful(*asked, "fr").json()["target"] == "fr"
    wrong = heedful(*asked, "de")
    assert wrong.status == 1 and "'de' is not a label that is learnt" in wrong.err
    empty = heedful(*asked, "")
    assert empty.status == 2 and "no label in the target" in empty.err


def test_a_model_that_attends_to_nothing_is_said(heedful, judges) -> None:
    answer = heedful("attention", judges["text"], "--text", ENGLISH)
    assert answer.status == 2
    assert "a model of the kind 'recurrent_lm' attends to nothing" in answer.err


def test_residuals_are_trained_and_drawn_by_one_command(heedful, tmp_path: Path) -> None:
    out = tmp_path / "residuals"
    asked = ("residuals", "--out", out, "--steps", "2", "--text", TEXT, *SMALL_SETTINGS)
    answer = heedful(*asked)
    assert answer.status == 0, answer.err
    items = data_of(out / "residuals.html")["items"]
    assert [item["name"] for item in items] == [
        "with residuals",
        "without residuals",
        "without, but with timing signals",
    ]
    named = [line.split("  ")[0] for line in answer.lines]
    assert named == ["model", *(item["name"] for item in items)]
    assert all("loss" in line and "exact_match" in line for line in answer.lines[1:])
    assert size_of(out / "residuals.png")[0] > 1000
    assert json.loads((out / "timing" / "config.json").read_text())["settings"]["model"][
        "residuals"
    ] == ("timing")

    again = heedful(*asked)
    assert again.status == 0 and "training" not in again.err
    other = heedful(*asked, "--set", "model.dim=16")
    assert other.status == 2 and "holds another run: model.dim" in other.err
    silent = heedful("residuals", "algorithmic_sort_problem")
    assert silent.status == 2 and "say with --text" in silent.err
