"""Pictures as text: any that people have is read, and what is no picture says so."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from heedful.errors import HeedfulError, UsageError
from heedful.text import files
from heedful.text.pictures import Pictures, PictureTokenizer, opened, read, written
from heedful.text.specials import EOS, PAD, RESERVED

RED, WHITE = (200, 30, 20), (255, 255, 255)


def tokenizer(height: int = 4, width: int = 6, channels: int = 3) -> PictureTokenizer:
    return Pictures(height, width, channels).train([])


def noise(height: int, width: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (height, width, channels), dtype=np.uint8)


def packed(picture: Image.Image, kind: str = "PNG", **how: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **how)
    return file.getvalue()


def header(width: int, height: int) -> bytes:
    """A PNG that claims to be of this size, and has next to nothing in it."""
    parts = [
        b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0),
        b"IDAT" + zlib.compress(b"\0"),
    ]
    chunks = [
        struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part))
        for part in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture_comes_back_as_it_went_in(channels: int) -> None:
    pixels, t = noise(4, 6, channels), tokenizer(channels=channels)
    ids = t.encode(written(pixels))
    assert len(ids) == t.pixels == 24 and all(RESERVED <= i < t.size for i in ids)
    assert t.encode(t.decode([*ids, EOS, PAD])) == ids
    np.testing.assert_array_equal(t.drawn(ids), pixels)


def test_an_id_is_a_colour() -> None:
    pixels = np.array([[[255, 0, 16], [0, 1, 2]]], np.uint8)
    t = tokenizer(1, 2)
    ids = t.encode(written(pixels))
    assert ids == [RESERVED + 0xFF0010, RESERVED + 0x000102]
    assert t.pieces([*ids, EOS]) == ["#ff0010", "#000102", "<eos>"]


def test_what_is_missing_is_black_and_a_strange_id_is_refused() -> None:
    t = tokenizer(1, 3, 1)
    assert t.drawn([RESERVED + 9]).ravel().tolist() == [9, 0, 0]
    with pytest.raises(HeedfulError, match="not in this vocabulary"):
        t.decode([RESERVED + 256])


def test_the_vocabulary_is_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "pictures.json"
    tokenizer(5, 7, 1).save(path)
    loaded = files.load(path)
    assert isinstance(loaded, PictureTokenizer)
    assert (loaded.height, loaded.width, loaded.channels) == (5, 7, 1)
    path.write_text('{"format": 1, "kind": "pictures", "height": 0, "width": 2, "channels": 3}')
    with pytest.raises(HeedfulError, match="1 to 1024 pixels"):
        files.load(path)


@pytest.mark.parametrize("numbers", [(0, 4, 3), (4, 5000, 3), (4, 4, 2)])
def test_sizes_that_no_picture_has_are_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(UsageError):
        Pictures(*numbers)


@pytest.mark.parametrize(
    ("mode", "kind", "how"),
    [
        ("RGB", "PNG", {}),
        ("RGB", "BMP", {}),
        ("RGB", "GIF", {}),
        ("RGB", "WEBP", {"lossless": True}),
        ("RGB", "TIFF", {}),
        ("RGB", "PPM", {}),
        ("RGBA", "PNG", {}),
        ("P", "PNG", {}),
        ("P", "GIF", {}),
        ("CMYK", "JPEG", {"quality": 95}),
        ("CMYK", "TIFF", {}),
        ("YCbCr", "JPEG", {"quality": 95}),
    ],
)
def test_any_kind_of_colours_is_read(mode: str, kind: str, how: dict[str, object]) -> None:
    source = Image.new("RGB", (6, 4), RED).convert(mode)
    found = tokenizer().fit(opened(packed(source, kind, **how), "red"))
    assert np.abs(found.astype(int) - RED).max() <= 40  # palettes and JPEG are near, not exact


def test_colours_named_by_light_are_no_alpha() -> None:
    dark = Image.new("LAB", (6, 4), (0, 128, 128))
    assert tokenizer().fit(opened(packed(dark, "TIFF"), "lab")).max() < 60


@pytest.mark.parametrize(("mode", "value"), [("1", 1), ("L", 255), ("LA", (255, 255))])
def test_grey_is_read_as_colours(mode: str, value: object) -> None:
    found = tokenizer().fit(opened(packed(Image.new(mode, (6, 4), value)), "grey"))
    assert (found == 255).all() and found.shape == (4, 6, 3)


def test_sixteen_bits_become_eight() -> None:
    deep = Image.fromarray(np.array([[0, 257 * 7, 65_535]], np.uint16))
    found = tokenizer(1, 3, 1).fit(opened(packed(deep), "deep"))
    assert found.ravel().tolist() == [0, 7, 255]
    numbers = Image.fromarray(np.array([[0.0, 0.2, 1.0]], np.float32))
    found = tokenizer(1, 3, 1).fit(opened(packed(numbers, "TIFF"), "numbers"))
    assert found.ravel().tolist() == [0, 51, 255]


def test_what_is_see_through_stands_on_white() -> None:
    clear = Image.new("RGBA", (6, 4), (*RED, 0))
    assert (tokenizer().fit(opened(packed(clear), "clear")) == 255).all()
    palette = Image.new("P", (6, 4), 0)
    palette.putpalette([*RED, 0, 0, 0])
    found = tokenizer().fit(opened(packed(palette, transparency=0), "palette"))
    assert (found == 255).all()


def test_a_picture_stands_as_it_was_taken() -> None:
    lying = Image.new("RGB", (4, 2), "black")
    lying.putpixel((0, 0), WHITE)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter to the right
    found = tokenizer(4, 2, 1).fit(opened(packed(lying, exif=exif), "lying"))
    assert found[..., 0].argmax() == 1 and found.shape == (4, 2, 1)


def test_the_middle_is_taken_in_the_right_proportion() -> None:
    wide = np.zeros((4, 12, 3), np.uint8)
    wide[:, 4:8] = 255
    assert (tokenizer(4, 4).fit(Image.fromarray(wide)) == 255).all()
    assert (tokenizer(2, 2).fit(Image.fromarray(wide))[:, :, 0] > 200).all()


def test_one_pixel_is_a_picture_and_of_a_moving_one_the_first_is_taken() -> None:
    assert (tokenizer().fit(opened(packed(Image.new("RGB", (1, 1), RED)), "one")) == RED).all()
    frames = [Image.new("RGB", (6, 4), colour) for colour in (RED, WHITE)]
    moving = packed(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    assert (tokenizer().fit(opened(moving, "moving")) == RED).all()


@pytest.mark.parametrize("size", [(9_000, 9_000), (12_000, 12_000), (60_000, 60_000)])
def test_a_huge_picture_is_refused_before_it_is_unpacked(size: tuple[int, int]) -> None:
    with pytest.raises(
        HeedfulError,
        match="bomb.png (is .* pixels large|has very many pixels), and at most 64,000,000",
    ):
        opened(header(*size), "bomb.png")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no picture that is known here"),
        (b"a child in a pink dress", "is no picture that is known here"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is no picture that is known"),
        (header(4, 4), "is damaged or cut short"),
    ],
)
def test_what_is_no_picture_is_refused_by_name(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(content)
    with pytest.raises(HeedfulError, match=f"photo.png {reason}"):
        tokenizer().encode(str(path))


@given(st.integers(0, 10_000), st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF"]))
def test_a_picture_that_was_cut_short_is_refused(at: int, kind: str) -> None:
    whole = packed(Image.fromarray(noise(40, 40)), kind)
    part = whole[: at % (len(whole) // 2)]
    with pytest.raises(HeedfulError):
        opened(part, "part")


@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=6))
def test_a_damaged_picture_is_read_or_refused_and_nothing_else(at: int, damage: bytes) -> None:
    whole = packed(Image.fromarray(noise(20, 20)))
    begin = at % (len(whole) - len(damage))
    try:
        opened(whole[:begin] + damage + whole[begin + len(damage) :], "damaged")
    except HeedfulError as error:
        assert "damaged" in str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("missing.png", "no picture missing.png: check the name"),
        (".", "cannot be read: Is a directory"),
        ("a\0b", "cannot be read: embedded null"),
        ("x" * 5_000, "cannot be read: File name too long"),
        ("data:image/png;base64,???", "wrong base64"),
        ("data:image/png,abc", "must begin as in"),
        ("data:image/png;base64,YWJj", "a picture that is written out is no picture"),
    ],
)
def test_names_that_lead_nowhere_are_refused(
    text: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HeedfulError, match=reason) as caught:
        read(text)
    assert len(str(caught.value)) < 400
