"""What a step compiles, and what it waits for: counted, not timed."""

import subprocess
import sys
from pathlib import Path

import pytest

# In processes of their own: the shape checks of these tests cannot be traced.
BATCHES = """
import torch
from pathlib import Path
from heedful.config import vary
from heedful.data.loader import Loader
from heedful.data.preparation import prepare
from heedful.models.building import build
from heedful.registry import presets, problems

preset = presets.get("transformer_tiny")()
packed = {"batch": "packed", "batch.tokens": 256, "batch.row": 64, "batch.longest": 64}
preset = vary(preset, packed)
problem = vary(
    problems.get("algorithmic_reverse_binary40")(),
    {"train_examples": 300, "valid_examples": 2, "test_examples": 2},
)
prepared = prepare("algorithmic_reverse_binary40", problem, Path("data"))
steps = Loader(prepared.split("train"), prepared.features, preset.batch, seed=1, parts=1).steps()
batches = [next(steps).parts[0] for _ in range(40)]  # beyond the end of an epoch
steps.close()
size = prepared.tokenizer("targets").size
model = build(preset.model, {"inputs": size, "targets": size}, True, preset.loss).train()
"""

COUNTED = """
from torch._dynamo.testing import CompileCounter
graphs = CompileCounter()
loss = torch.compile(model.loss, backend=graphs, fullgraph=True)
seen = set()
for batch in batches:
    loss(batch).sum.backward()
    seen.add(tuple(map(int, batch.targets.at.segments.amax(1))))
assert len(seen) > 10, "the batches are packed alike, which shows nothing"
assert graphs.frame_count == 1, f"{graphs.frame_count} graphs were compiled"
"""

# A fake tensor has a shape and no numbers: whoever asks for one would have made a GPU wait.
FAKE = """
from torch._subclasses.fake_tensor import FakeTensorMode
from heedful.distributed.processes import Processes
from heedful.training.step import TrainStep

with FakeTensorMode(allow_non_fake_inputs=True) as fake:
    model = build(preset.model, {"inputs": size, "targets": size}, True, preset.loss).train()
    step = TrainStep(model, preset, Processes(torch.device("cpu")))
    part = batches[0]
    features = {}
    for name, rows in part.features.items():
        ids, positions, segments = map(
            fake.from_tensor, (rows.ids, rows.at.positions, rows.at.segments)
        )
        features[name] = type(rows)(ids, type(rows.at)(positions, segments))
    outcome = step(1, [type(part)(features, part.examples)])
    assert outcome.sums.shape == (4,)
"""


@pytest.mark.parametrize("what", [COUNTED, FAKE], ids=["one graph", "nothing waited for"])
def test_packed_batches_of_any_mix(what: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BATCHES + what], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
