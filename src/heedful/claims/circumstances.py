"""What a number depends on beside the numbers themselves: the code, the machine, the libraries."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

import torch

import heedful
from heedful.nn.processor import processor

CHANGED = "+changes"
KIND = ("family", "cpu family"), ("model", "model")  # of a processor, and what Linux calls them
LIBRARIES = ("torch", "numpy", "sacrebleu", "tokenizers")


def commit() -> str:
    """The commit of this code, with `+changes` where files of it differ from that; else "unknown".

    Where the code has travelled without its history, HEEDFUL_COMMIT may say it.
    """
    code = Path(heedful.__file__).resolve().parent
    if _git(code, "ls-files", "--error-unmatch", "__init__.py") is None:  # not a checkout of ours
        return os.environ.get("HEEDFUL_COMMIT") or "unknown"
    head = _git(code, "rev-parse", "HEAD")
    if not head:
        return "unknown"
    return head[:12] + (CHANGED if _git(code, "status", "--porcelain", "--", ".") else "")


def is_known(commit: str) -> bool:
    """Whether a commit says which code it was, to the letter."""
    return commit != "unknown" and not commit.endswith(CHANGED)


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says about a folder; None where it fails or is not there."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip() if said.returncode == 0 else None


def hardware(device: torch.device) -> str:
    """The machine in words: the processor, how many cores may be used, and the GPU if it is used.

    Cores are those this process may run on.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = torch.get_num_threads()
    words = f"{_processor()}, {cores} cores, {threads} threads"
    if device.type == "cuda":
        return f"1 × {torch.cuda.get_device_name(device)}; {words}"
    return words


def _processor() -> str:
    said = processor()  # a cloud's may share a name and nothing else
    named = said.get("model name")
    if not named:
        return platform.processor() or platform.machine() or "unknown processor"
    kind = [f"{word} {said[key]}" for word, key in KIND if said.get(key)]
    return f"{named} ({', '.join(kind)})" if kind else named


def versions() -> dict[str, str]:
    """The versions that numbers may depend on."""
    found = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"heedful": heedful.__version__, "python": platform.python_version(), **found}
