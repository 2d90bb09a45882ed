"""A peer's outputs: by its own search, with our tokenizers, each in its place."""

import torch
from torch import nn

from heedful.data.preparation import Prepared
from heedful.peers.decoding import decode
from heedful.peers.training import Lesson
from heedful.presets.base import Decode, Preset

from .conftest import CPU, new


def texts_of(prepared: Prepared) -> list[dict[str, str]]:
    shards = prepared.split("test")
    return [shards.raw(i) for i in range(len(shards))]


def test_outputs_come_in_the_order_of_the_texts(
    learned: tuple[nn.Module, Lesson], prepared: Prepared, preset: Preset
) -> None:
    tokenizers = {name: prepared.tokenizer(name) for name in prepared.features}
    pairs = texts_of(prepared)
    sources = ["", *(pair["inputs"] for pair in pairs), "  \n"]

    def outputs(texts: list[str], **changes: int) -> list[str]:
        config = Decode(beam=2, alpha=0.6, extra_length=3, **changes)
        return decode(learned[0], tokenizers, texts, config, CPU)

    found = outputs(sources)
    assert len(found) == len(sources) and found[0] == found[-1] == ""
    right = [said == pair["targets"] for said, pair in zip(found[1:-1], pairs, strict=True)]
    assert sum(right) >= 0.75 * len(right), "what it learnt is not in its place"
    assert found == outputs(sources[::-1])[::-1]
    assert found == outputs(sources, batch_tokens=1)  # each alone
    assert found == [outputs([source])[0] for source in sources]


def test_an_output_is_no_longer_than_ours_may_be(preset: Preset, prepared: Prepared) -> None:
    tokenizers = {name: prepared.tokenizer(name) for name in prepared.features}
    model = new(preset, prepared)
    with torch.no_grad():
        model.final_logits_bias[0, 1] = -1e4  # it never comes to an end by itself
        model.final_logits_bias[0, 0] = 1e4  # and would rather say padding
    config = Decode(beam=2, extra_length=4)
    (said,) = decode(model, tokenizers, ["0 1 1"], config, CPU)
    # Three symbols and an end, four more; the last is the end that it is forced to.
    assert len(said.split()) == 3 + 1 + 4 - 1


def test_the_beam_and_the_length_penalty_are_those_asked_for(
    preset: Preset, prepared: Prepared
) -> None:
    tokenizers = {name: prepared.tokenizer(name) for name in prepared.features}
    model = new(preset, prepared)
    texts = [pair["inputs"] for pair in texts_of(prepared)]

    def outputs(beam: int, alpha: float) -> list[str]:
        return decode(model, tokenizers, texts, Decode(beam=beam, alpha=alpha), CPU)

    assert outputs(1, 0.6) != outputs(4, 0.6)
    short, long = (sum(map(len, outputs(4, alpha))) for alpha in (-2.0, 2.0))
    assert short < long


def test_training_mode_is_left_for_decoding(preset: Preset, prepared: Prepared) -> None:
    model = new(preset, prepared).train()
    tokenizers = {name: prepared.tokenizer(name) for name in prepared.features}
    decode(model, tokenizers, ["0 1"], preset.decode, CPU)
    assert not model.training
