"""`bench train`: the same sentences for all, rows for all, and nobody's failure is another's."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from heedful.bench import beside
from heedful.bench.beside import RIVALS, Compiled, rivals_of
from heedful.bench.defaults import Asked, often, train_config
from heedful.bench.matmul import Product
from heedful.bench.table import Bench, Row
from heedful.bench.train import (
    Measuring,
    bench_train,
    usual_modes,
    usual_precisions,
    ways,
)
from heedful.bench.workload import Workload
from heedful.config import vary
from heedful.data.batching import Bucketed, Packed
from heedful.errors import HeedfulError, UsageError
from heedful.peers import torch_transformer
from heedful.peers.training import Mover
from heedful.runs.config import RunConfig

from .conftest import CPU

TORCH, MARIAN, LUCIDRAINS, BY_HAND = RIVALS


def measuring(config: RunConfig, **changes: object) -> Measuring:
    usual = Measuring(
        config=config,
        precisions=("fp32",),
        modes=("plain",),
        rivals=(),
        compiled_rivals=False,
        batches=2,
        repeats=2,
        warmup=1,
        product=Product(size=64, dtype=torch.float32),
    )
    return replace(usual, **changes)


def measured(config: RunConfig, data: Path, **changes: object) -> tuple[Bench, Mapping[str, Row]]:
    bench = bench_train(measuring(config, **changes), CPU, data, lambda text: None)
    return bench, {row.name: row for row in bench.rows}


def test_every_way_has_a_row_with_rate_work_and_share(
    config: RunConfig, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setitem(sys.modules, "x_transformers", None)
    bench, rows = measured(
        config,
        data_folder,
        rivals=rivals_of(config.preset.model),
        precisions=("fp32", "bf16"),
        end_to_end=8,
    )
    assert list(rows) == [
        "matmul 64³ float32",
        "heedful fp32 plain",
        "heedful bf16 plain",
        "torch.nn.Transformer fp32 eager",
        "torch.nn.Transformer bf16 eager",
        "Hugging Face Marian fp32 eager",
        "Hugging Face Marian bf16 eager",
        "x-transformers",
        "torch.nn.Transformer fp32 eager, with our heap",
        "torch.nn.Transformer bf16 eager, with our heap",
        "Hugging Face Marian fp32 eager, with our heap",
        "Hugging Face Marian bf16 eager, with our heap",
        "heedful over the best peer",
        "heedful over the best peer, fp32",
        "heedful over the best peer, bf16",
        "heedful over the best peer, with our heap",
        "heedful over the best peer, fp32, with our heap",
        "heedful over the best peer, bf16, with our heap",
        next(name for name in rows if name.startswith("heedful train end to end, ")),
    ]
    ceiling = rows["matmul 64³ float32"].value
    needed = Workload.of(config, 2, data_folder).flops()
    assert ceiling is not None and needed is not None
    for name in ("heedful fp32 plain", "heedful bf16 plain", "torch.nn.Transformer bf16 eager"):
        row = rows[name]
        assert row.value is not None and row.value > 0 and row.unit == "target tokens/s"
        assert row.more["share_of_matmul"] == pytest.approx(row.more["tflops"] / ceiling)
        rounds = row.value / Workload.of(config, 2, data_folder).targets
        assert row.more["tflops"] == pytest.approx(rounds * needed / 1e12)
    assert rows["x-transformers"].note == "not installed, pip install x-transformers"
    ours = max(rows[n].value or 0 for n in rows if n.endswith("plain") and "end" not in n)
    for heap in ("", ", with our heap"):
        best = max(rows[n].value or 0 for n in rows if n.endswith(f"eager{heap}"))
        assert rows[f"heedful over the best peer{heap}"].value == pytest.approx(ours / best)
        for low in ("fp32", "bf16"):
            best = max(rows[n].value or 0 for n in rows if n.endswith(f"{low} eager{heap}"))
            like = (rows[f"heedful {low} plain"].value or 0) / best
            assert rows[f"heedful over the best peer, {low}{heap}"].value == pytest.approx(like)
    whole = bench.rows[-1]
    assert whole.more["share_of_step"] == pytest.approx((whole.value or 0) / ours)
    assert bench.settings["vocabulary"] == 50 and bench.settings["sentences"] > 10


@pytest.mark.parametrize(
    "name", ["lstm_seq2seq_tiny", "rnn_encoder_decoder_tiny", "rnn_search_tiny", "luong_tiny"]
)
def test_a_recurrent_model_is_measured_beside_the_same_by_hand(
    name: str, data_folder: Path
) -> None:
    settings = {"model.dim": 16, "model.hidden": 16}
    if name == "rnn_search_tiny":
        settings["model.cell"] = "gru"
    asked = Asked(preset=name, vocabulary=50, tokens=256, row=60, of_preset=settings)
    config = train_config(asked, CPU, 2)
    assert isinstance(config.preset.batch, Bucketed)
    assert rivals_of(config.preset.model) == (BY_HAND,)
    assert usual_modes(config.preset.model, torch.device("cuda")) == ("plain", "captured")
    bench, rows = measured(config, data_folder, rivals=(BY_HAND,), repeats=1, warmup=0)
    assert rows["heedful fp32 plain"].value and rows["by hand on torch.nn fp32 eager"].value
    assert rows["heedful over the best peer"].value
    assert "padding is read like words" in bench.notes[-1]


def test_a_peer_that_fails_loses_only_its_row(
    config: RunConfig, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(shape: object, size: int) -> nn.Module:
        raise RuntimeError("no such kernel")

    monkeypatch.setitem(beside.BUILDS, "torch", fail)
    monkeypatch.setitem(beside.BUILDS, "marian", torch_transformer.build)
    _, rows = measured(config, data_folder, rivals=(TORCH, MARIAN))
    assert rows["torch.nn.Transformer fp32 eager"].note == "failed: RuntimeError: no such kernel"
    assert rows["torch.nn.Transformer fp32 eager"].value is None
    assert rows["Hugging Face Marian fp32 eager"].value and rows["heedful fp32 plain"].value


def test_a_loss_that_is_no_number_is_no_rate(config: RunConfig, data_folder: Path) -> None:
    wild = replace(config, preset=vary(config.preset, {"schedule.scale": 1e30}))
    _, rows = measured(wild, data_folder, warmup=2)
    assert "no longer finite" in rows["heedful fp32 plain"].note


def test_all_work_through_the_same_sentences(config: RunConfig, data_folder: Path) -> None:
    work = Workload.of(config, 3, data_folder)
    own, padded = work.own(CPU), work.padded(CPU, multiple=8)
    numbers = [
        sorted(i for s in side for p in s.parts for i in p.examples) for side in (own, padded)
    ]
    assert numbers[0] == numbers[1] == sorted(work.examples)
    assert len(set(numbers[0])) == len(numbers[0])
    assert sum(s.targets for s in padded) == work.targets
    for step in padded:
        (batch,) = step.parts
        assert step.targets == int(batch.targets.at.real.sum())
        assert step.tokens == step.targets + int(batch.inputs.at.real.sum())
        assert int(batch.inputs.at.segments.max()) == 1  # one sentence a row
        assert batch.inputs.ids.shape[1] % 8 == 0
        assert max(rows.ids.numel() for rows in batch.features.values()) <= 512
    assert int(own[0].parts[0].inputs.at.segments.max()) > 1


def test_where_ours_are_padded_peers_have_the_same(config: RunConfig, data_folder: Path) -> None:
    batch = Bucketed(tokens=256, longest=60)
    work = Workload.of(
        replace(config, preset=vary(config.preset, {"batch": batch})), 2, data_folder
    )
    for ours, theirs in zip(work.own(CPU), work.padded(CPU, 8), strict=True):
        assert torch.equal(ours.parts[0].inputs.ids, theirs.parts[0].inputs.ids)


def test_a_compiled_peer_computes_the_same(
    config: RunConfig, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = torch.compile, []

    def compile(function, dynamic: bool):  # traced as ever, but not turned into machine code
        asked.append(dynamic)
        return real(function, dynamic=dynamic, backend="eager")

    monkeypatch.setattr(torch, "compile", compile)
    preset = vary(config.preset, {"model.dropout": 0.0})
    step = Workload.of(config, 1, data_folder).padded(CPU, 1)[0]
    losses = []
    for kind in (Mover, Compiled):
        torch.manual_seed(1)
        move = kind(torch_transformer.build(preset.model, 50).train(), preset, CPU, False)
        losses.append([move(step, 0.01).item() for _ in range(3)])
    assert asked == [True] and losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[0][2] < losses[0][0]
    torch.compiler.reset()


def test_other_problems_than_pairs_are_refused(config: RunConfig, data_folder: Path) -> None:
    with pytest.raises(UsageError, match="a batch or more"):
        Workload.of(config, 0, data_folder)
    with pytest.raises(UsageError, match="no mode named 'captued'. Close: captured"):
        measuring(config, modes=("captued",))
    with pytest.raises(UsageError, match="no precision named 'fp16'"):
        measuring(config, precisions=("fp16",))


def test_without_x_transformers_it_is_said_what_to_install(
    config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "x_transformers", None)
    with pytest.raises(HeedfulError, match="pip install x-transformers"):
        beside.BUILDS["x-transformers"](config.preset.model, 50)


def test_x_transformers_computes_what_is_asked_of_it(config: RunConfig, data_folder: Path) -> None:
    pytest.importorskip("x_transformers")
    _, rows = measured(config, data_folder, rivals=(LUCIDRAINS,))
    assert rows["x-transformers fp32 eager"].value


def test_what_is_usual_depends_on_the_device() -> None:
    small = train_config(Asked(), CPU, 4)
    assert (small.preset_name, small.problem_name) == ("transformer_demo", "translate_demo_en_fr")
    assert isinstance(small.preset.batch, Bucketed) and small.preset.model.dropout == 0.0
    gpu = torch.device("cuda")
    large = train_config(Asked(), gpu, 8)
    assert (large.preset_name, large.problem_name) == ("transformer_base", "made_up_pairs")
    assert usual_modes(large.preset.model, gpu) == ("plain", "captured", "compiled")
    assert usual_modes(large.preset.model, CPU) == ("plain",)
    assert large.preset.batch == Packed(tokens=49_152, row=1_024, longest=256)
    model = large.preset.model
    assert (model.dropout, model.attention_dropout, model.relu_dropout) == (0.1, 0.0, 0.0)
    assert large.problem.vocabulary == 32_000
    assert large.problem.train_examples * large.problem.mean > 2 * 8 * 49_152
    assert often(gpu).warmup * often(gpu).batches > 8  # a graph is recorded after three of a shape


def test_precisions_are_those_that_training_would_choose(
    config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, both = torch.device("cuda"), ("fp32", "bf16")
    wide = vary(config.preset, {"model.dim": 128, "training.precision": "auto"})
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    assert usual_precisions(wide, CPU) == usual_precisions(wide, gpu) == both
    assert usual_precisions(vary(wide, {"model.dim": 32}), CPU) == ("fp32",)
    own = vary(wide, {"training.precision": "fp32"})  # a preset that has its own keeps to it
    assert usual_precisions(own, CPU) == usual_precisions(own, gpu) == ("fp32",)
    m = measuring(config, precisions=both)
    assert [way.name for way in ways(m, TORCH, CPU)] == [
        "torch.nn.Transformer fp32 eager",
        "torch.nn.Transformer bf16 eager",
    ]
    for has, precision in ((True, "bf16"), (False, "fp32")):  # on a GPU, peers have the best
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has=has, **_: has)
        assert [way.precision for way in ways(m, TORCH, gpu)] == [precision]
        like = measuring(config, precisions=("fp32",))
        assert [way.precision for way in ways(like, TORCH, gpu)] == ["fp32"]


def test_a_peer_in_bf16_is_another_computation(config: RunConfig, data_folder: Path) -> None:
    step = Workload.of(config, 1, data_folder).padded(CPU, 1)[0]
    losses = []
    for precision in ("fp32", "bf16"):
        preset = vary(config.preset, {"model.dropout": 0.0, "training.precision": precision})
        torch.manual_seed(1)
        move = Mover(torch_transformer.build(preset.model, 50).train(), preset, CPU, False)
        losses.append(move(step, 0.01).item())
    assert losses[0] != losses[1] == pytest.approx(losses[0], rel=0.01)


def test_a_recurrent_model_without_a_peer_is_measured_in_rows_of_one_sentence() -> None:
    config = train_config(Asked(preset="gnmt_tiny"), CPU, 2)
    assert isinstance(config.preset.batch, Bucketed) and rivals_of(config.preset.model) == ()


def test_what_is_asked_for_is_measured() -> None:
    asked = Asked(
        preset="transformer_tiny",
        tokens=600,
        row=100,
        dropout=0.3,
        vocabulary=70,
        seed=5,
        of_preset={"model.heads": "2"},
        of_problem={"train_examples": "9"},
    )
    config = train_config(asked, CPU, 4)
    assert config.preset.batch == Packed(tokens=600, row=100, longest=100)
    assert (config.preset.model.dropout, config.preset.model.heads) == (0.3, 2)
    problem = config.problem
    assert (problem.vocabulary, problem.train_examples, problem.seed) == (70, 9, 5)
    assert config.preset.training.seed == 5
    other = train_config(Asked(problem="algorithmic_reverse_binary40", tokens=999), CPU, 4)
    assert other.preset.batch.tokens == 999 and other.problem_name.startswith("algorithmic")
