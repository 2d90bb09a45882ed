"""Lighter weights: the same translations, products in bf16, nothing of a narrow model changed."""

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.decoding.light import WIDE, LightLinear, lighten
from heedful.decoding.search import decode
from heedful.models.base import Model
from heedful.models.building import build
from heedful.presets.base import Decode
from heedful.registry import presets

SOURCES = Batch({"inputs": pad([[5, 6, 7, 1], [4, 1], [8, 8, 3, 4, 5, 1]])})


def model(dim: int = 32) -> Model:
    preset = vary(presets.get("transformer_tiny")(), {"model.dim": dim})
    torch.manual_seed(0)
    return build(preset.model, {"inputs": 9, "targets": 9}, True, preset.loss).eval()


def weights(model: Model) -> set[torch.dtype]:
    return {part.weight.dtype for part in model.modules() if isinstance(part, LightLinear)}


def test_every_product_is_in_bf16_and_scores_stay_near() -> None:
    plain, light = model(), model()
    assert lighten(light, "bf16", "cpu") and weights(light) == {torch.bfloat16}
    assert not any(isinstance(part, torch.nn.Linear) for part in light.modules())
    batch = Batch({**SOURCES.features, "targets": SOURCES.inputs})
    with torch.no_grad():
        one, other = plain.logits(batch), light.logits(batch)
    assert other.dtype is torch.float32 and not torch.equal(one, other)
    torch.testing.assert_close(one, other, rtol=0.05, atol=0.05)
    search = Decode(beam=2, extra_length=3)
    for one, other in zip(
        decode(plain, SOURCES, search), decode(light, SOURCES, search), strict=True
    ):
        assert one[0].score == pytest.approx(other[0].score, abs=0.05)


@pytest.mark.parametrize("dim", [32, WIDE])
def test_auto_lightens_wide_models_where_the_processor_can(dim, monkeypatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    assert lighten(model(dim), "auto", "cpu") is (dim == WIDE)
    assert not lighten(model(dim), "fp32", "cpu")
    assert not lighten(model(dim), "auto", "cuda")
    for name in ("avx512_bf16", "amx_tile"):
        monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda: False)
    assert not lighten(model(dim), "auto", "cpu")
