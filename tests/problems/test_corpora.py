"""Corpora of the layouts that are published, small, on a local server; and the real ones."""

import gzip
import io
import lzma
import random
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from heedful.config import from_json, to_json, vary
from heedful.data.preparation import Prepared, prepare, source_of
from heedful.data.progress import Progress
from heedful.data.sources import Download, fetch
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID
from heedful.problems.corpora import Corpus, aligned, interleaved
from heedful.problems.tatoeba import bucket_of
from heedful.registry import problems
from heedful.text.subwords import Subwords

NAMES = [
    *("multi30k_en_de", "multi30k_de_en", "multi30k_en_fr", "multi30k_en_cs"),
    *("tatoeba_en_de", "tatoeba_de_en", "tatoeba_en_fr", "tatoeba_fr_en"),
    *("iwslt14_de_en", "iwslt14_en_de", "wmt14_en_de", "wmt14_en_fr"),
]
SMALL = {"text.size": "300"}
REAL = Path(__file__).parents[2].parent / "shared" / "data"
real = pytest.mark.skipif(
    not (REAL / "multi30k").is_dir(),
    reason="no real corpora in ../shared/data, beside the checkout",
)


def text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def said(what: str, language: str, count: int) -> list[str]:
    return [f"{what} {i} in {language} über alles." for i in range(count)]


def tar(members: dict[str, bytes], mode: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def sgm(lines: list[str]) -> bytes:
    inner = [f'<seg id="{i}"> {line} </seg>' for i, line in enumerate(lines, 1)]
    return text(['<srcset setid="x" srclang="any">', '<doc docid="1">', "<p>", *inner, "</p>"])


def multi30k() -> dict[str, bytes]:
    parts = {"train": 40, "val": 5, "test_2016_flickr": 4}
    return {
        f"multi30k/{part}.{language}.gz": gzip.compress(text(said(part, language, count)))
        for part, count in parts.items()
        for language in ("en", "de", "fr", "cs")
    }


def tatoeba() -> dict[str, bytes]:
    files = {}
    for language, code in {"de": "deu", "fr": "fra"}.items():
        pairs = zip(said("pair", "en", 600), said("pair", language, 600), strict=True)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            lines = [f"{a}\t{b}\tCC-BY 2.0 (France)\r" for a, b in pairs]
            archive.writestr("_about.txt", b"** Info **")
            archive.writestr(f"{code}.txt", text(lines))
        files[f"tatoeba/{code}-eng.zip"] = buffer.getvalue()
    return files


def iwslt14() -> dict[str, bytes]:
    members = {}
    for language in ("de", "en"):
        about = ["<url>http://ted.com</url>", "<keywords>a, b</keywords>", "<talkid>1</talkid>"]
        talk = [f"<title>Title in {language}</title>", "<description>On it</description>"]
        lines = [*about, *talk, *(f" {line} " for line in said("talk", language, 98))]
        lines += ["far too short" if language == "de" else "one two three four five", ""]
        members[f"de-en/train.tags.de-en.{language}"] = text(lines)
        for name in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"):
            xml = sgm(said(name, language, 2))
            members[f"de-en/IWSLT14.{name}.de-en.{language}.xml"] = xml
    return {"iwslt14/de-en.tgz": tar(members, "w:gz")}


def wmt14() -> dict[str, bytes]:
    parts = {
        "training-parallel-europarl-v7.tgz": "training/europarl-v7.{}-en.{}",
        "training-parallel-commoncrawl.tgz": "commoncrawl.{}-en.{}",
        "training-parallel-nc-v9.tgz": "training/news-commentary-v9.{}-en.{}",
        "training-parallel-un.tgz": "un/undoc.2000.{}-en.{}",
    }
    files = {}
    for archive, member in parts.items():
        members = {}
        for other in ("de", "fr"):
            for side in (other, "en"):
                members[member.format(other, side)] = text(said(archive[18:21], side, 20))
        files[f"wmt14/{archive}"] = tar(members, "w:gz")
    giga = {
        f"giga-fren.release2.fixed.{side}.gz": gzip.compress(text(said("giga", side, 20)))
        for side in ("fr", "en")
    }
    files["wmt14/training-giga-fren.tar"] = tar(giga, "w")
    tests = {f"dev/newstest2013.{s}": text(said("2013", s, 3)) for s in ("en", "de", "fr")}
    for other in ("de", "fr"):
        for kind in ("src", "ref"):
            for side in (other, "en"):
                name = f"dev/newstest2014-{other}en-{kind}.{side}.sgm"
                tests[name] = sgm(said(f"2014 {kind}", side, 2))
    return files | {"wmt14/dev.tgz": tar(tests, "w:gz")}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every corpus, small."""
    folder = tmp_path_factory.mktemp("published")
    for name, data in {**multi30k(), **tatoeba(), **iwslt14(), **wmt14()}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def server(published: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    handler = partial(Quiet, directory=str(published))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture
def small(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The published files are small ones on a local server, and so have other checksums."""

    def local(one: Download) -> Download:
        assert all(url.startswith(("https://", "http://")) for url in one.urls)
        assert all(url.endswith("/" + one.name.rpartition("/")[2]) for url in one.urls)
        urls = (f"{server}/{one.name}",) if one.urls else ()
        instead = local(one.instead) if one.instead else None
        return replace(one, urls=urls, sha256=None, size=None, instead=instead)

    def fetch_small(one: Download, folder: Path, progress: Progress) -> Path:
        return fetch(local(one), folder, progress)

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("HEEDFUL_MIRROR", raising=False)
    monkeypatch.setattr("heedful.problems.published.fetch", fetch_small)
    return server


def made(name: str, folder: Path) -> Prepared:
    return prepare(name, vary(problems.get(name)(), SMALL), folder)


def read(problem: Corpus, split: str, root: Path) -> list[tuple[str, str]]:
    examples = source_of(problem, root)(split, random.Random(1))
    return [(str(one["inputs"]), str(one["targets"])) for one in examples]


def test_there_are_these_corpora() -> None:
    for name in NAMES:
        problem = problems.get(name)()
        assert name.endswith(f"_{problem.source}_{problem.target}") and problems.describe(name)
        assert problem.metrics == ("bleu", "chrf", "exact_match") and problem.best_by == "bleu"
        assert set(problem.sizes) == {TRAIN, VALID, TEST}
        assert from_json(type(problem), to_json(problem)) == problem
    sizes = {name: problems.get(name)().text for name in NAMES}
    assert sizes["multi30k_en_de"] == Subwords(algorithm="unigram", size=8_000)
    assert sizes["tatoeba_en_de"] == Subwords(size=8_000)
    assert sizes["iwslt14_de_en"] == Subwords(size=10_000)
    assert sizes["wmt14_en_de"] == sizes["wmt14_en_fr"] == Subwords(size=32_000)


@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_is_downloaded_and_prepared(name: str, small: str, tmp_path: Path) -> None:
    prepared = made(name, tmp_path)
    assert all(prepared.info["splits"][split]["examples"] for split in (TRAIN, VALID, TEST))
    source, target = name.split("_")[1:]
    for split in (VALID, TEST):
        shards = prepared.split(split)
        for i in range(len(shards)):
            pair = shards.raw(i)
            assert f" in {source} über alles." in pair["inputs"], pair
            assert pair["targets"].replace("ref", "src") == pair["inputs"].replace(
                f" in {source} ", f" in {target} "
            )
    assert (tmp_path / "downloads" / name.split("_")[0]).is_dir()
    assert made(name, tmp_path).folder == prepared.folder


@pytest.mark.parametrize("name", ["multi30k_en_de", "tatoeba_fr_en", "iwslt14_de_en"])
@pytest.mark.parametrize("kind", ["folder", "url"])
def test_a_corpus_comes_from_a_mirror(
    name: str,
    kind: str,
    small: str,
    published: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(published) if kind == "folder" else small)
    prepared = made(name, tmp_path / "mirrored")
    monkeypatch.delenv("HEEDFUL_MIRROR")
    assert prepared.info == made(name, tmp_path / "plain").info


def test_files_of_another_content_are_refused(
    server: str, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(published))
    with pytest.raises(HeedfulError, match=r"train.en.gz is not multi30k/train.en.gz: it has"):
        made("multi30k_en_de", tmp_path)
    assert not list(tmp_path.glob("multi30k_en_de-*[!k]"))


def test_the_splits_of_multi30k_are_its_files(small: str, tmp_path: Path) -> None:
    problem = problems.get("multi30k_en_cs")()
    assert read(problem, VALID, tmp_path)[1] == (
        "val 1 in en über alles.",
        "val 1 in cs über alles.",
    )
    assert [len(read(problem, split, tmp_path)) for split in (TRAIN, VALID, TEST)] == [40, 5, 4]


def test_tatoeba_is_split_by_the_english(small: str, tmp_path: Path) -> None:
    sentences = said("pair", "en", 600)
    wanted = {
        TRAIN: [s for s in sentences if bucket_of(s) > 2],
        VALID: [s for s in sentences if bucket_of(s) == 1],
        TEST: [s for s in sentences if bucket_of(s) == 2],
    }
    assert any(bucket_of(s) == 0 for s in sentences)
    for split, english in wanted.items():
        there = read(problems.get("tatoeba_en_de")(), split, tmp_path)
        back = read(problems.get("tatoeba_de_en")(), split, tmp_path)
        assert [source for source, _ in there] == english
        assert back == [(target, source) for source, target in there]


def test_a_bucket_is_the_same_everywhere() -> None:
    assert [bucket_of(text) for text in ("Go.", "I know.", "Où ?")] == [86, 36, 56]


def test_a_line_without_a_tab_is_named(tmp_path: Path) -> None:
    (tmp_path / "deu-eng.tsv.xz").write_bytes(lzma.compress(b"Go.\tGeh.\nStop.\n"))
    files = {"tatoeba/deu-eng.tsv.xz": tmp_path / "deu-eng.tsv.xz"}
    with pytest.raises(HeedfulError, match=r"deu-eng.tsv.xz is not English.*line 2 has no tab"):
        list(problems.get("tatoeba_en_de")().pairs(TRAIN, files))


def test_iwslt14_is_split_as_usual(small: str, tmp_path: Path) -> None:
    problem = problems.get("iwslt14_de_en")()
    train, valid = (read(problem, split, tmp_path) for split in (TRAIN, VALID))
    assert train[0] == ("Title in de", "Title in en") and train[1] == ("On it", "On it")
    assert [source for source, _ in valid] == [
        f"talk {i} in de über alles." for i in (20, 43, 66, 89)
    ]
    assert len(train) + len(valid) == 100  # without the two that do not fit
    assert read(problem, TEST, tmp_path)[2][0] == "TEDX.dev2012 0 in de über alles."
    assert len(read(problem, TEST, tmp_path)) == 10
    strict = vary(problem, {"longest_words": "3"})
    assert {s for split in (TRAIN, VALID) for s, _ in read(strict, split, tmp_path)} == {
        "Title in de",
        "On it",
    }


def test_wmt14_mixes_its_corpora(small: str, tmp_path: Path) -> None:
    german, french = problems.get("wmt14_en_de")(), problems.get("wmt14_en_fr")()
    assert len(read(german, TRAIN, tmp_path)) == 60
    test = ("2014 src 0 in en über alles.", "2014 ref 0 in de über alles.")
    assert read(german, TEST, tmp_path)[0] == test
    assert not (tmp_path / "downloads" / "wmt14" / "training-giga-fren.tar").exists()
    first = [source.split()[0] for source, _ in read(french, TRAIN, tmp_path)]
    assert len(first) == 100 and set(first[:12]) >= {"eur", "com", "nc-", "un.", "giga"}
    assert read(vary(french, {"corpora": "un"}), TRAIN, tmp_path)[0][1].startswith("un. 0 in fr")


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("multi30k_en_de", {"target": "en"}, "Multi30k has no translations from 'en' to 'en'"),
        ("multi30k_en_de", {"source": "ru"}, "problem.source and problem.target are two of en, de"),
        ("tatoeba_en_de", {"source": "fr"}, "two of en, de, fr, one of them en"),
        ("wmt14_en_de", {"corpora": "giga"}, "no corpus 'giga' between English and 'de'"),
        ("wmt14_en_fr", {"corpora": "europal"}, "Close: europarl. There are: europarl, common"),
        ("wmt14_en_de", {"corpora": ""}, "problem.corpora names nothing to learn from"),
    ],
)
def test_what_a_corpus_has_not_is_said(name: str, changes: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        vary(problems.get(name)(), changes).downloads()


def test_examples_are_not_read_before_they_are_fetched() -> None:
    with pytest.raises(HeedfulError, match="heedful prepare does it"):
        problems.get("multi30k_en_de")().examples(TRAIN, random.Random(1))


@pytest.mark.parametrize(
    ("left", "right", "side"), [("ab", "abc", "source"), ("abc", "", "target")]
)
def test_sides_that_do_not_match_are_an_error(left: str, right: str, side: str) -> None:
    with pytest.raises(HeedfulError, match=rf"a\.\* does not match: its {side} side ends before"):
        list(aligned(iter(left), iter(right), "a.*"))


def test_corpora_come_up_in_proportion() -> None:
    def some(name: str, count: int) -> Iterator[tuple[str, str]]:
        return iter([(name, name)] * count)

    mixed = [a for a, _ in interleaved([(some("a", 30), 3), (some("b", 10), 1)])]
    assert mixed[:20].count("a") == 15 and len(mixed) == 40
    assert [a for a, _ in interleaved([(some("a", 1), 9), (some("b", 3), 1)])] == ["a", *"bbb"]


@real
@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("multi30k")])
def test_the_real_multi30k_has_its_lines(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    problem = problems.get(name)()
    for split, count in problem.sizes.items():
        pairs = read(problem, split, tmp_path)
        assert len(pairs) == count and all(source and target for source, target in pairs)


@real
@pytest.mark.parametrize(
    ("name", "counts"),
    [("tatoeba_en_de", (164_709, 1_734, 1_699)), ("tatoeba_fr_en", (162_306, 1_630, 1_596))],
)
def test_the_real_tatoeba_has_its_buckets(
    name: str, counts: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    problem = problems.get(name)()
    assert tuple(problem.sizes.values()) == counts
    assert tuple(len(read(problem, split, tmp_path)) for split in problem.sizes) == counts
