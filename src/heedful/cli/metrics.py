"""Metrics as lines for a person."""

from collections.abc import Mapping
from typing import Any

from heedful.cli.screen import columns


def lines_of(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """A line a metric: its name, its value, and sacreBLEU's signature where it has one."""
    return columns(
        [
            (name, f"{entry['value']:.2f}", entry.get("signature", ""))
            for name, entry in metrics.items()
        ]
    )
