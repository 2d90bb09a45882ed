"""The numbers of the paper and of Tensor2Tensor, as they are published."""

import pytest

from heedful.registry import presets

# name: layers, dim, ff, heads, dropout, norm, tokens, warm-up, peak rate
PUBLISHED = {
    "transformer_base_paper": (6, 512, 2048, 8, 0.1, "post", 25_600, 4_000, 7.0e-4),
    "transformer_big_paper": (6, 1024, 4096, 16, 0.3, "post", 25_600, 4_000, 4.9e-4),
    "transformer_base": (6, 512, 2048, 8, 0.1, "pre", 4_096, 8_000, 9.9e-4),
    "transformer_big": (6, 1024, 4096, 16, 0.3, "pre", 2_048, 8_000, 7.0e-4),
    "transformer_base_single_gpu": (6, 512, 2048, 8, 0.1, "pre", 1_024, 16_000, 7.9e-4),
    "transformer_big_single_gpu": (6, 1024, 4096, 16, 0.1, "pre", 2_048, 16_000, 4.9e-4),
    "transformer_small": (2, 256, 1024, 4, 0.1, "pre", 4_096, 8_000, 1.4e-3),
    "transformer_tiny": (2, 128, 512, 4, 0.1, "pre", 4_096, 8_000, 2.0e-3),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_preset_has_its_published_numbers(name) -> None:
    layers, dim, ff, heads, dropout, norm, tokens, warmup, peak = PUBLISHED[name]
    preset = presets.get(name)()
    model = preset.model
    assert (model.layers, model.dim, model.ff, model.heads) == (layers, dim, ff, heads)
    assert (model.dropout, model.norm) == (dropout, norm)
    assert preset.batch.tokens == tokens
    assert preset.schedule.warmup == warmup
    rates = [preset.schedule.rate(step, dim) for step in (warmup - 1, warmup, warmup + 1)]
    assert max(rates) == rates[1] == pytest.approx(peak, rel=0.02)
    assert preset.loss.amount == 0.1
    assert (preset.decode.beam, preset.decode.alpha) == (4, 0.6)


def test_tensor2tensor_drops_inside_attention_and_feed_forward_and_the_paper_does_not() -> None:
    ours = presets.get("transformer_base")().model
    paper = presets.get("transformer_base_paper")().model
    assert (ours.attention_dropout, ours.relu_dropout) == (0.1, 0.1)
    assert (paper.attention_dropout, paper.relu_dropout) == (0.0, 0.0)
    assert (ours.positions, paper.positions) == ("sinusoid_t2t", "sinusoid")


def test_adam_has_the_papers_betas_or_tensor2tensors() -> None:
    assert presets.get("transformer_base_paper")().optim.betas == (0.9, 0.98)
    assert presets.get("transformer_base")().optim.betas == (0.9, 0.997)
