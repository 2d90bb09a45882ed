"""Pages without a script, in a real browser: the doctor's and the comparison's."""

from pathlib import Path

import pytest

from heedful.cli.main import run
from heedful.viz import assets
from heedful.viz.curves import curves
from heedful.viz.page import page as document

PROBLEM = "algorithmic_identity_binary40"
SMALL = {
    "problem.train_examples": 120,
    "problem.valid_examples": 3,
    "problem.test_examples": 4,
    "problem.train_length": 6,
    "problem.eval_length": 6,
    "model.dim": 16,
    "model.heads": 2,
    "model.ff": 16,
    "model.layers": 1,
    "batch": "bucketed",
    "batch.tokens": 128,
    "decode.beam": 1,
    "training.log_every": 2,
    "training.evaluate_every": 2,
    "training.evaluate_examples": 2,
}
SETTINGS = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]


@pytest.fixture
def complaints(page) -> list[str]:
    """What the browser says about a page: broken policy, missing files, bad markup."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    return heard


def test_the_doctors_page_opens(page, complaints: list[str], tmp_path: Path) -> None:
    out = tmp_path / "look.html"
    asked = ["doctor", PROBLEM, "--preset", "transformer_tiny", "--html", str(out), *SETTINGS]
    assert run([*asked, "--device", "cpu"]) == 0
    page.goto(out.as_uri())
    assert page.get_by_role("heading", level=1).inner_text().startswith(PROBLEM)
    assert page.get_by_role("list").get_by_role("listitem").count() > 3
    bars = page.locator("svg rect")
    assert bars.count() > 2
    box = bars.first.bounding_box()
    assert box["width"] > 1 and box["height"] > 1
    assert page.locator("svg rect").first.evaluate("e => getComputedStyle(e).fill") == (
        "rgb(47, 111, 176)"
    )
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 29)"
    assert complaints == []


def test_the_comparisons_page_opens(page, complaints: list[str], tmp_path: Path) -> None:
    presets = "transformer_tiny,transformer_lm_tiny"
    asked = ["compare", PROBLEM, "--presets", presets, "--budget", "steps:4", "--out"]
    assert run([*asked, str(tmp_path / "out"), *SETTINGS]) == 0
    page.goto((tmp_path / "out" / "report.html").as_uri())
    rows = page.get_by_role("table").first.get_by_role("row")
    assert rows.count() == 3
    assert rows.nth(1).get_by_role("rowheader").inner_text() == "transformer_tiny"
    lines = page.locator("figure svg polyline")
    assert lines.count() >= 4 and lines.first.bounding_box()["width"] > 50
    key = page.locator("figcaption .colour-0").first
    assert key.evaluate("e => getComputedStyle(e).color") == "rgb(47, 111, 176)"
    assert complaints == []


def test_a_style_from_elsewhere_is_not_taken(page, complaints: list[str], tmp_path: Path) -> None:
    chart = curves("<b>loss</b>", "steps", "nats", {"<i>one</i>": [(0, 2.0), (1, 1.0)]})
    out = tmp_path / "page.html"
    out.write_text(document("x", [chart, '<p style="color: red" id="styled">red?</p>']))
    page.goto(out.as_uri())
    colour = page.locator("#styled").evaluate("e => getComputedStyle(e).color")
    assert colour == "rgb(29, 33, 41)"
    assert page.locator("figcaption b, figcaption i").count() == 0
    assert len(complaints) == 1 and "Content Security Policy" in complaints[0]


def test_assets_are_read_by_name() -> None:
    script = assets.read("attention.js")
    assert "heedful.drawAttention =" in script and "heedful.drawBeams =" in script
    assert ".heedful-lines" in assets.read("attention.css")
    for name in ("missing.js", "../page.py", "__init__.py", "/etc/hosts.css"):
        with pytest.raises(assets.HeedfulError, match="there is no script or style"):
            assets.read(name)
