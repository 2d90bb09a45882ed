import pytest
import torch
from torch import nn

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.decoding import beam as beam_file
from heedful.decoding.coverage import coverage_penalty
from heedful.decoding.limits import output_limits
from heedful.decoding.search import decode
from heedful.errors import HeedfulError, UsageError
from heedful.models.building import build
from heedful.nn.losses import Smoothing
from heedful.nn.watching import watch
from heedful.presets.base import Decode
from heedful.registry import presets
from heedful.text.specials import EOS, START

SIZE = 11


@pytest.fixture(scope="module")
def transformer():
    torch.manual_seed(5)
    config = presets.get("transformer_tiny")().model
    model = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    for weights in model.parameters():
        weights.data.mul_(2.0)  # so that what it says is not the same everywhere
    return model.eval()


BATCH = Batch({"inputs": pad([[5, 6, 7, EOS], [9, EOS], [4, 4, 8, 3, 10, EOS]])})


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("beam", 0, "decode.beam must be at least 1"),
        ("nbest", 0, "decode.nbest must be at least 1"),
        ("nbest", 5, "needs a beam at least as wide"),
        ("coverage", -0.1, "decode.coverage must be at least 0"),
        ("prune", -1.0, "decode.prune must be at least 0"),
        ("extra_length", -1, "decode.extra_length must be"),
        ("temperature", -1.0, "decode.temperature must be"),
        ("top_k", -1, "decode.top_k must be"),
        ("top_p", 0.0, "decode.top_p must be above 0"),
        ("top_p", 1.1, "decode.top_p must be above 0"),
    ],
)
def test_what_cannot_be_right_is_refused(toy, sources, field, value, said):
    with pytest.raises(UsageError, match=said):
        decode(toy(), sources, Decode(**{field: value}))


def test_several_samples_at_no_temperature_are_refused(toy, sources):
    with pytest.raises(UsageError, match="always says the same"):
        decode(toy(), sources, Decode(sample=True, temperature=0.0, nbest=2))


def test_no_rows_give_no_outputs(toy):
    empty = Batch({"inputs": pad([[3, 1]])}).inputs.select(torch.tensor([], dtype=torch.long))
    assert decode(toy(), Batch({"inputs": empty}), Decode()) == []


def test_limits_count_the_row_and_its_prefix_and_nothing_else(toy):
    assert output_limits(toy(), BATCH, 10) == [14, 12, 16]
    assert output_limits(toy(), BATCH, 1, [[], [3] * 9, [3]]) == [5, 10, 7]
    assert output_limits(toy(), Batch({"targets": pad([[], []])}), 0) == [1, 1]


def test_limits_stay_within_the_positions_a_model_has(toy):
    model = toy()
    model.longest = 6
    assert output_limits(model, BATCH, 10) == [6, 6, 6]
    model.longest = 5
    with pytest.raises(HeedfulError, match=r"row 2 .* 6 tokens .* 5 positions"):
        output_limits(model, BATCH, 10)


def test_a_transformer_decodes_alike_in_a_batch_and_alone(transformer):
    for config in (Decode(beam=3, nbest=3, extra_length=4), Decode(beam=1, extra_length=4)):
        together = decode(transformer, BATCH, config)
        for row, rows in enumerate([[5, 6, 7, EOS], [9, EOS], [4, 4, 8, 3, 10, EOS]]):
            alone = decode(transformer, Batch({"inputs": pad([rows])}), config)[0]
            assert [h.ids for h in alone] == [h.ids for h in together[row]]
            for one, other in zip(alone, together[row], strict=True):
                assert one.token_scores == pytest.approx(other.token_scores, abs=1e-4)


def test_decoding_is_done_in_eval_mode_and_leaves_the_model_as_it_was(transformer):
    modes = []
    transformer.head.register_forward_hook(lambda head, *_: modes.append(head.training))
    transformer.train()
    decode(transformer, BATCH, Decode(extra_length=1))
    assert transformer.training and modes and not any(modes)
    transformer.eval()
    decode(transformer, BATCH, Decode(extra_length=1))
    assert not transformer.training


def test_decoding_needs_no_gradients(transformer):
    decode(transformer, BATCH, Decode(extra_length=1))
    assert all(weights.grad is None for weights in transformer.parameters())


def test_the_coverage_penalty_is_that_of_the_paper():
    covered = torch.tensor([[[0.5, 2.0, 0.25, 0.0]]])
    real = torch.tensor([[True, True, True, False]])
    expected = torch.tensor(0.5).log() + torch.tensor(0.25).log()
    assert coverage_penalty(covered, real).item() == pytest.approx(expected.item())
    assert torch.isfinite(coverage_penalty(covered, torch.ones_like(real))).all()


@pytest.mark.parametrize("width", [1, 3])
def test_coverage_is_what_a_whole_pass_over_the_output_looks_at(transformer, width):
    config = Decode(beam=width, nbest=width, alpha=0.6, coverage=0.4, extra_length=3)
    sources = [[5, 6, 7, EOS], [9, EOS], [4, 4, 8, 3, 10, EOS]]
    for row, found in enumerate(decode(transformer, BATCH, config)):
        batch = Batch({"inputs": pad([sources[row]])})
        for h in found:
            ids = torch.tensor([[START, *h.ids]])[:, : len(h.token_scores)]
            with torch.no_grad(), watch(transformer, kinds=("cross",)) as seen:
                transformer.step(ids, transformer.start(batch))
            looked = torch.stack([weights[0].mean(0) for _, weights in seen.weights]).mean(0)
            penalty = looked.sum(0).clamp(max=1).log().sum().item()
            length = len(h.token_scores)
            expected = sum(h.token_scores) / ((5 + length) / 6) ** 0.6 + 0.4 * penalty
            assert h.score == pytest.approx(expected, abs=1e-3)
        assert [h.score for h in found if h.finished] == sorted(
            (h.score for h in found if h.finished), reverse=True
        )


def test_coverage_needs_a_model_that_attends_to_its_source(toy, sources):
    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.start, self.step = toy().start, toy().step

    for model in (toy(), Blind()):
        with pytest.raises(UsageError, match="attends to its source"):
            decode(model, sources, Decode(coverage=0.2))


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 0.6])
def test_stopping_early_changes_nothing_with_coverage_either(transformer, monkeypatch, alpha):
    config = Decode(beam=3, nbest=2, alpha=alpha, coverage=0.5, extra_length=8)
    stopped = decode(transformer, BATCH, config)
    never = torch.zeros(3, dtype=torch.bool)
    monkeypatch.setattr(beam_file, "settled", lambda state, _: never[: len(state.limits)])
    unstopped = decode(transformer, BATCH, config)
    assert [[h.ids for h in row] for row in stopped] == [[h.ids for h in row] for row in unstopped]


def test_a_prefix_that_the_model_rules_out_is_an_error(toy, sources):
    class Choosy(toy):
        def step(self, ids, memory):
            logits = super().step(ids, memory)
            logits[..., 3] = float("-inf")
            return logits

    prefixes = [[], [4, 3], *[[]] * 5]
    with pytest.raises(HeedfulError, match="row 1 .* probability of 0"):
        decode(Choosy(size=8), sources, Decode(beam=2), prefixes)
    with pytest.raises(HeedfulError, match="row 1 .* token 2"):
        decode(Choosy(size=8), sources, Decode(beam=1), prefixes)


def test_a_language_model_goes_on_where_its_source_ends():
    config = presets.get("transformer_lm_tiny")().model
    model = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing())
    model.longest = 7
    assert output_limits(model, BATCH, 10) == [3, 5, 1]


def test_a_row_that_is_done_does_not_run_out_of_positions_while_others_go_on():
    config = vary(presets.get("transformer_lm_tiny")().model, {"positions": "learned:24"})
    torch.manual_seed(5)
    model = build(config, {"inputs": SIZE, "targets": SIZE}, True, Smoothing()).eval()
    with torch.no_grad():
        model.head.embedding.weight[EOS] = -9.0  # no row ends by itself
    short = [[5, EOS]] * 15
    batch = Batch({"inputs": pad([[4] * 21 + [EOS], *short])})
    lengths = [len(found[0].ids) for found in decode(model, batch, Decode(beam=2, extra_length=9))]
    assert lengths == [2, *[11] * 15]
