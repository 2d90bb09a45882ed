"""A run small enough to train in a second, with everything on: dropout, parts, clipping, a moving
average, evaluations that do not fall together with checkpoints or lines of the log."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import heedful.errors
from heedful.config import vary
from heedful.registry import presets, problems
from heedful.runs.checkpoints import EMA, MODEL, OPTIM, Checkpoints
from heedful.runs.config import RunConfig
from heedful.training.trainer import train
from heedful.training.watchers import Watchers

PROBLEM = "algorithmic_identity_binary40"
SMALL = {
    "model.dim": 16, "model.heads": 2, "model.ff": 32, "model.layers": 1, "model.dropout": 0.1,
    "batch": "bucketed", "batch.tokens": 64, "batch.longest": 16, "decode.beam": 1,
    "decode.extra_length": 4, "schedule": "constant", "schedule.peak": 0.003, "training.steps": 12,
    "training.parts": 2, "training.clip": 1.0, "training.ema": 0.8, "training.log_every": 5,
    "training.evaluate_every": 6, "training.evaluate_examples": 4, "training.checkpoint_every": 4,
    "training.precision": "fp32", "training.keep_last": 5,
}  # fmt: skip
TIMES = ("seconds", "tokens_per_second", "left")


def tiny(**changes):
    """The small run, with fields of the preset changed: `tiny(**{"training.steps": 3})`."""
    problem = vary(
        problems.get(PROBLEM)(),
        {"train_length": 6, "eval_length": 8, "train_examples": 60, "valid_examples": 8,
         "test_examples": 6},
    )  # fmt: skip
    preset = vary(presets.get("transformer_tiny")(), {**SMALL, **changes})
    return RunConfig(
        problem_name=PROBLEM, problem=problem, preset_name="transformer_tiny", preset=preset
    )


class Run:
    """Trains in a folder of its own, quietly."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root, self.data = root, data
        self.notes: list[str] = []

    def config(self, changes=None):
        return tiny(**(changes or {}))

    def __call__(self, name, changes=None, watch=None, **options):
        notes = self.notes

        class Quiet(Watchers):
            def note(self, text):
                notes.append(text)

        make = watch or (lambda steps, step: Quiet())
        return train(
            self.config(changes), self.root / name, self.data, device="cpu", watch=make, **options
        )

    def tensors(self, name, step):
        checkpoint = Checkpoints(self.root / name / "checkpoints").at(step)
        kinds = [kind for kind in (MODEL, OPTIM, EMA) if checkpoint.has(kind)]
        return {f"{kind}:{n}": t for kind in kinds for n, t in checkpoint.tensors(kind).items()}

    def log(self, name):
        """The log without what depends on the clock."""
        lines = (self.root / name / "log.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        return [{k: v for k, v in r.items() if k not in TIMES} for r in records]

    def command(self, name, changes=None, resume=False, limit=0, launcher=()):
        """A command line that trains in another process."""
        folder = self.root / f"config-{name}"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(self.config(changes).write())
        script = folder / "train.py"
        script.write_text(
            "import resource, sys\n"
            "from pathlib import Path\n"
            "import torch\n"
            "torch.set_num_threads(1)\n"
            "from heedful.errors import HeedfulError\n"
            "from heedful.runs.config import read_config\n"
            "from heedful.training.trainer import train\n"
            f"config = read_config(Path({str(folder)!r}))\n"
            f"limit = {limit}\n"
            "if limit:\n"
            "    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))\n"
            "try:\n"
            f"    train(config, Path({str(self.root / name)!r}), Path({str(self.data)!r}),\n"
            f"          resume={resume}, device='cpu')\n"
            "except HeedfulError as error:\n"
            "    print(type(error).__name__, error, file=sys.stderr)\n"
            "    sys.exit(1)\n"
        )
        return [*(launcher or (sys.executable,)), str(script)]

    def start(self, *args, **options):
        return subprocess.Popen(
            self.command(*args, **options), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
            text=True, env=self.environment(),
        )  # fmt: skip

    def environment(self):
        source = str(Path(heedful.errors.__file__).parents[1])
        return {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="session")
def prepared_data(tmp_path_factory):
    return tmp_path_factory.mktemp("prepared")


@pytest.fixture
def run(tmp_path, prepared_data):
    return Run(tmp_path, prepared_data)


@pytest.fixture(scope="session")
def whole(tmp_path_factory, prepared_data):
    """The small run, trained without interruption."""
    run = Run(tmp_path_factory.mktemp("whole"), prepared_data)
    run.result = run("run")
    return run


@pytest.fixture
def same_as_whole(whole):
    """Checks that a run in the end equals the uninterrupted one: weights, moments, log."""

    def check(run, name):
        ours, theirs = run.tensors(name, 12), whole.tensors("run", 12)
        assert ours.keys() == theirs.keys()
        for key, tensor in theirs.items():
            assert torch.equal(ours[key], tensor), key
        assert run.log(name) == whole.log("run")

    return check
