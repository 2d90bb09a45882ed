"""The formula counts what PyTorch's own counter sees a model compute."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from heedful.bench import flops
from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.models.building import build
from heedful.models.transformer import TransformerConfig
from heedful.registry import presets

CONFIG = vary(
    presets.get("transformer_tiny")().model,
    {
        "dim": 16,
        "ff": 48,
        "heads": 2,
        "layers": 2,
        "decoder_layers": 3,
        "attention.kernel": "dense",
    },
)
SIZE = 23


@pytest.mark.parametrize(("sources", "targets"), [((7, 7), (5, 5)), ((4,), (9,))])
def test_it_is_what_a_counter_sees(sources: tuple[int, ...], targets: tuple[int, ...]) -> None:
    smoothing = presets.get("transformer_tiny")().loss
    model = build(CONFIG, {"inputs": SIZE, "targets": SIZE}, True, smoothing)
    rows = {"inputs": pad([[3] * n for n in sources]), "targets": pad([[4] * n for n in targets])}
    with FlopCounterMode(display=False) as forward, torch.no_grad():
        model.logits(Batch(rows))
    assert forward.get_total_flops() == flops.forward(CONFIG, SIZE, sources, targets)
    with FlopCounterMode(display=False) as both:
        model.logits(Batch(rows)).sum().backward()
    assert both.get_total_flops() == flops.training(CONFIG, SIZE, sources, targets)


def test_sentences_add_up_and_padding_is_no_work() -> None:
    together = flops.forward(CONFIG, SIZE, [3, 8], [2, 6])
    apart = flops.forward(CONFIG, SIZE, [3], [2]) + flops.forward(CONFIG, SIZE, [8], [6])
    assert together == apart < flops.forward(CONFIG, SIZE, [8, 8], [6, 6])


def test_only_models_that_the_formula_is_of_are_counted() -> None:
    assert isinstance(CONFIG, TransformerConfig) and flops.countable(CONFIG)
    assert not flops.countable(vary(CONFIG, {"attention.pattern": "near:4"}))
    assert not flops.countable(presets.get("transformer_lm_tiny")().model)
