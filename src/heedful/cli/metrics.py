"""Metrics as lines for a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from heedful.cli.screen import columns
from heedful.metrics.explain import Reading
from heedful.metrics.significance import Comparison

CHANCE = 0.05  # a p-value below this is commonly taken for no chance


def lines_of(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """A line a metric: its name, its value, and sacreBLEU's signature where it has one.

    Where values were resampled, the mean ± half of the 95 % interval stands between the two.
    """
    spread = any("interval" in entry for entry in metrics.values())
    return columns(
        [
            (
                name,
                f"{entry['value']:.2f}",
                *([_interval(entry)] if spread else []),
                entry.get("signature", ""),
            )
            for name, entry in metrics.items()
        ]
    )


def explanation(readings: Sequence[Reading]) -> str:
    """Every score with its signature and a sentence, then one line as each of them reads it."""
    parts = []
    for reading in readings:
        changed = f"{reading.difference:+.2f} by {reading.changes}" if reading.changes else ""
        parts += [
            columns([(f"{reading.name:16}", f"{reading.value:6.2f}", changed)]),
            f"    {reading.because}",
            f"    {reading.signature}",
        ]
    parts += ["", "One line of the output, as they read it:"]
    alike: dict[str, list[str]] = {}
    for reading in readings:
        alike.setdefault(reading.tokens, []).append(reading.name)
    for tokens, names in alike.items():
        parts += [", ".join(names), "    " + tokens]
    return "\n".join(parts)


def comparison(compared: Mapping[str, Comparison], names: tuple[str, str]) -> str:
    """A table of two systems, then each metric's signature and what the tests say."""
    rows = [("", *names, "difference", "p bootstrap", "p randomization")]
    for name, found in compared.items():
        first, second = (f"{s['value']:.2f} {_interval(s)}" for s in (found.first, found.second))
        p_values = f"{found.p_bootstrap:.4f}", f"{found.p_randomization:.4f}"
        rows.append((name, first, second, f"{found.difference:+.2f}", *p_values))
    lines = [columns(rows), ""]
    for name, found in compared.items():
        p = max(found.p_bootstrap, found.p_randomization)
        if found.difference == 0:
            said = "no difference"
        elif p < CHANCE:
            said = f"chance alone would rarely part them so far (both p < {CHANCE})"
        else:
            said = f"chance alone could part them so far (p up to {p:.2g})"
        lines.append(f"{name}: {said}")
        if "signature" in found.first:
            lines.append(f"    {found.first['signature']}")
    one = next(iter(compared.values()))
    lines.append(f"{one.samples:,} samples, {one.trials:,} trials, seed {one.seed}")
    return "\n".join(lines)


def _interval(entry: Mapping[str, Any]) -> str:
    found = entry.get("interval")
    return f"({found['mean']:.2f} ± {found['half']:.2f})" if found else ""
