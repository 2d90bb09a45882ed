"""Captions: shapes that say where they are, your own folder, and Flickr8k as it is published."""

import io
import random
import zipfile
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from heedful.config import vary
from heedful.data.preparation import prepare
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.captions import FolderCaptions, read_captions
from heedful.problems.captions_shapes import COLOURS, SHAPES, CaptionShapes, drawn, named_cells
from heedful.registry import problems
from heedful.text.pictures import Pictures, read
from heedful.text.specials import EOS

REAL = Path(__file__).parent.parent.parent.parent / "shared" / "data"


def photo(colour: str = "red", kind: str = "JPEG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (20, 10), colour).save(file, kind)
    return file.getvalue()


class TestShapes:
    def test_two_shapes_are_named_from_left_to_right(self) -> None:
        for example in islice(CaptionShapes().examples(TRAIN, random.Random(1)), 200):
            picture = np.asarray(read(example["inputs"]))
            assert picture.shape == (30, 30, 3)
            words = example["targets"].split()
            cells = named_cells(picture)
            assert len(words) == len(cells) == 4
            assert cells[0] == cells[1] and cells[2] == cells[3] and cells[0] % 5 < cells[2] % 5
            for cell, colour, shape in zip(cells[::2], words[::2], words[1::2], strict=True):
                top, left = cell // 5 * 6, cell % 5 * 6
                part = picture[top : top + 6, left : left + 6]
                lit = part.any(-1)
                assert ["".join(".#"[int(x)] for x in row) for row in lit] == list(SHAPES[shape])
                assert (part[lit] == COLOURS[colour]).all()

    def test_no_picture_is_in_two_splits(self) -> None:
        made = {
            split: {
                e["inputs"] for e in islice(CaptionShapes().examples(split, random.Random(2)), 900)
            }
            for split in (TRAIN, VALID, TEST)
        }
        assert all(len(one) > 800 for one in made.values())
        assert len(set.union(*made.values())) == sum(map(len, made.values()))

    def test_shapes_differ_and_stay_within_their_cell(self) -> None:
        assert len({SHAPES[name] for name in SHAPES}) == len(SHAPES) == 4
        for rows in SHAPES.values():
            assert len(rows) == 6 and {len(row) for row in rows} == {6}
            assert "#" not in rows[0] + rows[-1] + "".join(row[0] + row[-1] for row in rows)
        assert named_cells(drawn([24, 3], [("red", "ring"), ("blue", "cross")])) == [3, 3, 24, 24]

    def test_the_same_seed_gives_the_same_pictures_and_they_are_prepared(
        self, tmp_path: Path
    ) -> None:
        problem = CaptionShapes(train_examples=30, valid_examples=4, test_examples=5)
        one = list(islice(problem.examples(TEST, random.Random(4)), 5))
        assert one == list(islice(problem.examples(TEST, random.Random(4)), 5))
        prepared = prepare("caption_shapes", problem, tmp_path)
        test = prepared.split(TEST)
        ids = test.example(0)["inputs"]
        assert len(ids) == 901 and ids[-1] == EOS
        pictures = prepared.tokenizer("inputs")
        assert pictures.encode(test.raw(0)["inputs"]) == ids[:-1].tolist()
        assert prepared.info["vocabularies"]["captions"] <= 3 + 8


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty pictures, each with two captions."""
    photos = tmp_path / "photos"
    photos.mkdir()
    lines = []
    for number in range(40):
        (photos / f"{number}.jpg").write_bytes(photo(("red", "green", "blue")[number % 3]))
        lines += [f"{number}.jpg\tA dog , number {number} .", f"{number}.jpg\tAnother  Dog ."]
    (tmp_path / "captions.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def own(folder: Path, name: str = "captions.tsv", **fields: object) -> FolderCaptions:
    return FolderCaptions(
        folder=str(folder / "photos"),
        captions=str(folder / name),
        pictures=Pictures(4, 4),
        **fields,
    )


class TestFolder:
    def test_every_caption_is_an_example_of_one_split(self, folder: Path) -> None:
        problem = own(folder)
        splits = {
            split: [dict(e) for e in problem.examples(split, random.Random(0))]
            for split in (TRAIN, VALID, TEST)
        }
        captions = [e["targets"] for one in splits.values() for e in one]
        assert len(captions) == 80 and captions.count("another dog .") == 40
        names = {split: {e["targets"] for e in one} for split, one in splits.items()}
        assert names[TRAIN] & names[VALID] == {"another dog ."} == names[TRAIN] & names[TEST]
        first, second = splits[TRAIN][:2]
        assert first["inputs"] == second["inputs"]  # captions of a picture stand together
        assert (folder / "captions.tsv") in problem.files() and len(problem.files()) == 41

    def test_prepared_pictures_need_their_files_no_more(self, folder: Path) -> None:
        prepared = prepare("captions", own(folder), folder / "data")
        (folder / "photos" / "1.jpg").unlink()
        test = prepared.split(TEST)
        assert prepared.tokenizer("inputs").encode(test.raw(0)["inputs"])
        assert test.lengths["inputs"].tolist() == [17] * len(test)

    def test_csv_a_header_and_flickrs_numbers_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "captions.csv"
        path.write_text('image,caption\na.jpg,"A dog, alone"\n\nb.jpg,A cat\n')
        assert list(read_captions(path)) == [(2, "a.jpg", "A dog, alone"), (4, "b.jpg", "A cat")]
        path = tmp_path / "captions.token.txt"
        path.write_text("a.jpg#0\tA dog\na.jpg#1\tA cat\n")
        assert [name for _, name, _ in read_captions(path)] == ["a.jpg", "a.jpg"]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("missing.jpg\tA dog", "line 81 of .*captions.tsv names the picture 'missing.jpg'"),
            ("0.jpg\t  ", "line 81 of .*captions.tsv has an empty caption for '0.jpg'"),
            ("0.jpg", "line 81 of .*captions.tsv has 1 column between tabs"),
            ("0.jpg\ta\tb", "line 81 of .*captions.tsv has 3 columns between tabs"),
            ("\tA dog", "line 81 of .*captions.tsv names no picture"),
        ],
    )
    def test_a_wrong_line_is_named(self, folder: Path, line: str, reason: str) -> None:
        with (folder / "captions.tsv").open("a") as file:
            file.write(line + "\n")
        with pytest.raises(HeedfulError, match=reason):
            prepare("captions", own(folder), folder / "data")

    def test_a_broken_picture_is_named_with_its_line(self, folder: Path) -> None:
        (folder / "photos" / "3.jpg").write_bytes(photo()[:200])
        with pytest.raises(HeedfulError, match="line 7 of .*captions.tsv: .*3.jpg is damaged"):
            prepare("captions", own(folder), folder / "data")

    def test_an_empty_folder_no_folder_and_no_captions_are_refused(self, folder: Path) -> None:
        (folder / "empty").mkdir()
        (folder / "none.tsv").write_text("image\tcaption\n")
        for fields, reason in (
            ({"folder": str(folder / "empty")}, "the folder of pictures .*empty is empty"),
            ({"folder": str(folder / "nowhere")}, "there is no folder of pictures .*nowhere"),
            ({"captions": str(folder / "none.tsv")}, "none.tsv has no captions"),
            ({"captions": str(folder / "nothing.tsv")}, "no file .*nothing.tsv"),
        ):
            with pytest.raises(HeedfulError, match=reason):
                prepare("captions", vary(own(folder), fields), folder / "data")
        with pytest.raises(UsageError, match="needs a folder of pictures and a file of captions"):
            list(FolderCaptions().examples(TRAIN, random.Random(0)))
        with pytest.raises(UsageError, match="problem.held_out must be over 0 and under 0.5"):
            own(folder, held_out=0.5).files()

    def test_a_split_that_nothing_falls_to_is_told(self, folder: Path) -> None:
        (folder / "captions.tsv").write_text("0.jpg\tA dog\n1.jpg\tA cat\n2.jpg\tA cow\n")
        with pytest.raises(HeedfulError, match="fell to the (train|valid|test) split"):
            prepare("captions", own(folder, held_out=0.001), folder / "data")


def flickr8k(folder: Path, photographs: list[str]) -> None:
    """The two files as they are published, with five captions a photograph."""
    (folder / "flickr8k").mkdir()
    with zipfile.ZipFile(folder / "flickr8k" / "Flickr8k_Dataset.zip", "w") as archive:
        archive.writestr("__MACOSX/._Flicker8k_Dataset", b"")
        for name in photographs:
            archive.writestr(f"Flicker8k_Dataset/{name}", photo("blue"))
    names = ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
    with zipfile.ZipFile(folder / "flickr8k" / "Flickr8k_text.zip", "w") as archive:
        lines = [f"{name}#{n}\tA Dog {n} runs ." for name in [*names, "z.jpg.1"] for n in range(5)]
        archive.writestr("Flickr8k.token.txt", "\n".join(lines) + "\n")
        archive.writestr("__MACOSX/._Flickr8k.token.txt", b"\xff")
        for split, which in (("train", names[:2]), ("dev", names[2:3]), ("test", names[3:])):
            archive.writestr(f"Flickr_8k.{split}Images.txt", "\n".join(which) + "\n")


class TestFlickr8k:
    def test_the_published_files_are_read_where_they_lie(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flickr8k(tmp_path, ["a.jpg", "b.jpg", "c.jpg", "d.jpg"])
        monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
        problem = vary(problems.get("flickr8k")(), {"pictures.height": 4, "pictures.width": 4})
        prepared = prepare("flickr8k", problem, tmp_path / "data")
        counts = {name: of["examples"] for name, of in prepared.info["splits"].items()}
        assert counts == {TRAIN: 10, VALID: 5, TEST: 5}
        assert prepared.split(TEST).raw(3)["targets"] == "a dog 3 runs ."

    def test_a_missing_photograph_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flickr8k(tmp_path, ["a.jpg", "c.jpg", "d.jpg"])
        monkeypatch.setenv("HEEDFUL_MIRROR", str(tmp_path))
        with pytest.raises(HeedfulError, match="no photograph b.jpg in .*Flickr8k_Dataset.zip"):
            prepare("flickr8k", problems.get("flickr8k")(), tmp_path / "data")
        with pytest.raises(HeedfulError, match="must be fetched first"):
            problems.get("flickr8k")().examples(TRAIN, random.Random(0))

    @pytest.mark.skipif(not (REAL / "flickr8k_1k").is_dir(), reason=f"no photographs at {REAL}")
    def test_the_first_thousand_are_split_by_photograph(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
        prepared = prepare("flickr8k_1k", problems.get("flickr8k_1k")(), tmp_path)
        counts = {name: of["examples"] for name, of in prepared.info["splits"].items()}
        assert counts == {TRAIN: 4_000, VALID: 500, TEST: 500}
        assert prepared.vocabulary("targets").exists()
        test = prepared.split(TEST)
        assert len({test.raw(i)["inputs"] for i in range(500)}) == 100
        assert set(test.lengths["inputs"]) == {1_025}
