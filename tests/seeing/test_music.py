"""What is seen and heard of a piece: looks of notes, sound, a picture, a page that plays."""

import io
import wave
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from heedful.data.batch import Batch, pad
from heedful.decoding.composing import Composed
from heedful.models.building import build
from heedful.models.recurrent_lm import RecurrentLMConfig
from heedful.models.transformer import TransformerConfig, TransformerLMConfig
from heedful.nn.losses import Smoothing
from heedful.nn.watching import watch
from heedful.seeing.music import owners, seen
from heedful.seeing.sound import RATE, frequency, samples, wav
from heedful.text.chorale import Chorale
from heedful.text.melody import Melody
from heedful.text.midi import Note
from heedful.text.performance import Performance
from heedful.text.specials import EOS
from heedful.viz.music import music_page, roll_figure

PERFORMANCE, CHORALE, MELODY = (kind.train([]) for kind in (Performance(), Chorale(), Melody()))
PIECE = (
    "loud20 on60 wait50 off60 on60 wait20 on64 wait30 off60 off64 loud10 on67 wait100 off67 on72 "
    "wait40 off72"
)


def made(tokenizer=PERFORMANCE, config=None):
    torch.manual_seed(5)
    config = config or TransformerLMConfig(dim=16, layers=2, heads=2, ff=16, dropout=0.0)
    return build(config, {"targets": tokenizer}, shared=False, loss=Smoothing()).eval()


def composed(text: str = PIECE, given: int = 5) -> Composed:
    return Composed(PERFORMANCE.encode(text), range(given))


def accompanied(positions: str = "sinusoid"):
    """A model that reads a melody, and a piece to one: 72 72 74 76."""
    torch.manual_seed(5)
    numbers = {"dim": 16, "layers": 2, "heads": 2, "ff": 16, "dropout": 0.0}
    config = TransformerConfig(**numbers, positions=positions)
    vocabularies = {"inputs": MELODY, "targets": CHORALE}
    model = build(config, vocabularies, shared=False, loss=Smoothing()).eval()
    ids = CHORALE.encode("72 67 60 48 72 65 60 - 74 65 62 50 76 64 62 52")
    return model, Composed(ids, range(0, 16, 4), ids[::4])


class TestLooks:
    def test_every_symbol_of_a_key_belongs_to_its_note(self) -> None:
        ids = PERFORMANCE.encode(PIECE)
        notes = PERFORMANCE.notes(ids)
        assert [note.pitch for note in notes] == [60, 60, 64, 67, 72]
        of = [None, 0, None, 0, 1, None, 2, None, 1, 2, None, 3, None, 3, 4, None, 4]
        assert owners(PERFORMANCE, ids, notes) == of

    def test_a_key_struck_twice_at_once_is_two_notes(self) -> None:
        ids = PERFORMANCE.encode("on60 on60 wait10 off60 wait10 off60")
        notes = PERFORMANCE.notes(ids)
        assert [note.end for note in notes] == [0.1, 0.2]
        assert owners(PERFORMANCE, ids, notes)[:3] == [0, 1, None]

    def test_a_chorale_s_notes_are_its_voices(self) -> None:
        ids = CHORALE.encode("72 60 - 48 72 62 - 48 74 62 55 48")
        notes = CHORALE.notes(ids)
        found = owners(CHORALE, ids, notes)
        pitches = [None if i is None else notes[i].pitch for i in found]
        assert pitches == [72, 60, None, 48, 72, 62, None, 48, 74, 62, 55, 48]
        assert len(set(found) - {None}) == len(notes) == 6

    def test_looks_are_the_model_s_weights_summed_over_the_symbols_of_a_note(self) -> None:
        model, piece = made(), composed()
        shown = seen(model, PERFORMANCE, piece)
        with torch.no_grad(), watch(model) as heard:
            model.hidden(Batch({"targets": pad([piece.ids])}))
        whose = owners(PERFORMANCE, piece.ids, PERFORMANCE.notes(piece.ids))
        assert len(shown["layers"]) == len(heard.weights) == 2
        for layer, (name, weights) in zip(shown["layers"], heard.weights, strict=True):
            assert layer["name"] == name and len(layer["heads"]) == 2
            for head, matrix in zip(layer["heads"], weights[0], strict=True):
                assert len(head) == 5 and head[0] == []  # nothing sounded before the first
                place = 14  # on72, said after 14 symbols
                for other, weight in head[4]:
                    keys = [j for j in range(place) if whose[j] == other]
                    there = sum(float(matrix[place, j + 1]) for j in keys)
                    assert weight == pytest.approx(there, abs=1e-3)
                assert len(head[4]) == 4

    def test_what_was_given_is_told_apart_and_a_model_without_attention_has_no_looks(self) -> None:
        shown = seen(made(), PERFORMANCE, composed())
        assert [note[4] for note in shown["notes"]] == [1, 1, 0, 0, 0]
        assert shown["notes"][0] == [0.0, 0.5, 60, 77, 1] and shown["seconds"] == 2.4
        lstm = made(config=RecurrentLMConfig(dim=8, layers=1, dropout=0.0))
        assert seen(lstm, PERFORMANCE, composed())["layers"] == []

    def test_of_a_long_piece_the_end_is_looked_at(self) -> None:
        model = made(config=TransformerLMConfig(
            dim=16, layers=1, heads=2, ff=16, dropout=0.0, positions="learned:10"
        ))  # fmt: skip
        shown = seen(model, PERFORMANCE, composed())
        head = shown["layers"][0]["heads"][0]
        assert head[1] == [] and head[4] and {other for other, _ in head[4]} <= {1, 2, 3}


class TestAccompaniment:
    def test_what_is_given_is_the_melody_and_it_is_looked_at_ahead_too(self) -> None:
        model, piece = accompanied()
        shown = seen(model, CHORALE, piece)
        notes = CHORALE.notes(piece.ids)
        whose = owners(CHORALE, piece.ids, notes)
        assert [note[4] for note in shown["notes"]] == [int(n.channel == 0) for n in notes]
        kinds = [(layer["kind"], layer["number"]) for layer in shown["layers"]]
        assert kinds == [("self", 1), ("cross", 1), ("self", 2), ("cross", 2)]
        with torch.no_grad(), watch(model) as heard:
            batch = {"inputs": pad([[*piece.melody, EOS]]), "targets": pad([piece.ids])}
            model.hidden(Batch(batch))
        alto = whose[1]  # the note that symbol 1 begins
        for layer in shown["layers"]:
            matrix = heard.by_name[layer["name"]][0, 0]
            assert layer["heads"][0][alto]
            for other, weight in layer["heads"][0][alto]:
                if layer["kind"] == "cross":
                    there = sum(float(matrix[1, j]) for j in range(4) if whose[4 * j] == other)
                else:
                    there = float(matrix[1, 1])  # the only one before it
                assert weight == pytest.approx(there, abs=1e-3)
        looks = shown["layers"][1]["heads"][0][alto]
        assert max(shown["notes"][other][0] for other, _ in looks) > 0

    def test_of_a_long_piece_the_end_of_the_melody_is_read_too(self) -> None:
        model, piece = accompanied("learned:8")  # the last two sixteenths
        shown = seen(model, CHORALE, piece)
        with torch.no_grad(), watch(model) as heard:
            batch = {"inputs": pad([[*piece.melody[2:], EOS]]), "targets": pad([piece.ids[8:]])}
            model.hidden(Batch(batch))
        layer = shown["layers"][1]
        whose = owners(CHORALE, piece.ids, CHORALE.notes(piece.ids))
        looks = dict(layer["heads"][0][whose[12]])  # of the last of the melody, symbol 4 of those
        row = heard.by_name[layer["name"]][0, 0, 4].tolist()
        assert looks == pytest.approx({whose[8]: row[0], whose[12]: row[1]}, abs=1e-3)


class TestSound:
    def test_a_note_has_its_pitch_and_its_time(self) -> None:
        assert frequency(69) == 440 and frequency(81) == 880
        sound = samples([Note(0.5, 1.5, 69, 100)])
        assert np.abs(sound[: int(0.49 * RATE)]).max() == 0
        strongest = np.abs(np.fft.rfft(sound[RATE // 2 : RATE // 2 + RATE])).argmax()
        assert abs(strongest - 440) <= 1
        assert np.abs(sound).max() == pytest.approx(0.9)
        assert np.abs(sound[-50:]).max() < 0.05

    def test_louder_notes_are_louder_and_the_highest_key_sounds(self) -> None:
        sound = samples([Note(0.0, 0.4, 60, 30), Note(1.0, 1.4, 60, 120)])
        assert np.abs(sound[: RATE // 2]).max() < 0.3 * np.abs(sound[RATE:]).max()
        assert np.isfinite(samples([Note(0.0, 0.1, 127, 100)])).all()
        assert np.isfinite(samples([Note(0.0, 0.1, 0, 100)])).all()

    def test_the_file_is_a_wav_as_long_as_the_piece(self) -> None:
        with wave.open(io.BytesIO(wav([Note(0.0, 2.0, 60, 64)]))) as found:
            assert (found.getnchannels(), found.getsampwidth(), found.getframerate()) == (
                1, 2, RATE,
            )  # fmt: skip
            assert found.getnframes() / RATE == pytest.approx(2.12, abs=0.01)


def test_the_picture_has_the_notes_in_it(tmp_path: Path) -> None:
    shown = seen(made(), PERFORMANCE, composed())
    roll_figure(tmp_path / "roll.png", shown["notes"], "a $title$")
    pixels = np.asarray(Image.open(tmp_path / "roll.png").convert("RGB"), np.int32)
    blue = (pixels[..., 2] - pixels[..., 0] > 60).mean()
    assert pixels.shape[1] > 1_000 and 0.01 < blue < 0.5


def test_the_page_draws_plays_and_leads_from_note_to_note(page, tmp_path: Path) -> None:
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    shown = seen(made(), PERFORMANCE, composed())
    lstm = made(config=RecurrentLMConfig(dim=8, layers=1, dropout=0.0))
    plain = seen(lstm, PERFORMANCE, composed(given=0))
    out = tmp_path / "page.html"
    third = seen(accompanied()[0], CHORALE, accompanied()[1])
    pieces = [{"name": "<b>one</b>", **shown}, {"name": "two", **plain}, {"name": "3", **third}]
    out.write_text(music_page("Composed & <played>", pieces), encoding="utf-8")
    page.goto(out.as_uri())
    assert page.get_by_role("heading", level=1).inner_text() == "Composed & <played>"
    assert page.get_by_role("heading", level=2).all_inner_texts() == ["<b>one</b>", "two", "3"]
    first, second, third = page.locator(".piece").all()
    assert first.locator("rect.note").count() == 5 and first.locator(".given").count() == 2
    assert "5 notes in 2.4 seconds, of which 2 were given" in first.inner_text()
    assert first.locator(".arc").count() == 0
    first.locator("rect.note").nth(4).click()
    assert first.locator(".chosen").count() == 1
    assert first.locator(".arc").count() == first.locator(".looked").count() == 4
    said = first.locator(".said").inner_text()
    assert said.startswith("Note 5, C5 at 2.00 s: looks at ") and said.count("%") == 4
    first.get_by_label("Note").fill("0")
    assert first.locator(".said").inner_text() == "Note 1, C4 at 0.00 s"
    first.locator("rect.note").nth(3).click()
    one = first.locator(".said").inner_text()
    first.get_by_label("Attention of").select_option("0")
    assert first.locator(".said").inner_text() != one
    assert "no arcs" in second.inner_text() and second.get_by_role("combobox").count() == 0
    labels = third.get_by_label("Attention of").locator("option").all_inner_texts()
    assert labels == ["layer 1", "layer 1, to the melody", "layer 2", "layer 2, to the melody"]
    third.locator("rect.note").nth(0).click()
    assert third.locator(".arc").count() > 0
    second.get_by_role("button", name="Play").click()
    second.locator(".said").filter(has_text="Note ").wait_for()
    second.get_by_role("button", name="Stop").click()
    assert second.get_by_role("button", name="Play").count() == 1
    assert heard == []
