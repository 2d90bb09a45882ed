"""Looking into models that write no text: classifiers are shown, and what attends to nothing is
refused with a reason."""

from collections.abc import Iterator

import pytest

from heedful.decoding.translator import Translator
from heedful.seeing.attention import look
from heedful.text.labels import LabelTokenizer
from heedful.text.two_texts import TwoTextsTokenizer
from heedful.text.words import Words

from .conftest import Running, running, untrained

TEXT, TWO = "the cow ate the hay", "the cow ate\tit was hungry"
PRESETS = {
    "one": "text_classifier_tiny",
    "two": "pair_classifier_tiny",
    "layers": "transformer_classifier_tiny",
    "none": "recurrent_lm_tiny",
}


@pytest.fixture(scope="module")
def judges() -> Iterator[tuple[Running, dict[str, Translator]]]:
    words = TwoTextsTokenizer(Words().train([TEXT, TWO]))
    labels = {"inputs": words, "targets": LabelTokenizer(["no", "yes"])}
    served = [
        untrained(name, preset, labels if name != "none" else {"targets": words.plain})
        for name, preset in PRESETS.items()
    ]
    with running(served) as server:
        yield server, {one.name: one.translator for one in served}


@pytest.mark.parametrize(("name", "text"), [("one", TEXT), ("two", TWO), ("layers", TWO)])
def test_a_classifier_is_looked_into(judges, name: str, text: str) -> None:
    server, offline = judges
    answer = server.post("/attention", {"text": text, "model": name})
    assert answer.status_code == 200, answer.text
    assert answer.json() == look(offline[name], text).to_json()
    assert {label["name"] for label in answer.json()["labels"]} == {"no", "yes"}
    named = server.post("/attention", {"text": text, "model": name, "target": "yes"})
    assert named.status_code == 200 and named.json()["target"] == "yes"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ({"text": TEXT, "model": "none"}, "'recurrent_lm' attends to nothing"),
        ({"text": TEXT, "model": "one", "target": "perhaps"}, "'perhaps' is not a label"),
        ({"text": TEXT, "model": "one", "target": ""}, "no label in the target"),
        ({"text": "a\tb\tc", "model": "two"}, "two texts have one tab between them"),
        ({"text": "the " * 300, "model": "one"}, "256 is the most to look at"),
    ],
    ids=["nothing", "no label", "empty", "three texts", "long"],
)
def test_what_cannot_be_looked_into_is_said(judges, ask: dict[str, str], said: str) -> None:
    answer = judges[0].post("/attention", ask)
    assert answer.status_code == 422 and said in answer.json()["detail"]


def test_who_attends_is_known_beforehand(judges) -> None:
    found = {one["name"]: one["attends"] for one in judges[0].get("/models").json()["models"]}
    assert found == {"one": True, "two": True, "layers": True, "none": False}


def test_the_page_shows_the_labels_of_a_classifier(judges, page) -> None:
    server, offline = judges
    page.goto(server.url)
    page.locator("#text").fill(TEXT)
    page.locator("#said[data-state=done]").wait_for()
    page.get_by_role("button", name="Attention").click()
    table = page.get_by_role("table", name="How likely each label is")
    table.wait_for()
    best = look(offline["one"], TEXT).labels[0]
    assert table.get_by_role("row").nth(1).inner_text().split() == [
        best.name,
        f"{best.probability:.3f}",
    ]
    page.get_by_role("combobox", name="Model").select_option("none")
    assert not page.get_by_role("button", name="Attention").is_visible()
