"""RESULTS.md: every claim and what came of it, made from the records and nothing else."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from heedful.claims.base import Claim, claims
from heedful.claims.runner import Record, read_records
from heedful.claims.speeds import speeds
from heedful.viz.numbers import spoken, spread

HEAD = """# Results

What papers claim of the systems in this package, and what was measured here; and how fast they are.
This page is made from `results/*.json` by `heedful reproduce --write-results`; do not edit it. How
to run a claim again, and what a record holds: [docs/results.md](docs/results.md).
"""
TABLE = ("| claim | paper | baseline | ours | reached |", "|---|---|---|---|---|")


def report(folder: Path) -> str:
    """The page for the records in `folder`; a claim without one is listed as not yet run."""
    records = read_records(folder)
    waiting = [claims.get(name)() for name in claims.names() if name not in records]
    parts = [HEAD]
    if records:
        rows = [_row(*summary(made)) for made in records.values()]
        parts.append("\n".join([*TABLE, *rows]))
        parts += [_section(made) for made in records.values()]
    else:
        parts.append("No claim has been measured yet.\n")
    parts += speeds(folder)
    if waiting:
        parts.append("## Not yet run\n\n" + "\n".join(_waiting(claim) for claim in waiting))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def summary(made: Record) -> tuple[str, str, str, str, str]:
    """A record in five cells: claim, paper, baseline, ours, reached or not."""
    return (
        made["claim"],
        made["paper"]["figure"],
        "; ".join(_baseline(baseline) for baseline in made["baseline"]) or "none",
        "; ".join(_measured(name, made) for name in aimed_at(made)) or "nothing",
        verdict(made),
    )


def described(claim: Claim) -> dict[str, Any]:
    """A claim before it is measured, as plain values."""
    return {
        "system": claim.system,
        "paper": asdict(claim.paper),
        "statement": claim.statement,
        "task": claim.task,
        "target": [target.said() for target in claim.targets],
        "baseline": [baseline.name for baseline in claim.baselines],
        "cost": claim.cost,
    }


def verdict(made: Record) -> str:
    """Reached, not reached, or not measured: in a word or two."""
    return {True: "reached", False: "not reached"}.get(made["reached"], "not measured")


def aimed_at(made: Record) -> list[str]:
    """The numbers that the targets are about, those measured against others included."""
    names = [target["number"] for target in made["target"] if "number" in target]
    return [name for name in dict.fromkeys(names) if name in made["measured"]]


def _row(*cells: str) -> str:
    safe = [cell.replace("|", r"\|") for cell in cells]
    return f"| {' | '.join(safe)} |"


def _measured(name: str, made: Record) -> str:
    return f"{name} {spread(made['measured'][name])}"


def _baseline(baseline: Record) -> str:
    here = spoken(baseline["value"], digits=4)
    absent = "not measured" if baseline["number"] else ""
    figures = ", ".join(part for part in (here or absent, baseline["published"]) if part)
    return f"{baseline['name']}: {figures}"


def _section(made: Record) -> str:
    paper = made["paper"]
    seeds = ", ".join(map(str, made["seeds"])) or "none"
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    reason = f": {made['reason']}" if made["reason"] else ""
    lines = [
        f"## {made['claim']}: {verdict(made)}",
        "",
        f"{made['statement']} ({paper['authors']}, [{paper['title']}]({paper['url']}), "
        f"{paper['venue']}, {paper['where']}: {paper['figure']}.)",
        "",
        f"- system: {made['system']}",
        f"- task: {made['task']}",
        f"- target: {'; '.join(target['said'] for target in made['target'])}",
        f"- {verdict(made)}{reason}",
        *(f"- note: {note}" for note in made["notes"]),
        f"- `{made['command']}` at commit {made['commit']}, seeds {seeds}, in "
        f"{made['seconds']:,.0f} seconds on {made['hardware']}; {versions}",
        "",
        "| measured | value |",
        "|---|---|",
        *(_row(name, spread(number)) for name, number in made["measured"].items()),
    ]
    return "\n".join(lines)


def _waiting(claim: Claim) -> str:
    targets = "; ".join(target.said() for target in claim.targets)
    return f"- `{claim.name}`: {claim.statement} Target: {targets}. Cost: {claim.cost}."
