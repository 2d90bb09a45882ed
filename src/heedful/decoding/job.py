"""What is to be decoded with: for whoever asks before a model, or torch, is loaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Known = Literal["fp32", "bf16", "int8"]
Precision = Literal["auto", Known]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run, and how it is to decode."""

    run: str
    checkpoint: str | None = None  # the best there is, or this one
    device: str = "auto"
    precision: Precision = "auto"
    changes: Mapping[str, Any] = field(default_factory=dict)  # in how it usually decodes
    to: str | None = None  # the language to write, where there are several
    plugins: Sequence[str] = ()
