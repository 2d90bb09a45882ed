"""Where each word looked: as numbers, and as a page in a real browser."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.cli.main import run
from heedful.config import vary
from heedful.decoding.translator import Translator
from heedful.errors import UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.presets.base import Decode
from heedful.problems.captions_shapes import drawn
from heedful.registry import presets
from heedful.seeing.captions import gaze, reads_pictures
from heedful.text.pictures import Pictures, read, written
from heedful.text.words import Words
from heedful.viz.captions import caption_page

PICTURE = drawn([7, 13], [("red", "square"), ("blue", "ring")])
TEXT = "red square blue ring"


def translator(preset: str = "caption_attend_shapes", **numbers: object) -> Translator:
    torch.manual_seed(4)
    tokenizers = {"inputs": Pictures(30, 30).train([]), "targets": Words().train([TEXT])}
    small = {"model.dim": 16, "model.hidden": 16, "model.score": 8}
    if preset.startswith("transformer"):
        small = {"model.dim": 16, "model.heads": 2, "model.ff": 16, "model.layers": 2}
    changes = {f"model.{name}": value for name, value in numbers.items()}
    config = vary(presets.get(preset)(), {**small, **changes}).model
    model = build(config, tokenizers, shared=False, loss=Smoothing(amount=0.0)).eval()
    return Translator(model, tokenizers, Decode(beam=1, extra_length=0, longest_input=2_000))


@pytest.mark.parametrize("preset", ["caption_attend_shapes", "transformer_tiny"])
def test_every_word_and_the_end_look_at_the_cells(preset: str) -> None:
    seen = gaze(translator(preset), written(PICTURE), TEXT)
    assert seen.words == [*TEXT.split(), "<eos>"] and seen.caption == TEXT
    assert seen.grid == (5, 5) and seen.size == (30, 30) and seen.side == 6
    assert seen.weights.shape == (5, 25)
    np.testing.assert_allclose(seen.weights.sum(1), 1, atol=1e-5)
    np.testing.assert_array_equal(np.asarray(read(seen.picture)), PICTURE)


def test_what_is_seen_is_what_the_model_weighed() -> None:
    ours = translator()
    seen = gaze(ours, written(PICTURE), TEXT)
    heard = []
    ours.model.body.gaze.note = lambda weights, keys: heard.append(weights)
    from heedful.seeing.reading import passage

    with torch.no_grad():
        ours.model.hidden(passage(ours, written(PICTURE), TEXT).batch)
    np.testing.assert_allclose(seen.weights, heard[0][0, 0].numpy(), atol=1e-6)


def test_a_larger_picture_is_shown_larger(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    read(written(PICTURE.repeat(20, 0).repeat(20, 1))).save(path)
    seen = gaze(translator(), str(path), TEXT)
    assert read(seen.picture).size == (300, 300)


def test_a_model_that_attends_to_nothing_and_one_of_text_are_told() -> None:
    with pytest.raises(UsageError, match="looks at no cell more than at others"):
        gaze(translator(attend="mean"), written(PICTURE), TEXT)
    words = Words().train([TEXT])
    sizes = {"inputs": words.size, "targets": words.size}
    config = presets.get("caption_attend_tiny")().model
    model = build(config, sizes, shared=True, loss=Smoothing()).eval()
    plain = Translator(model, {"inputs": words, "targets": words}, Decode())
    assert not reads_pictures(plain) and reads_pictures(translator())
    with pytest.raises(UsageError, match="reads no pictures"):
        gaze(plain, TEXT, TEXT)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two steps on four pictures."""
    out = tmp_path_factory.mktemp("run") / "shapes"
    settings = {
        "problem.train_examples": 20,
        "problem.valid_examples": 1,
        "problem.test_examples": 1,
        "model.dim": 8,
        "model.hidden": 8,
        "batch.tokens": 1_802,
        "decode.extra_length": 0,
    }
    asked = ["train", "caption_shapes", "--preset", "caption_attend_shapes", "--out", str(out)]
    given = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    assert run([*asked, "--steps", "2", "--device", "cpu", *given]) == 0
    return out


def test_the_page_shows_the_picture_for_every_word(page, trained: Path, tmp_path: Path) -> None:
    picture, out = tmp_path / "two <shapes>.png", tmp_path / "page.html"
    read(written(PICTURE)).save(picture)
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    asked = ["attention", str(trained), "--text", str(picture), "--target", TEXT]
    assert run([*asked, "--out", str(out), "--device", "cpu"]) == 0
    page.goto(out.as_uri())
    assert page.get_by_role("heading", level=2).inner_text() == TEXT
    assert page.get_by_text("two <shapes>.png").count() == 1
    figures = page.locator(".words figure")
    assert figures.count() == 5
    assert figures.nth(0).locator("figcaption b").inner_text() == "red"
    assert figures.nth(0).locator("rect").count() == 26
    assert figures.nth(0).locator("rect.most").bounding_box()["width"] > 10
    shown = page.locator("image").evaluate("e => e.getBoundingClientRect().width")
    assert shown > 100
    assert page.get_by_role("row").count() == 0  # the table waits
    page.get_by_text("The weights as a table").click()
    assert page.get_by_role("row").count() == 6
    assert heard == []


def test_numbers_come_as_json(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["attention", str(trained), "--text", written(PICTURE), "--target", TEXT, "--json"]
    assert run([*asked, "--device", "cpu"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["words"][:4] == TEXT.split() and len(found["weights"][0]) == 25


def test_what_is_no_picture_is_one_line(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["attention", str(trained), "--text", "nowhere.png", "--device", "cpu"]) == 1
    assert "no picture nowhere.png" in capsys.readouterr().err
    asked = ["attention", str(trained), "--text", written(PICTURE), "--device", "cpu"]
    assert run([*asked, "--png", str(tmp_path / "a.png")]) == 2
    assert "this model reads pictures" in capsys.readouterr().err


def test_lines_of_files_are_decoded_and_a_bad_one_is_told(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    read(written(PICTURE)).save(good)
    bad.write_bytes(good.read_bytes()[:60])
    lines, out = tmp_path / "lines.txt", tmp_path / "out.txt"
    lines.write_text(f"{good}\n{bad}\n{good}\n")
    asked = ["decode", str(trained), "-i", str(lines), "-o", str(out), "--device", "cpu"]
    run(asked)
    said = out.read_text().split("\n")[:3]
    assert said[0] == said[2] and said[1] == ""
    assert "bad.png is damaged" in capsys.readouterr().err


def test_words_on_the_page_stay_words() -> None:
    item = {
        "text": "<b>x</b>",
        "picture": written(PICTURE),
        "caption": "<i>dog</i>",
        "size": [30, 30],
        "grid": [1, 2],
        "side": 15,
        "words": ['<u>"dog"</u>'],
        "weights": [[0.25, 0.75]],
    }
    made = caption_page("a & b", [item])
    assert "<i>dog" not in made and "<b>x</b>" not in made and "<u>" not in made
    assert "0.75 at row 1, column 2" in made and made.count("<use ") == 1
