"""Presets for little data: the published numbers are in them."""

import pytest

from heedful.presets.small_data import multi30k, multi30k_cpu
from heedful.registry import presets


def test_multi30k_has_the_published_shape_and_length_of_training() -> None:
    preset = multi30k()
    model, schedule = preset.model, preset.schedule
    assert (model.layers, model.dim, model.ff, model.heads) == (4, 128, 256, 4)
    assert (model.dropout, preset.loss.amount) == (0.3, 0.1)
    assert max(schedule.rate(n, model.dim) for n in range(8_000)) == pytest.approx(0.005)
    assert (preset.batch.tokens, preset.training.steps) == (2 * 4_096, 8_000)
    assert (preset.decode.beam, preset.training.average) == (5, 10)


@pytest.mark.parametrize("name", presets.names("transformer_multi30k*"))
def test_as_many_checkpoints_are_kept_as_are_averaged(name: str) -> None:
    training = presets.get(name)().training
    assert training.keep_last >= training.average > 0


def test_the_schedule_on_a_cpu_ends_with_the_training() -> None:
    preset = multi30k_cpu()
    assert preset.schedule.steps == preset.training.steps
