"""The report as one HTML page: no script, nothing fetched, light and dark, all text escaped."""

from collections.abc import Iterator
from html import escape

from heedful.doctor.finding import Case, Finding, shortened
from heedful.doctor.lengths import Bar, Lengths
from heedful.doctor.report import Report
from heedful.viz.page import page as document

WIDTH, HEIGHT, FOOT = 480, 120, 18  # of a histogram, in its own units

_STYLE = """
:root { --bar: #2f6fb0; --problem: #b3261e; --warning: #8a5a00; --note: #2a5d94; --ok: #2c6e3a; }
@media (prefers-color-scheme: dark) { :root { --bar: #7db4ea; --problem: #ff8f87;
  --warning: #f0bc62; --note: #8fc1f2; --ok: #86d196; } }
ul.findings { list-style: none; padding: 0; }
ul.findings > li { border-left: .3rem solid var(--line); margin: .8rem 0; padding: .1rem .8rem; }
li.problem { border-color: var(--problem) !important; } .problem > b { color: var(--problem); }
li.warning { border-color: var(--warning) !important; } .warning > b { color: var(--warning); }
.note > b { color: var(--note); } .ok > b { color: var(--ok); }
p { margin: .2rem 0; } .advice { color: var(--soft); } td { overflow-wrap: anywhere; }
svg rect { fill: var(--bar); } svg line { stroke: var(--line); }
"""


def page(report: Report) -> str:
    """The whole page."""
    return document(report.summary(), _body(report), _STYLE)


def _body(report: Report) -> Iterator[str]:
    if report.sampled():
        yield f'<p class="aside">{escape(report.sampled())}</p>'
    yield '<section aria-labelledby="found"><h2 id="found">Findings</h2><ul class="findings">'
    yield from (_finding(finding) for finding in report.findings)
    yield "</ul></section>"
    yield '<section aria-labelledby="sizes"><h2 id="sizes">Examples</h2>'
    yield from _splits(report)
    yield "</section>"
    yield '<section aria-labelledby="lengths"><h2 id="lengths">Lengths in training</h2>'
    yield '<div class="charts">'
    yield from (
        _chart(f"{feature}-{unit}", f"{feature}: {unit}", unit, lengths)
        for feature, units in report.checkup.histograms.items()
        for unit, lengths in units.items()
        if lengths.count
    )
    yield "</div></section>"


def _finding(finding: Finding) -> str:
    parts = [f'<li class="{finding.level}"><b>{finding.level}</b>: {escape(finding.title)}']
    if finding.advice:
        parts.append(f'<p class="advice">{escape(finding.advice)}</p>')
    if finding.cases:
        count = len(finding.cases)
        parts.append(f"<details><summary>{count} example{'s' * (count > 1)}</summary>")
        parts += [*_cases(finding.cases), "</details>"]
    return "\n".join([*parts, "</li>"])


def _cases(cases: tuple[Case, ...]) -> Iterator[str]:
    names = list(dict.fromkeys(name for case in cases for name in case.texts))
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in ["example", *names])
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
    for case in cases:
        note = f", {case.note}" if case.note else ""
        head = escape(f"{case.split} {case.number:,}{note}")
        cells = "".join(
            f'<td dir="auto">{escape(shortened(case.texts.get(name, "")))}</td>' for name in names
        )
        yield f'<tr><th scope="row">{head}</th>{cells}</tr>'
    yield "</tbody></table>"


def _splits(report: Report) -> Iterator[str]:
    heads = ("split", "examples", "left out as empty", "tokens", "longest")
    row = "".join(f'<th scope="col">{head}</th>' for head in heads)
    yield f"<table><thead><tr>{row}</tr></thead><tbody>"
    for name, split in report.checkup.splits.items():
        numbers = (
            split["examples"],
            split["empty"],
            sum(split["tokens"].values()),
            max(split["longest"].values(), default=0),
        )
        cells = "".join(f'<td class="number">{number:,}</td>' for number in numbers)
        yield f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
    yield "</tbody></table>"


def _chart(key: str, title: str, unit: str, lengths: Lengths) -> str:
    """A histogram that is also said in words, for whoever cannot see it."""
    bars = lengths.bars()
    most = max(bar.count for bar in bars)
    step = WIDTH / len(bars)
    said = (
        f"{title}: half have up to {lengths.quantile(0.5):,} {unit}, 95 % up to "
        f"{lengths.quantile(0.95):,}, the longest {lengths.longest:,}; the mean is "
        f"{lengths.mean:,.1f}"
    )
    name = escape(key, quote=True)
    return "\n".join(
        [
            f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT + FOOT}" role="img" '
            f'aria-labelledby="{name}"><title id="{name}">{escape(said)}</title>',
            *(_bar(bar, i * step, step, most) for i, bar in enumerate(bars)),
            f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}"></line>',
            f'<text x="0" y="{HEIGHT + FOOT - 4}">{bars[0].begin:,}</text>',
            f'<text x="{WIDTH}" y="{HEIGHT + FOOT - 4}" text-anchor="end">{bars[-1].end:,}</text>',
            f"</svg><figcaption>{escape(said)}</figcaption></figure>",
        ]
    )


def _bar(bar: Bar, x: float, width: float, most: int) -> str:
    high = max(1.0, HEIGHT * bar.count / most) if bar.count else 0.0
    return (
        f'<rect x="{x:.1f}" y="{HEIGHT - high:.1f}" width="{max(0.5, width - 1):.1f}" '
        f'height="{high:.1f}"><title>{bar.begin:,} to {bar.end:,}: {bar.count:,}</title></rect>'
    )
