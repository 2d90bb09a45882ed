"""Several problems as one: toy languages whose every sentence says where it is from."""

import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest

from heedful.config import from_json, to_json, vary
from heedful.data import preparation
from heedful.data.mixture import addressed
from heedful.data.preparation import Prepared, fingerprint, prepare
from heedful.errors import HeedfulError, UsageError
from heedful.problems.base import TEST, TRAIN, VALID, Example, Feature, Problem
from heedful.problems.multilingual import Multilingual
from heedful.registry import problems
from heedful.text.base import Text
from heedful.text.bytes import Bytes
from heedful.text.specials import EOS
from heedful.text.subwords import Subwords
from heedful.text.tagged import Addressed, Tagged, TaggedTokenizer

REAL = Path(__file__).parents[2].parent / "shared" / "data"


@dataclass(frozen=True, kw_only=True)
class Toy(Problem):
    """Words with the code of their language."""

    version: ClassVar[int] = 1
    source: str = "en"
    target: str = "de"
    splits: tuple[str, ...] = (TRAIN, VALID, TEST)
    size: int = 9
    text: Text = field(default_factory=Bytes)

    @property
    def direction(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def features(self) -> dict[str, Feature]:
        return {"inputs": Feature(self.text), "targets": Feature(self.text)}

    @property
    def sizes(self) -> dict[str, int | None]:
        return {split: self.size if split == TRAIN else 4 for split in self.splits}

    def examples(self, split: str, rng: random.Random) -> Iterator[Example]:
        for i in count():
            word = f"{split} {i} {rng.randrange(10**6)} <2{self.target}>"
            yield {"inputs": f"{self.source} {word}", "targets": f"{self.target} {word}"}


TOYS = {
    "toy_en_de": Toy(target="de", size=30),
    "toy_en_fr": Toy(target="fr", size=5),
    "toy_cs_de": Toy(source="cs", target="de"),
    "toy_en_de_2": Toy(target="de", size=8),
    "toy_more": Toy(target="pt-BR", splits=(TRAIN, VALID, TEST, "test_hard")),
    "toy_without_test": Toy(target="fr", splits=(TRAIN, VALID)),
    "toy_empty": Toy(target="fr", size=0),
    "toy_odd": Toy(target="<2fr>"),
}


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy languages, registered for the time of a test."""
    problems.names()
    for name, toy in TOYS.items():
        monkeypatch.setitem(problems._makers, name, lambda toy=toy: toy)


def mixed(*members: str) -> Multilingual:
    return Multilingual(members=members, text=Bytes())


def prepared(folder: Path, *members: str) -> Prepared:
    return prepare("multilingual", mixed(*members), folder)


def test_members_are_set_by_their_names() -> None:
    made = vary(problems.get("multilingual")(), {"members": "toy_en_de, toy_en_fr"})
    assert made.members == ("toy_en_de", "toy_en_fr") and made.tags == ("de", "fr")
    assert from_json(Multilingual, to_json(made)) == made
    assert list(made.sizes) == [TRAIN, VALID, TEST, "valid_de", "test_de", "valid_fr", "test_fr"]
    assert made.features["inputs"] == made.features["targets"]
    assert made.features["inputs"].text == Tagged(Subwords(size=16_000), ("de", "fr"))


def test_a_label_is_as_short_as_tells_members_apart() -> None:
    assert list(mixed("toy_en_de", "toy_en_fr").parts()) == ["de", "fr"]
    assert list(mixed("toy_en_de", "toy_cs_de", "toy_en_fr").parts()) == ["en_de", "cs_de", "fr"]
    assert list(mixed("toy_en_de", "toy_en_de_2").parts()) == ["toy_en_de", "toy_en_de_2"]
    assert mixed("toy_en_de", "toy_cs_de", "toy_en_fr").tags == ("de", "fr")
    assert "test_hard_pt_BR" in mixed("toy_more").sizes  # a file's name is made of it


def test_every_source_begins_with_its_tag(tmp_path: Path) -> None:
    data = prepared(tmp_path, "toy_en_de", "toy_cs_de", "toy_en_fr")
    tokenizer = data.tokenizer("inputs")
    assert isinstance(tokenizer, TaggedTokenizer) and data.info["vocabularies"] == {"shared": 261}
    for split in data.info["splits"]:
        shards = data.split(split)
        for i in range(len(shards)):
            ids = shards.example(i)
            source = tokenizer.decode(ids["inputs"].tolist())
            target = tokenizer.decode(ids["targets"].tolist())
            assert isinstance(source, Addressed) and source.to == target.split()[0]
            assert not isinstance(target, Addressed)
            assert sum(i >= 259 for i in ids["inputs"].tolist()) == 1  # typed tags are text
            if split != TRAIN:
                raw = shards.raw(i)
                assert raw["inputs"] == source and raw["targets"] == target
                assert [*tokenizer.encode(raw["inputs"]), EOS] == ids["inputs"].tolist()


def test_a_members_splits_are_its_own_and_the_overall_ones_have_all(tmp_path: Path) -> None:
    data = prepared(tmp_path, "toy_en_de", "toy_en_fr", "toy_more")
    alone = prepare("toy_en_fr", TOYS["toy_en_fr"], tmp_path)
    for split in (VALID, TEST):
        theirs, ours = alone.split(split), data.split(f"{split}_fr")
        assert [theirs.raw(i) for i in range(4)] == [ours.raw(i) for i in range(4)]
        overall = data.split(split)
        texts = [overall.raw(i)["targets"] for i in range(len(overall))]
        assert [text.split()[0] for text in texts] == ["de", "fr", "pt-BR"] * 4
        assert [text for text in texts if text.startswith("fr")] == [
            ours.raw(i)["targets"] for i in range(4)
        ]
    assert len(data.split("test_hard_pt_BR")) == 4
    assert data.info["splits"][TRAIN]["members"] == {"de": 30, "fr": 5, "pt-BR": 9}
    assert data.info["splits"]["test_fr"]["members"] == {"de": 0, "fr": 4, "pt-BR": 0}
    assert Prepared.open(data.folder).problem == data.problem


def test_training_examples_are_there_once_whatever_the_mixing(tmp_path: Path) -> None:
    train = prepared(tmp_path, "toy_en_de", "toy_en_fr").split(TRAIN)
    sources = {tuple(train.example(i)["inputs"].tolist()) for i in range(len(train))}
    assert len(train) == len(sources) == 35
    assert train.members is not None and Counter(train.members.tolist()) == {0: 30, 1: 5}


def test_the_vocabulary_is_learnt_from_all_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "SAMPLE_EXAMPLES", 4)  # of the 44 there are
    seen: list[str] = []

    @dataclass(frozen=True)
    class Noting(Bytes):
        kind: ClassVar[str] = "bytes"

        def train(self, texts):
            seen.extend(texts)
            return super().train(())

    members = ("toy_en_de", "toy_en_fr", "toy_more")
    prepare("multilingual", Multilingual(members=members, text=Noting()), tmp_path)
    assert [text.split()[0] for text in seen] == ["en", "de", "en", "fr", "en", "pt-BR", "en", "de"]


def test_examples_of_symbols_can_be_addressed_too() -> None:
    examples = iter([{"inputs": [1, 0, 2], "targets": [1], "member": "x"}])
    (found,) = addressed(examples, {"x": "de"})
    assert found["inputs"] == "1 0 2" and isinstance(found["inputs"], Addressed)


def test_what_a_member_is_is_part_of_what_the_data_depends_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint("multilingual", mixed("toy_en_de", "toy_en_fr"))
    assert before == fingerprint("multilingual", mixed("toy_en_de", "toy_en_fr"))
    assert before != fingerprint("multilingual", mixed("toy_en_fr", "toy_en_de"))
    monkeypatch.setitem(problems._makers, "toy_en_fr", lambda: Toy(target="fr", size=6))
    assert before != fingerprint("multilingual", mixed("toy_en_de", "toy_en_fr"))


@pytest.mark.parametrize("name", ["multi30k_en_de", "translate_demo_en_fr"])
def test_the_data_of_other_problems_depends_on_nothing_new(name: str) -> None:
    problem = problems.get(name)()
    depends = {
        "format": preparation.FORMAT,
        "name": name,
        "seed": 0,
        "version": problem.version,
        "fields": to_json(problem),
        "features": {f: to_json(feature) for f, feature in problem.features.items()},
        "sample": [preparation.SAMPLE_EXAMPLES, preparation.SAMPLE_CHARACTERS],
    }
    mark = hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()
    assert fingerprint(name, problem) == mark


@pytest.mark.parametrize(
    ("members", "says"),
    [
        (("toy_en_du",), "no problem named 'toy_en_du'. Close: toy_en_de"),
        (("algorithmic_identity_binary40",), "does not say into which language it translates"),
        (("own_files",), "does not say into which language it translates"),
        (("multilingual",), "does not say into which language it translates"),
        (("toy_en_de", "toy_en_de"), "names one twice"),
        (("toy_odd",), "'<2fr>' cannot be the tag of a language"),
    ],
)
def test_what_cannot_be_a_member_is_said_at_once(members: tuple[str, ...], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        mixed(*members)


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ((), "multilingual needs members: --set problem.members="),
        (("toy_en_de", "toy_without_test"), "'toy_without_test' cannot be .* has no test split"),
        (("toy_en_de", "toy_empty"), "member 'fr' .toy_empty. has no train example with two full"),
    ],
)
def test_what_cannot_be_prepared_is_said(
    members: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    with pytest.raises(HeedfulError, match=says):
        prepared(tmp_path, *members)
    assert not list(tmp_path.glob("multilingual-*/"))


def test_a_vocabulary_with_tags_is_not_for_a_problem_without(tmp_path: Path) -> None:
    data = prepared(tmp_path, "toy_en_de", "toy_en_fr")
    path = str(data.vocabulary("inputs"))
    plain = vary(TOYS["toy_en_de"], {"text": "vocabulary", "text.path": path})
    with pytest.raises(UsageError, match=r"\(de, fr\), and 'toy_en_de' uses none.*members=toy_en"):
        prepare("toy_en_de", plain, tmp_path)
    again = vary(mixed("toy_en_fr"), {"text": "vocabulary", "text.path": path})
    kept = prepare("multilingual", again, tmp_path)
    assert kept.tokenizer("inputs").tags == ("de", "fr")
    assert kept.split(TRAIN).example(0)["inputs"][0] == 260


@pytest.mark.skipif(
    not (REAL / "multi30k").is_dir(),
    reason="no real corpora in ../shared/data, beside the checkout",
)
def test_real_captions_into_three_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", os.fspath(REAL))
    members = ("multi30k_en_de", "multi30k_en_fr", "multi30k_en_cs")
    made = Multilingual(members=members, text=Bytes())
    read = made.fetch(tmp_path, lambda done, note: None)
    found = list(read("test_cs", random.Random(1)))
    assert len(found) == 1_000 and {example["member"] for example in found} == {"cs"}
    assert found[0]["inputs"] == "A man in an orange hat starring at something."
    overall = list(read(TEST, random.Random(1)))
    assert Counter(example["member"] for example in overall) == dict.fromkeys(made.tags, 1_000)
    assert [example["member"] for example in overall[:4]] == ["de", "fr", "cs", "de"]
