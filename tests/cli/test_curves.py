"""`curves`: several runs in one page or picture."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest


@pytest.fixture
def runs(tiny_run: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The run, and another with the same name whose log breaks off and holds a NaN."""
    other = tmp_path / "other" / "tiny"
    other.mkdir(parents=True)
    shutil.copy(tiny_run / "config.json", other)
    lines = (tiny_run / "log.jsonl").read_text().splitlines()
    broken = json.dumps({"kind": "train", "step": 61, "nll": float("nan"), "rate": 1.0})
    (other / "log.jsonl").write_text("\n".join([*lines, broken, lines[0][:20]]))
    return tiny_run, other


def test_a_page_draws_loss_scores_rate_and_speed(
    heedful, runs: tuple[Path, Path], tmp_path: Path, page
) -> None:
    out = tmp_path / "curves.html"
    answer = heedful("curves", *runs, "--out", out)
    assert answer.status == 0 and f"wrote {out}" in answer.err
    page.goto(out.as_uri())
    titles = page.locator("figcaption").all_inner_texts()
    for start in ("training loss", "exact match, valid", "learning rate", "speed"):
        assert sum(title.startswith(start) for title in titles) == 1
    first = "/".join(runs[0].parts[-2:])
    assert all(first in title and "other/tiny" in title for title in titles)

    log = [json.loads(line) for line in (runs[0] / "log.jsonl").read_text().splitlines()]
    losses = [record["nll"] for record in log if record["kind"] == "train"]
    loss = page.locator("figure").filter(has_text="training loss").locator("polyline")
    points = loss.first.get_attribute("points").split()
    assert len(points) == len(losses) == len(loss.nth(1).get_attribute("points").split())
    table = page.get_by_role("row").filter(has_text="training loss").get_by_role("cell")
    assert table.all_inner_texts()[0] == f"{losses[-1]:.4g}"
    colours = page.locator("figcaption .colour-1").first.evaluate("e => getComputedStyle(e).color")
    assert colours == "rgb(217, 130, 43)"


def test_a_picture_has_the_same_charts(heedful, runs: tuple[Path, Path], tmp_path: Path) -> None:
    svg, png = tmp_path / "curves.svg", tmp_path / "curves.png"
    assert heedful("curves", *runs, "--out", svg).status == 0
    said = {text.text for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")}
    assert {"training loss", "exact match, valid", "learning rate", "speed", "other/tiny"} <= said
    assert heedful("curves", runs[0], "--out", png).status == 0
    assert png.read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_said(heedful, tiny_run: Path, tmp_path: Path) -> None:
    answer = heedful("curves", tiny_run, "--out", "curves.gif")
    assert answer.status == 2 and "got 'curves.gif'" in answer.err
    answer = heedful("curves", tmp_path / "none")
    assert answer.status == 1 and "there is no such folder" in answer.err
    answer = heedful("curves", tiny_run, tiny_run)
    assert answer.status == 1 and "the same run was named twice" in answer.err
    empty = tmp_path / "empty"
    empty.mkdir()
    shutil.copy(tiny_run / "config.json", empty)
    assert "has it trained?" in heedful("curves", empty).err
    (empty / "log.jsonl").touch()
    answer = heedful("curves", empty)
    assert answer.status == 1 and "nothing to draw yet" in answer.err
