"""Imports point down only: the rooms of the house, drawn from the source by `ast`."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import heedful

SOURCE = Path(heedful.__file__).parent

# A room may import from rooms on lower floors and from itself.
FLOORS = [
    {"errors"},
    {"config", "registry", "viz"},
    {"nn", "text"},
    {"modalities", "data"},
    {"models", "problems", "optim", "metrics"},
    {"presets"},
    {"runs"},
    {"decoding", "distributed"},
    {"training", "interop"},
    {"seeing"},
    {"laws", "doctor", "peers"},
    {"claims", "bench"},
    {"compare", "serve"},
    {"cli"},
    {"__init__", "__main__"},
]
FLOOR = {room: number for number, floor in enumerate(FLOORS) for room in floor}
ALLOWED = {("data", "heedful.problems.base")}  # preparing data needs to know what a problem is


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The full names of all modules a file imports, wherever in the file it does so."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = ".".join(["heedful", *above(path, node.level)]) if node.level else ""
            module = ".".join(part for part in (module, node.module) if part)
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def above(path: Path, level: int) -> tuple[str, ...]:
    """The package that `level` dots mean in a file."""
    parts = path.relative_to(SOURCE).parts
    return parts[: len(parts) - level]


def upward(path: Path) -> list[str]:
    here, wrong = room(path), []
    for name in imported(path):
        top, _, rest = name.partition(".")
        there = rest.partition(".")[0]
        if top != "heedful" or there in ("", "__version__", here):
            continue
        if any(here == a and name.startswith(b) for a, b in ALLOWED):
            continue
        if FLOOR[there] >= FLOOR[here]:
            wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    return wrong


def test_every_room_has_a_floor() -> None:
    assert {room(path) for path in modules()} <= set(FLOOR)


def test_imports_point_down_only() -> None:
    assert [line for path in modules() for line in upward(path)] == []


def test_a_file_that_imports_upward_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    (tmp_path / "nn").mkdir()
    (tmp_path / "nn" / "bad.py").write_text("def f():\n    from heedful.training import trainer\n")
    assert upward(tmp_path / "nn" / "bad.py") == ["nn/bad.py imports heedful.training.trainer"]


@pytest.mark.parametrize("quiet", ["text", "problems", "metrics", "errors", "config", "registry"])
def test_rooms_that_know_no_tensors_do_not_import_torch(quiet: str) -> None:
    heavy = [
        p
        for p in modules()
        if room(p) == quiet and any(n.split(".")[0] == "torch" for n in imported(p))
    ]
    assert heavy == []


LISTED = """
import sys
import heedful.claims.runner, heedful.decoding.translator, heedful.doctor.trial, heedful.serve.app
from heedful.registry import models, presets, problems

assert models.names() and presets.names() and problems.names()
assert "torch._dynamo" not in sys.modules, "the compiler was loaded, which takes a second"
"""


def test_no_compiler_is_loaded_before_something_is_compiled() -> None:
    subprocess.run([sys.executable, "-c", LISTED], check=True)
