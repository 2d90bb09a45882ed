"""A peer's training: it learns, it keeps to its seconds, and its numbers are the preset's."""

import functools
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace

import pytest
import torch
from torch import nn

from heedful.config import vary
from heedful.data.batch import Batch, pad
from heedful.data.batching import Bucketed, Packed
from heedful.data.loader import Loader, Step
from heedful.data.preparation import Prepared
from heedful.errors import HeedfulError, UsageError
from heedful.nn.losses import Smoothing
from heedful.optim.base import Optim
from heedful.peers import training as room
from heedful.peers.training import Kept, Lesson, Mover, batching, rate, snapshot, train
from heedful.presets.base import Preset, Training
from heedful.registry import presets

from .conftest import CPU, Counting, new


def first_step(preset: Preset, prepared: Prepared, parts: int = 1) -> Step:
    loader = Loader(
        prepared.split("train"), prepared.features, batching(preset, CPU), seed=1, parts=parts
    )
    with closing(loader.steps()) as steps:
        return next(steps)


def test_the_loss_goes_down(learned: tuple[nn.Module, Lesson]) -> None:
    model, lesson = learned
    losses = [point["loss"] for point in lesson.points]
    assert lesson.steps > 150 and losses[0] > 1.0 and losses[-1] < 0.5 * losses[0]
    assert not model.training


def test_it_stops_with_the_first_step_that_ends_after_its_seconds(
    preset: Preset, prepared: Prepared
) -> None:
    every = vary(preset, {"training.log_every": 1})
    began = time.perf_counter()
    lesson = train(new(preset, prepared), every, prepared, 0.3, CPU)
    assert time.perf_counter() - began > lesson.seconds >= 0.3
    assert lesson.points[-2]["seconds"] < 0.3
    assert lesson.points[-1] == {
        **lesson.points[-1],
        "step": lesson.steps,
        "tokens": lesson.tokens,
        "seconds": lesson.seconds,
    }


def test_one_step_is_always_taken_and_no_time_at_all_is_an_error(
    preset: Preset, prepared: Prepared
) -> None:
    assert train(new(preset, prepared), preset, prepared, 1e-9, CPU).steps == 1
    with pytest.raises(UsageError, match="needs some time to be trained in, got 0"):
        train(new(preset, prepared), preset, prepared, 0, CPU)


def test_the_same_seed_gives_the_same_weights(
    preset: Preset, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "Clock", Counting)
    shaken = vary(preset, {"model.dropout": 0.1})

    def trained(seed: int) -> torch.Tensor:
        model, with_seed = new(shaken, prepared), vary(shaken, {"training.seed": seed})
        torch.seed()  # whatever ran before
        train(model, with_seed, prepared, 20, CPU)
        return model.model.shared.weight

    assert trained(1).equal(trained(1)) and not trained(1).equal(trained(2))


def test_the_rate_is_that_of_the_same_part_of_the_steps() -> None:
    cosine, noam = (presets.get(f"transformer_{name}")() for name in ("tatoeba", "tiny"))
    assert rate(cosine, 0.25) == cosine.schedule.rate(cosine.training.steps // 4, cosine.model.dim)
    assert rate(noam, 0.0) == noam.schedule.rate(1, noam.model.dim)
    assert rate(noam, 1.7) == noam.schedule.rate(noam.training.steps, noam.model.dim)


def test_the_rate_it_is_told_is_the_rate_of_its_steps(preset: Preset, prepared: Prepared) -> None:
    model = new(preset, prepared)
    before = snapshot(model)
    step = first_step(preset, prepared)
    move = Mover(model, preset, CPU, compiled=False)
    move(step, 0.0)
    assert all(weights.equal(before[name]) for name, weights in snapshot(model).items())
    move(step, 0.01)
    assert not snapshot(model)["model.shared.weight"].equal(before["model.shared.weight"])
    assert all(p.grad is None for p in model.parameters())


@dataclass(frozen=True, kw_only=True)
class Plain(Optim):
    """Steps along the gradient, as long as that is."""

    def build(self, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=0.0)


def test_the_optimiser_is_the_presets_and_gradients_are_clipped(
    preset: Preset, prepared: Prepared
) -> None:
    def moved(clip: float) -> float:
        model = new(preset, prepared)
        plain = vary(replace(preset, optim=Plain()), {"training.clip": clip})
        before = snapshot(model)
        Mover(model, plain, CPU, compiled=False)(first_step(preset, prepared), 1.0)
        return sum(float((w - before[n]).square().sum()) for n, w in snapshot(model).items()) ** 0.5

    assert moved(0.01) == pytest.approx(0.01, rel=1e-3) and moved(0.0) > 0.1


def test_the_loss_is_smoothed_as_torch_does_and_padding_changes_nothing(
    preset: Preset, prepared: Prepared
) -> None:
    smoothed = vary(preset, {"loss.amount": 0.1})
    model = new(preset, prepared).eval()
    move = Mover(model, smoothed, CPU, compiled=False)
    pairs = [([3, 4, 1], [4, 3, 1]), ([4, 4, 3, 3, 1], [3, 3, 4, 4, 1])]

    def batch(chosen: list) -> Batch:
        return Batch(
            {"inputs": pad([p[0] for p in chosen]), "targets": pad([p[1] for p in chosen])}
        )

    alone = [move.loss(batch([pair])) for pair in pairs]
    torch.testing.assert_close(move.loss(batch(pairs)), torch.stack(alone).sum())
    source, target = pairs[1]
    logits = model(
        input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[0, *target[:-1]]])
    ).logits
    real = torch.ones(1, len(target), dtype=torch.bool)
    ours = Smoothing(amount=0.1, style="torch")(logits, torch.tensor([target]), real)
    torch.testing.assert_close(alone[1], ours.sum)


def test_what_comes_out_is_the_mean_of_the_last_weights(
    preset: Preset, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []

    def keeping(model: nn.Module) -> dict[str, torch.Tensor]:
        kept.append(snapshot(model))
        return kept[-1]

    monkeypatch.setattr(room, "Clock", Counting)
    monkeypatch.setattr(room, "snapshot", keeping)
    averaged = vary(preset, {"training.average": 3, "training.checkpoint_every": 100})
    model = new(preset, prepared)
    train(model, averaged, prepared, 60, CPU)
    assert len(kept) == 3
    name = "model.shared.weight"
    mean = sum(weights[name] for weights in kept) / 3
    torch.testing.assert_close(snapshot(model)[name], mean)
    assert not mean.equal(kept[-1][name])


def test_steps_of_several_parts_are_steps_of_all_their_tokens(
    preset: Preset, prepared: Prepared
) -> None:
    model = new(preset, prepared).eval()
    move = Mover(model, preset, CPU, compiled=False)
    whole = first_step(preset, prepared, parts=2)
    expected = sum(move.loss(part) for part in whole.parts) / whole.targets
    torch.testing.assert_close(move(whole, 0.0), expected.detach())
    assert len(whole.parts) == 2


def test_batches_have_our_budget_whatever_ours_are() -> None:
    packed = presets.get("transformer_tatoeba")()
    assert isinstance(packed.batch, Packed)
    made = batching(packed, CPU)
    assert isinstance(made, Bucketed)
    assert (made.tokens, made.limit) == (packed.batch.tokens, packed.batch.limit)
    assert made.multiple == 1 and batching(packed, torch.device("cuda")).multiple == 8
    padded = vary(packed, {"batch": Bucketed(tokens=99, multiple=3)})
    assert batching(padded, CPU) is padded.batch


def test_the_last_weights_are_averaged_as_ours_are() -> None:
    model = nn.Linear(1, 1, bias=False)
    clock, training = Counting(), Training(steps=100, checkpoint_every=20, average=3)
    kept = Kept(model, training, 10)
    assert kept.marks == pytest.approx([6.0, 8.0])
    for second in range(1, 11):
        with torch.no_grad():
            model.weight.fill_(second)
        kept.look(clock)  # asks once a second while it still waits
    kept.average()
    assert model.weight.item() == pytest.approx((6 + 8 + 10) / 3)


def test_marks_before_the_start_are_left_out_and_no_average_is_the_end() -> None:
    model = nn.Linear(1, 1, bias=False)
    assert Kept(model, Training(steps=4, checkpoint_every=3, average=5), 8).marks == [2.0]
    assert Kept(model, Training(steps=4, checkpoint_every=0, average=2), 8).marks == []
    before = model.weight.item()
    kept = Kept(model, Training(steps=4, average=0), 8)
    kept.average()
    assert kept.marks == [] and model.weight.item() == before


def test_a_loss_that_is_no_number_shows_nothing() -> None:
    lesson = Lesson(steps=7)
    with pytest.raises(HeedfulError, match=r"loss is nan at step 7.*schedule\.peak"):
        lesson.note(torch.tensor(float("nan")), Counting())


def test_speed_is_the_median_without_the_first_point() -> None:
    lesson, clock = Lesson(), Counting()
    for tokens in (1_000, 1_100, 1_300, 1_600):
        lesson.tokens = tokens
        lesson.note(torch.tensor(1.0), clock)
    assert lesson.speed() == 200.0 and lesson.seconds == 4.0


def test_a_person_is_told_how_far_it_is(
    preset: Preset, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "Clock", Counting)
    told: list[str] = []
    often = vary(preset, {"training.log_every": 1})
    train(new(preset, prepared), often, prepared, 60, CPU, told.append)
    assert told and told[0].startswith("step 10, ") and told[0].endswith("of 60 seconds")


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # torch's own, in tracing
def test_it_can_be_compiled_with_shapes_that_change(
    preset: Preset, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs: list[torch.fx.GraphModule] = []

    def traced(graph: torch.fx.GraphModule, _: list) -> Callable:
        """Not handed to a C++ compiler, which may not be there."""
        graphs.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=traced))
    counts = []
    model = new(preset, prepared).eval()
    plain, compiled = (Mover(model, preset, CPU, compiled) for compiled in (False, True))
    for length in (3, 4, 6):
        rows = pad([[3] * length + [1], [4, 3, 1]])
        batch = Batch({"inputs": rows, "targets": rows})
        torch.testing.assert_close(compiled.loss(batch), plain.loss(batch))
        counts.append(len(graphs))
    assert counts[0] > 0 and counts == counts[:1] * 3, "a new shape was compiled anew"
