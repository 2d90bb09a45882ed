"""The report: all findings in the order of their weight, as text and as JSON."""

from dataclasses import dataclass
from typing import Any

from heedful.doctor.checkup import Checkup
from heedful.doctor.finding import LEVELS, Case, Finding, Level, shortened, worst_first
from heedful.doctor.trial import Trial

_MARKS: dict[Level, str] = {"problem": "PROBLEM", "warning": "WARNING", "note": "note", "ok": "ok"}
_INDENT = " " * 10


@dataclass(frozen=True)
class Report:
    """What a doctor says of a problem and a preset."""

    problem: str
    preset: str
    checkup: Checkup
    trial: Trial

    @property
    def findings(self) -> list[Finding]:
        return worst_first([*self.checkup.findings, *self.trial.findings])

    @property
    def counts(self) -> dict[Level, int]:
        """How many findings there are of each level."""
        return {level: sum(f.level == level for f in self.findings) for level in LEVELS}

    def to_json(self) -> dict[str, Any]:
        return {
            "problem": self.problem,
            "preset": self.preset,
            "counts": self.counts,
            "findings": [finding.to_json() for finding in self.findings],
            "splits": self.checkup.splits,
            "texts_read": self.checkup.read,
            "histograms": {
                feature: {unit: lengths.to_json() for unit, lengths in units.items()}
                for feature, units in self.checkup.histograms.items()
            },
            "run": self.trial.numbers,
        }

    def summary(self) -> str:
        """How it stands, in a line."""
        counts = self.counts
        names = {"problem": "problems", "warning": "warnings", "note": "notes"}
        bad = [
            f"{counts[level]} {level if counts[level] == 1 else names[level]}"
            for level in LEVELS[:3]
            if counts[level]
        ]
        return f"{self.problem} with {self.preset}: {', '.join(bad) or 'all is well'}"

    def sampled(self) -> str:
        """Which texts were read, where it was not all of them."""
        part = [
            f"{n:,} of {self.checkup.splits[split]['examples']:,} {split}"
            for split, n in self.checkup.read.items()
            if n < self.checkup.splits[split]["examples"]
        ]
        if not part:
            return ""
        return f"text checks read {', '.join(part)} examples (--examples 0 reads all)"

    def text(self) -> str:
        """For a terminal: the worst first."""
        lines = [self.summary()]
        for finding in self.findings:
            lines.append(f"{_MARKS[finding.level]:<8}  {finding.title}")
            if finding.advice:
                lines.append(f"{_INDENT}{finding.advice}")
            if finding.level != "ok":
                lines += [f"{_INDENT}  {_line(case)}" for case in finding.cases]
        if sampled := self.sampled():
            lines.append(sampled)
        return "\n".join(lines)


def _line(case: Case) -> str:
    sides = " | ".join(_plain(shortened(text)) for text in case.texts.values())
    note = f" ({case.note})" if case.note else ""
    return f"{case.split} {case.number:,}{note}: {sides}"


def _plain(text: str) -> str:
    """Text that keeps to its line and cannot move a terminal's cursor."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
