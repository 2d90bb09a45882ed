"""What all tests share: one thread a worker, fixed seeds, data in a folder of its own, and the
shapes in signatures checked on every call."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest

# Before anything of these rooms is imported: every annotated shape is then checked when called.
# Left out: what is called inside FlexAttention's own tracing, which the checks would disturb.
TRACED = {"layout", "patterns", "sight"}
PARTS = Path(__file__).parent.parent / "src" / "heedful" / "nn"
jaxtyping.install_import_hook(
    [
        "heedful.models",
        "heedful.modalities",
        *(
            f"heedful.nn.{path.stem}"
            for path in PARTS.iterdir()
            if path.stem not in {*TRACED, "__init__"}
        ),
    ],
    "beartype.beartype",
)

import hypothesis  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402

hypothesis.settings.register_profile("heedful", derandomize=True, deadline=None, max_examples=50)
hypothesis.settings.load_profile("heedful")
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seeds() -> None:
    """The same random numbers in every test, whatever ran before it."""
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)


@pytest.fixture(autouse=True, scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Prepared data goes to a folder of this test session, for subprocesses too."""
    folder = tmp_path_factory.mktemp("data")
    before = {name: os.environ.get(name) for name in ("HEEDFUL_DATA", "OMP_NUM_THREADS")}
    os.environ.update({"HEEDFUL_DATA": str(folder), "OMP_NUM_THREADS": "1"})
    yield folder
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
