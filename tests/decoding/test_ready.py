"""Weights made ready for a CPU: the same translations, whether laid out beforehand or lighter."""

import pytest
import torch

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.decoding import ready as ready_file
from heedful.decoding.ready import (
    LARGE,
    SMALLER,
    WIDE,
    WORTH,
    LightLinear,
    PackedLinear,
    can_pack,
    make_ready,
)
from heedful.decoding.search import decode
from heedful.errors import UsageError
from heedful.laws.base import Subject, enrolled
from heedful.models.base import Model
from heedful.models.building import build
from heedful.nn.whole import WholeLinear, has_whole_products
from heedful.presets.base import Decode
from heedful.registry import presets

multiplies = pytest.mark.skipif(
    not has_whole_products(), reason="this machine multiplies no numbers of eight bits"
)
SOURCES = Batch({"inputs": pad([[5, 6, 7, 1], [4, 1], [8, 8, 3, 4, 5, 1]])})


def model(dim: int = 32) -> Model:
    preset = vary(presets.get("transformer_tiny")(), {"model.dim": dim})
    torch.manual_seed(0)
    return build(preset.model, {"inputs": 9, "targets": 9}, True, preset.loss).eval()


def weights(model: Model) -> set[torch.dtype]:
    return {part.weight.dtype for part in model.modules() if isinstance(part, LightLinear)}


def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """All matrices are large enough to be laid out."""
    monkeypatch.setattr(ready_file, "LARGE", 1)
    monkeypatch.setattr(ready_file, "SMALLER", 1)


def test_every_product_is_in_bf16_and_scores_stay_near() -> None:
    plain, light = model(), model()
    assert make_ready(light, "bf16", "cpu") == "bf16" and weights(light) == {torch.bfloat16}
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
    assert make_ready(model(dim), "auto", "cpu") == ("bf16" if dim == WIDE else "fp32")
    assert make_ready(model(dim), "fp32", "cpu") == "fp32"
    assert make_ready(model(dim), "auto", "cuda") == "fp32"
    for name in ("avx512_bf16", "amx_tile"):
        monkeypatch.setattr(torch.cpu, f"_is_{name}_supported", lambda: False)
    assert make_ready(model(dim), "auto", "cpu") == "fp32"


@pytest.mark.skipif(not can_pack(), reason="this PyTorch lays no weights out beforehand")
@pytest.mark.parametrize("name", enrolled())
def test_every_model_says_the_same_with_weights_laid_out(name, monkeypatch) -> None:
    everything(monkeypatch)
    subject = Subject(name)
    plain, packed = subject.fresh().eval(), subject.fresh().eval()
    make_ready(packed, "fp32", "cpu")
    assert any(isinstance(part, PackedLinear) for part in packed.modules())
    assert not any(isinstance(part, torch.nn.Linear) for part in packed.modules())
    batch = subject.batch(subject.pairs(3))
    with torch.inference_mode():
        torch.testing.assert_close(packed.logits(batch), plain.logits(batch), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(not can_pack(), reason="this PyTorch lays no weights out beforehand")
@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-5), (torch.bfloat16, 0.1)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_laid_out_multiplies_vectors_however_they_lie(dtype, near, bias) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(24, 40, bias=bias).requires_grad_(False)
    packed = PackedLinear(layer.weight, layer.bias, dtype)
    whole = torch.randn(24, 3, 5)
    for x in (whole.permute(1, 2, 0), whole[:, 0].T, whole[:, :1, 0].T, whole.permute(2, 1, 0)[:0]):
        said = packed(x)
        assert said.dtype is torch.float32
        torch.testing.assert_close(said, layer(x), rtol=near, atol=near)


@pytest.mark.skipif(not can_pack(), reason="this PyTorch lays no weights out beforehand")
@torch.no_grad()
def test_a_few_vectors_are_multiplied_by_a_small_matrix_as_pytorch_does(monkeypatch) -> None:
    layer = torch.nn.Linear(24, 40)
    packed = PackedLinear(layer.weight, layer.bias, torch.float32)
    monkeypatch.setattr(ready_file, "FEW", 40 * 24 * 4)
    few, many = torch.randn(3, 1, 24), torch.randn(4, 1, 24)
    wanted = layer(few), layer(many)
    for ours, theirs in zip((packed(few), packed(many)), wanted, strict=True):
        torch.testing.assert_close(ours, theirs)
    packed.plain = torch.zeros_like(packed.plain)
    assert torch.equal(packed(few), layer.bias.expand(3, 1, 40))
    torch.testing.assert_close(packed(many), wanted[1])


def test_large_layers_are_laid_out_in_either_precision_and_small_ones_stay(monkeypatch) -> None:
    monkeypatch.setattr(ready_file, "held_back", lambda: False)
    rows = LARGE // 32
    small, large = torch.nn.Linear(32, rows - 1), torch.nn.Linear(32, rows)
    kinds = {
        (layer, precision): type(ready_file._ready(layer.weight, layer.bias, precision, True))
        for layer in (small, large)
        for precision in ("bf16", "fp32")
    }
    assert kinds[large, "bf16"] is kinds[large, "fp32"] is PackedLinear
    assert kinds[small, "bf16"] is LightLinear and kinds[small, "fp32"] is type(None)
    assert PackedLinear(large.weight, None, torch.float32).plain is None


def test_smaller_layers_are_laid_out_too_where_products_leave_much_idle(monkeypatch) -> None:
    monkeypatch.setattr(ready_file, "held_back", lambda: True)
    weights = [torch.nn.Linear(32, SMALLER // 32 - less).weight for less in (0, 1)]
    for precision, wanted in (("fp32", [PackedLinear, type(None)]), ("bf16", [LightLinear] * 2)):
        made = [ready_file._ready(weight, None, precision, True) for weight in weights]
        assert [type(layer) for layer in made] == wanted


def test_where_weights_cannot_be_laid_out_a_model_stays_as_it_is(monkeypatch) -> None:
    def lacking(self, x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no such operation")

    everything(monkeypatch)
    monkeypatch.setattr(PackedLinear, "forward", lacking)
    can_pack.cache_clear()
    try:
        usual = model()
        make_ready(usual, "fp32", "cpu")
        assert not can_pack()
        assert not any(isinstance(part, PackedLinear) for part in usual.modules())
        make_ready(usual, "bf16", "cpu")
        assert weights(usual) == {torch.bfloat16}
    finally:
        can_pack.cache_clear()


@multiplies
@pytest.mark.parametrize("name", enrolled())
def test_every_model_says_about_the_same_in_eight_bits(name, monkeypatch) -> None:
    """Its law is not equality; but what is likely stays so."""
    monkeypatch.setattr(ready_file, "WORTH", 1)
    subject = Subject(name)
    plain, whole = subject.fresh().eval().float(), subject.fresh().eval().float()
    assert make_ready(whole, "int8", "cpu") == "int8"
    assert any(isinstance(part, WholeLinear) for part in whole.modules())
    assert not any(isinstance(part, torch.nn.Linear) for part in whole.modules())
    batch = subject.batch(subject.pairs(3))
    with torch.inference_mode():
        one, other = plain.logits(batch), whole.logits(batch)
    assert not torch.equal(one, other)
    assert (one - other).abs().max() < 0.1 * one.abs().max()


@multiplies
def test_in_eight_bits_a_batch_says_what_each_of_its_sentences_does(monkeypatch) -> None:
    monkeypatch.setattr(ready_file, "WORTH", 1)
    whole, search = model(), Decode(beam=2, extra_length=3)
    make_ready(whole, "int8", "cpu")
    together = decode(whole, SOURCES, search)
    for row, said in enumerate(together):
        length = int(SOURCES.inputs.at.real[row].sum())
        alone = Batch({"inputs": pad([SOURCES.inputs.ids[row, :length].tolist()])})
        (best,) = decode(whole, alone, search)
        assert best[0].ids == said[0].ids
        assert best[0].score == pytest.approx(said[0].score, abs=1e-4)


@multiplies
def test_small_layers_keep_all_their_digits() -> None:
    small, large = torch.nn.Linear(32, WORTH // 32 - 1), torch.nn.Linear(32, WORTH // 32)
    for layer, kind in ((small, type(None)), (large, WholeLinear)):
        assert type(ready_file._ready(layer.weight, layer.bias, "int8", True)) is kind


def test_eight_bits_are_refused_where_they_are_slow_or_wrong(monkeypatch) -> None:
    with pytest.raises(UsageError, match="on a CPU, and this is on cuda. Use fp32 or bf16"):
        make_ready(model(), "int8", "cuda")
    monkeypatch.setattr(ready_file, "has_whole_products", lambda: False)
    with pytest.raises(UsageError, match="not so here. Use fp32, or bf16"):
        make_ready(model(), "int8", "cpu")
