"""Presets for words: the numbers that papers and claims depend on."""

from heedful.models.building import build
from heedful.registry import presets


def weights(name: str, words: int) -> int:
    preset = presets.get(name)()
    model = build(preset.model, {"targets": words}, True, preset.loss)
    return sum(weight.numel() for weight in model.parameters())


def test_spelling_needs_no_more_weights_than_a_table_and_five_million() -> None:
    char, word = weights("char_cnn_lm_ptb", 10_002), weights("word_lm_ptb", 10_002)
    assert char <= word and 4.9e6 < char < 5.6e6


def test_the_filters_are_kims() -> None:
    config = presets.get("char_cnn_lm_ptb")().model.words
    assert (config.size, config.filters, config.widths) == (15, 25, (1, 2, 3, 4, 5, 6))


def test_no_line_of_wikitext_is_too_long_to_be_trained_on() -> None:
    for name in ("transformer_lm_wikitext2", "skip_gram_words"):
        assert presets.get(name)().batch.limit > 700
