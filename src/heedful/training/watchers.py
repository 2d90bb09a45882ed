"""Those who watch a run: a log of JSON lines, TensorBoard, and a person at a terminal."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from heedful.errors import HeedfulError

Record = dict[str, Any]


class Watcher(Protocol):
    """Is told what happens, and does nothing to the run."""

    def advance(self, step: int) -> None:
        """A step was taken."""

    def record(self, record: Record) -> None:
        """Numbers are there; `kind` says what they are about: "train" or "evaluate" mostly."""

    def note(self, text: str) -> None:
        """A word for a person."""

    def close(self) -> None:
        """The run is over."""


class LogFile:
    """log.jsonl: every record, a line each."""

    KEPT = ("train", "evaluate")

    def __init__(self, path: Path, step: int) -> None:
        """Go on after `step`: what was logged later is dropped, for it will happen again."""
        lines = []
        if path.exists() and step:
            for line in path.read_text(encoding="utf-8").splitlines():
                record = _parsed(line)
                if record and record.get("kind") in self.KEPT and record.get("step", 0) <= step:
                    lines.append(line)
        beside = path.with_name(f".writing-{path.name}")
        beside.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        os.replace(beside, path)
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115 (closed in close)

    def advance(self, step: int) -> None:
        pass

    def record(self, record: Record) -> None:
        try:
            self.file.write(json.dumps(record, ensure_ascii=False) + "\n")
            self.file.flush()
        except OSError as error:
            raise HeedfulError(f"could not write {self.file.name}: {error.strerror}") from error

    def note(self, text: str) -> None:
        pass

    def close(self) -> None:
        self.file.close()


class TensorBoard:
    """The same numbers as curves."""

    def __init__(self, folder: Path, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter  # slow to import, and only needed here

        self.writer = SummaryWriter(str(folder), purge_step=step + 1 if step else None)

    def advance(self, step: int) -> None:
        pass

    def record(self, record: Record) -> None:
        for name, value in _numbers(record).items():
            self.writer.add_scalar(f"{record['kind']}/{name}", value, record["step"])

    def note(self, text: str) -> None:
        pass

    def close(self) -> None:
        self.writer.close()


class Lines:
    """Plain lines, for where there is no terminal."""

    def __init__(self, steps: int, stream: TextIO | None = None) -> None:
        self.steps = steps
        self.stream = stream or sys.stderr

    def advance(self, step: int) -> None:
        pass

    def record(self, record: Record) -> None:
        if record["kind"] == "train":
            self.note(f"step {record['step']}/{self.steps}  {spoken_train(record)}")
        elif record["kind"] == "evaluate":
            self.note(f"step {record['step']}  {spoken_evaluation(record)}")

    def note(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def close(self) -> None:
        pass


class Bar:
    """A progress bar on a terminal."""

    def __init__(self, steps: int, step: int, console: Console) -> None:
        self.progress = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            console=console,
        )
        self.task: TaskID = self.progress.add_task("", total=steps, completed=step)
        self.progress.start()

    def advance(self, step: int) -> None:
        self.progress.update(self.task, completed=step)

    def record(self, record: Record) -> None:
        if record["kind"] == "train":
            self.progress.update(self.task, description=spoken_train(record))
        elif record["kind"] == "evaluate":
            self.note(f"step {record['step']}  {spoken_evaluation(record)}")

    def note(self, text: str) -> None:
        self.progress.console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        self.progress.stop()


class Watchers:
    """All of them as one."""

    def __init__(self, *watchers: Watcher) -> None:
        self.watchers = watchers

    def advance(self, step: int) -> None:
        for watcher in self.watchers:
            watcher.advance(step)

    def record(self, record: Record) -> None:
        for watcher in self.watchers:
            watcher.record(record)

    def note(self, text: str) -> None:
        for watcher in self.watchers:
            watcher.note(text)

    def close(self) -> None:
        for watcher in self.watchers:
            watcher.close()


def person(steps: int, step: int = 0) -> Watcher:
    """A bar where stderr is a terminal, lines where it is not."""
    console = Console(stderr=True)
    return Bar(steps, step, console) if console.is_terminal else Lines(steps)


def spoken_train(record: Record) -> str:
    return (
        f"loss {record['loss']:.3f}  nll {record['nll']:.3f}  rate {record['rate']:.2e}  "
        f"norm {record['grad_norm']:.2f}  {record['tokens_per_second']:,.0f} tokens/s  "
        f"padding {record['padding']:.0%}  left {spoken_time(record['left'])}"
    )


def spoken_evaluation(record: Record) -> str:
    values = [f"{name} {entry['value']:.4g}" for name, entry in record["metrics"].items()]
    weights = ", moving average" if record["weights"] == "ema" else ""
    return f"{record['split']}{weights}: " + "  ".join(values)


def spoken_time(seconds: float) -> str:
    """
    >>> spoken_time(59), spoken_time(61), spoken_time(7260)
    ('59s', '1m01s', '2h01m')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, part = divmod(minutes, 60)
    return f"{hours}h{part:02d}m" if hours else f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


def _numbers(record: Record) -> dict[str, float]:
    """The numbers of a record, those of an evaluation among them."""
    named = {k: v for k, v in record.items() if isinstance(v, (int, float)) and k != "step"}
    inner = {k: v["value"] for k, v in record.get("metrics", {}).items()}
    return {**named, **inner}


def _parsed(line: str) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None  # torn by a crash
    return record if isinstance(record, dict) else None
