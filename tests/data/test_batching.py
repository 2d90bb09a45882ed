import subprocess
import sys

import pytest

from heedful.config import from_json, to_json, vary
from heedful.data.batching import Batching, Bucketed, Packed
from heedful.errors import UsageError


@pytest.mark.parametrize("batching", [Packed(row=64, tokens=640), Bucketed(multiple=8)])
def test_a_batching_is_the_same_after_json(batching: Batching) -> None:
    assert from_json(Batching, to_json(batching)) == batching


def test_fields_can_be_varied_one_after_the_other() -> None:
    varied = vary(Packed(), {"row": "512", "longest": "400", "tokens": "1024"})
    assert (varied.rows, varied.limit) == (2, 400)


def test_what_no_batch_can_hold_is_beyond_the_limit() -> None:
    assert Packed(row=64, longest=256).limit == 64
    assert Bucketed(tokens=100, longest=256).limit == 100
    assert Bucketed(tokens=100, longest=256, multiple=8).limit == 96
    assert Bucketed(tokens=4096, longest=256).limit == 256
    assert Batching(tokens=10, longest=20).limit == 10


def test_a_budget_smaller_than_a_row_is_an_error_that_says_what_to_set() -> None:
    with pytest.raises(UsageError, match="Set batch.tokens to 256 or more"):
        _ = Packed(tokens=255).rows


@pytest.mark.parametrize(
    ("kind", "field"),
    [(Packed, "tokens"), (Packed, "row"), (Packed, "window"), (Bucketed, "longest"),
     (Bucketed, "window"), (Bucketed, "multiple")],
)  # fmt: skip
def test_numbers_below_one_are_errors(kind: type[Batching], field: str) -> None:
    with pytest.raises(UsageError, match=f"batch.{field}.*must be 1 or more"):
        kind(**{field: 0})


@pytest.mark.parametrize("temperature", [0.99, 0.0, -1.0, float("inf"), float("nan")])
def test_a_temperature_is_a_number_of_one_or_more(temperature: float) -> None:
    with pytest.raises(UsageError, match="batch.temperature must be a number of 1 or more"):
        Packed(temperature=temperature)


def test_asking_for_a_batching_imports_no_arrays() -> None:
    code = (
        "import sys, heedful.data.batching; "
        "sys.exit(bool({'torch', 'numpy', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
