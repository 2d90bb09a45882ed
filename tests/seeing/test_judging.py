"""Looking into a classifier: its labels, one text or two, and what stands beside the weights."""

import numpy as np
import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.decoding.translator import Translator
from heedful.errors import HeedfulError, UsageError
from heedful.models.building import build
from heedful.registry import presets
from heedful.seeing.attention import look
from heedful.seeing.coreference import coreference
from heedful.seeing.panels import panels
from heedful.text.labels import LabelTokenizer
from heedful.text.specials import EOS, RESERVED
from heedful.text.two_texts import TwoTextsTokenizer
from heedful.text.words import Words
from heedful.viz.attention import attention_page

FIRST, SECOND = "the cow ate the hay", "it was hungry"
TWO = f"{FIRST}\t{SECOND}"
WORDS = Words().train([FIRST, SECOND])


def classifier(name: str, labels=("bad", "fair", "good"), tokenizer=None, **changes) -> Translator:
    preset = vary(presets.get(name)(), changes)
    tokenizers = {
        "inputs": tokenizer or TwoTextsTokenizer(WORDS),
        "targets": LabelTokenizer(labels),
    }
    torch.manual_seed(5)
    model = build(preset.model, tokenizers, shared=False, loss=preset.loss)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return Translator(model.eval(), tokenizers, preset.decode)


@pytest.mark.parametrize("name", ["text_classifier_tiny", "pair_classifier_tiny"])
def test_every_label_has_its_probability(name: str) -> None:
    translator = classifier(name)
    seen = look(translator, TWO)
    source = pad([[*translator.tokenizers["inputs"].encode(TWO), EOS]])
    batch = Batch({"inputs": source, "targets": pad([[RESERVED, EOS]])})
    expected = translator.model.logits(batch)[0, 0, RESERVED:].softmax(-1).tolist()
    assert [label.probability for label in seen.labels] == pytest.approx(
        sorted(expected, reverse=True)
    )
    by_name = {label.name: label.probability for label in seen.labels}
    assert by_name == pytest.approx(dict(zip(("bad", "fair", "good"), expected, strict=True)))
    assert seen.target == seen.labels[0].name == translator.translate([TWO])[0]
    assert seen.to_json()["labels"] == seen.numbers()["labels"]
    first = seen.labels[0]
    assert seen.to_json()["labels"][0] == {"name": first.name, "probability": first.probability}


def test_a_target_is_a_label_and_changes_no_weight() -> None:
    translator = classifier("pair_classifier_tiny")
    own, other = look(translator, TWO), look(translator, TWO, "bad")
    assert other.target == "bad" and own.labels == other.labels
    for one, same in zip(own.attended, other.attended, strict=True):
        np.testing.assert_array_equal(one.mean(), same.mean())
    with pytest.raises(HeedfulError, match="'god' is not a label that is learnt. Close: good"):
        look(translator, TWO, "god")
    with pytest.raises(UsageError, match="no label in the target"):
        look(translator, TWO, " ")


def test_two_texts_look_at_each_other() -> None:
    seen = look(classifier("pair_classifier_tiny"), TWO)
    onward, back, summary = (seen.of(kind) for kind in ("to_second", "to_first", "summary"))
    assert onward.queries.tokens == (*FIRST.split(), "<eos>") == back.keys.tokens
    assert onward.keys.tokens == (*SECOND.split(), "<eos>") == back.queries.tokens
    assert summary.queries.tokens == ("<first>", "<second>")
    assert summary.keys.tokens == (*FIRST.split(), "<eos>", *SECOND.split(), "<eos>")
    for one in (onward, back, summary):
        np.testing.assert_allclose(one.mean().sum(-1), 1, atol=1e-5)
    of_first, of_second = summary.mean()
    assert not of_first[6:].any() and not of_second[:6].any()
    assert not any(one.rollout for one in seen.attended)


def test_words_of_two_texts_stay_apart() -> None:
    side = look(classifier("pair_classifier_tiny"), TWO).of("summary").keys
    assert side.joined == [*FIRST.split(), "<eos>", *SECOND.split(), "<eos>"]


def test_a_pair_that_lacks_its_second_text_is_shown_as_it_was_judged() -> None:
    seen = look(classifier("pair_classifier_tiny"), FIRST)
    (one,) = seen.attended
    assert one.kind == "summary" and one.queries.tokens == ("<summary>",)
    np.testing.assert_allclose(one.mean().sum(-1), 1, atol=1e-5)
    assert one.keys.tokens == (*FIRST.split(), "<eos>") and len(seen.labels) == 3


def test_a_summary_over_attention_is_rolled_out_to_the_tokens() -> None:
    translator = classifier("transformer_classifier_tiny", **{"model.summary": "attend"})
    seen = look(translator, TWO)  # which it reads as one
    summary, encoder = seen.of("summary"), seen.of("encoder")
    assert summary.keys.tokens == encoder.queries.tokens and len(summary.keys.tokens) == 10
    np.testing.assert_allclose(summary.rollout[0], summary.mean() @ encoder.rollout[-1], atol=1e-6)


def test_the_last_kind_is_drawn_and_others_are_named() -> None:
    seen = look(classifier("pair_classifier_tiny"), TWO)
    (panel,) = panels(seen)
    assert panel.title == "to_second, layer 1, head 1"
    assert list(panel.rows) == [*FIRST.split(), "<eos>"]
    with pytest.raises(UsageError, match="kind: summary, to_first, to_second"):
        panels(seen, "alignment")
    with pytest.raises(UsageError, match="the keys of this attention are not made by attention"):
        panels(seen, "summary", head="rollout")


def test_what_no_word_looks_at_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="no word looks at others of its own text"):
        coreference(classifier("text_classifier_tiny"), FIRST, f"{FIRST[:-3]}cow", "cow")
    one = classifier("transformer_classifier_tiny")
    assert coreference(one, FIRST, f"{FIRST[:-3]}cow", "ate")["changed"] == 4


def test_a_page_names_the_likeliest_labels(page, tmp_path) -> None:
    labels = [f"label {number}" for number in range(12)]
    translator = classifier("text_classifier_tiny", labels)
    third = look(translator, FIRST).labels[2].name
    seen = look(translator, FIRST, third)
    file = tmp_path / "page.html"
    file.write_text(attention_page("A look", [{"look": seen.to_json()}]), encoding="utf-8")
    page.goto(file.as_uri())
    table = page.get_by_role("table", name="How likely each label is (2 more are less likely)")
    rows = table.get_by_role("row")
    assert rows.count() == 11
    for row, label in zip(rows.all()[1:], seen.labels, strict=False):
        assert row.get_by_role("rowheader").inner_text() == label.name
        assert row.get_by_role("cell").inner_text() == f"{label.probability:.3f}"
    marked = table.locator("[aria-current=true]").get_by_role("rowheader").all_inner_texts()
    assert marked == [third]
    # A summary alone is pointed at while nobody points.
    weights = seen.of("summary").mean()[0]
    best = (*FIRST.split(), "<eos>")[int(weights.argmax())]
    status = page.locator(".heedful-attention [role=status]")
    said = f"<summary> looks at: {best} {weights.max():.3f}"
    assert said in status.inner_text()
    page.locator(".from li").hover()
    page.mouse.move(0, 0)
    assert said in status.inner_text()
    assert page.locator(".to li").first.get_attribute("data-weight") == f"{weights[0]:.3f}"


def test_two_texts_stand_in_two_lines(page, tmp_path) -> None:
    seen = look(classifier("pair_classifier_tiny"), TWO)
    file = tmp_path / "page.html"
    file.write_text(attention_page("A look", [{"look": seen.to_json()}]), encoding="utf-8")
    page.goto(file.as_uri())
    assert page.locator("#read").inner_text() == f"{FIRST}\n{SECOND}"
    assert page.locator(".from li").all_inner_texts() == [*FIRST.split(), "<eos>"]
    assert page.locator(".to li").all_inner_texts() == [*SECOND.split(), "<eos>"]
    page.get_by_role("combobox", name="Kind").select_option(label="Summary of what is read")
    assert page.locator(".from li").all_inner_texts() == ["<first>", "<second>"]
