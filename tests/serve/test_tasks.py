"""What a model does is said: on the page, in the API, and where it cannot be served."""

from collections.abc import Iterator

import pytest

from heedful.errors import UsageError
from heedful.text.labels import LabelTokenizer
from heedful.text.symbols import SymbolTokenizer
from heedful.text.two_texts import TwoTextsTokenizer
from heedful.text.words import Words

from .conftest import Running, running, untrained

expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=20_000)

WORDS = Words().train(["the cow ate the hay", "it was hungry"])
LABELS, BITS = LabelTokenizer(["no", "yes"]), SymbolTokenizer(2)
MODELS = {
    "words": ("transformer_tiny", {"inputs": WORDS, "targets": WORDS}),
    "label": ("text_classifier_tiny", {"inputs": WORDS, "targets": LABELS}),
    "two": ("pair_classifier_tiny", {"inputs": TwoTextsTokenizer(WORDS), "targets": LABELS}),
    "more": ("transformer_lm_tiny", {"targets": WORDS}),
    "bits": ("transformer_tiny", {"inputs": BITS, "targets": BITS}),
}


@pytest.fixture(scope="module")
def several() -> Iterator[Running]:
    with running([untrained(name, *made) for name, made in MODELS.items()]) as server:
        yield server


def test_the_api_says_what_each_does(several: Running) -> None:
    found = several.get("/models").json()["models"]
    assert {one["name"]: (one["task"], one["texts"]) for one in found} == {
        "words": ("translate", 1),
        "label": ("classify", 1),
        "two": ("classify", 2),
        "more": ("continue", 1),
        "bits": ("answer", 1),
    }


def test_the_page_says_what_each_does(several: Running, page) -> None:
    page.goto(several.url)
    for model, does, read, example, said, others in (
        ("bits", "Answer", "Symbols", "Numbers with spaces between", "Answer", "Other answers"),
        ("more", "Continue", "Beginning", "How it begins", "Continued", "Other continuations"),
        ("label", "Classify", "Text", "A text to label", "Label", "Other labels"),
        ("words", "Translate", "Text", "A text to translate", "Translation", "Other translations"),
    ):
        page.select_option("#model", model)
        assert page.title() == f"heedful: {does.lower()}"
        box = page.get_by_role("textbox", name=read, exact=True)
        assert example in str(box.get_attribute("placeholder"))
        box.fill("1 0 1" if model == "bits" else "the cow")
        page.get_by_role("button", name=does, exact=True).click()
        expect(page.get_by_role("status", name=said, exact=True)).to_have_attribute(
            "data-state", "done"
        )
        expect(page.get_by_role("heading", name=others)).to_be_visible()
        expect(page.locator("#second-text")).to_be_hidden()
        expect(page.locator("#notice")).to_be_hidden()
        box.fill("")


def test_two_texts_have_a_place_each(several: Running, page) -> None:
    page.goto(several.url)
    page.select_option("#model", "two")
    page.get_by_role("textbox", name="Text", exact=True).fill("the cow ate")
    with page.expect_request("**/translate/stream") as asked:
        page.get_by_role("textbox", name="Second text").fill("it was hungry")
    assert asked.value.post_data_json["text"] == "the cow ate\tit was hungry"
    expect(page.locator("#said")).to_have_text(
        several.translate("the cow ate\tit was hungry", model="two")[0]["text"]
    )


def test_attention_of_what_goes_on_with_a_text_has_the_text_once(several: Running, page) -> None:
    page.goto(several.url)
    page.select_option("#model", "more")
    page.fill("#text", "the cow")
    expect(page.locator("#said")).to_have_attribute("data-state", "done")
    said = page.locator("#said").inner_text()
    assert said.startswith("the cow")
    with page.expect_response("**/attention") as seen:
        page.click("#see-attention")
    shown = seen.value.json()
    assert (shown["text"], shown["target"]) == (said, said)
    expect(page.locator("#attention")).to_be_visible()


def test_vectors_of_words_are_not_served() -> None:
    with pytest.raises(UsageError, match="'near' has vectors of words and writes no text.*vectors"):
        untrained("near", "skip_gram_topics", {"targets": WORDS})
