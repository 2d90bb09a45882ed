"""`positions`: sinusoids and learnt positions as pictures."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import torch

import heedful as package
from heedful.nn.positions import sinusoid
from heedful.seeing.places import learnt, likeness, signal

from .conftest import PRESET, PROBLEM, SMALL_SETTINGS


def words(svg: Path) -> set[str | None]:
    return {text.text for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")}


def test_sinusoids_are_drawn(heedful, tmp_path: Path) -> None:
    out = tmp_path / "sinusoid.svg"
    answer = heedful("positions", "--kind", "sinusoid", "--length", "9", "--dim", "8", "--out", out)
    assert answer.status == 0 and f"wrote {out}" in answer.err
    assert "sinusoid: a row a position, a column a channel" in words(out)
    assert (signal("sinusoid", 9, 8) == sinusoid(torch.arange(9), 8).numpy()).all()


def test_learnt_positions_are_those_of_the_run(heedful, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "learned.svg"
    asked = ("--set", "model.positions=learned:60", "--set", "problem.eval_length=6")
    settings = (*SMALL_SETTINGS, *asked)
    done = heedful("train", PROBLEM, "--preset", PRESET, "--out", run, "--steps", "1", *settings)
    assert done.status == 0, done.err
    answer = heedful("positions", run, "--kind", "learned", "--out", out)
    assert answer.status == 0 and any("learned:60" in (word or "") for word in words(out))
    table = package.load(run, device="cpu").model.body.encoder.positions.table
    assert (learnt(run, 7)[1] == table[:7].detach().numpy()).all()
    assert learnt(run, None)[1].shape == (60, 32)
    other = heedful("positions", run, "--kind", "sinusoid", "--out", out)
    assert other.status == 2 and "has positions of the kind learned:60, not sinusoid" in other.err


def test_positions_are_like_themselves() -> None:
    found = likeness(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [0.0, 0.0]]))
    half = 0.5**0.5
    expected = [[1, 0, half, 0], [0, 1, half, 0], [half, half, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_what_cannot_be_drawn_is_said(heedful, tiny_run: Path) -> None:
    assert "name one, as in" in heedful("positions", "--kind", "learned").err
    assert "Close: sinusoid" in heedful("positions", "--kind", "sinusoids").err
    assert "got 'a.pdf'" in heedful("positions", "--out", "a.pdf").err
    answer = heedful("positions", tiny_run, "--kind", "learned")
    assert (
        answer.status == 2 and "has positions of the kind sinusoid_t2t, not learned" in answer.err
    )
