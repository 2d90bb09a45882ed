"""The report as one HTML page: no script, nothing fetched, light and dark, all text escaped."""

from collections.abc import Iterator
from html import escape

from heedful.doctor.finding import Case, Finding, shortened
from heedful.doctor.lengths import Bar, Lengths
from heedful.doctor.report import Report

WIDTH, HEIGHT, FOOT = 480, 120, 18  # of a histogram, in its own units

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --paper: #fff; --soft: #5a6270; --line: #d4d8df;
  --bar: #2f6fb0; --problem: #b3261e; --warning: #8a5a00; --note: #2a5d94; --ok: #2c6e3a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --paper: #16181d; --soft: #a3abb8;
  --line: #3a404a; --bar: #7db4ea; --problem: #ff8f87; --warning: #f0bc62; --note: #8fc1f2;
  --ok: #86d196; } }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
ul.findings { list-style: none; padding: 0; }
ul.findings > li { border-left: .3rem solid var(--line); margin: .8rem 0; padding: .1rem .8rem; }
li.problem { border-color: var(--problem) !important; } .problem > b { color: var(--problem); }
li.warning { border-color: var(--warning) !important; } .warning > b { color: var(--warning); }
.note > b { color: var(--note); } .ok > b { color: var(--ok); }
p { margin: .2rem 0; } .advice, figcaption, .aside { color: var(--soft); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .8rem .2rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
td.number { font-variant-numeric: tabular-nums; text-align: right; overflow-wrap: normal; }
.charts { display: grid; gap: 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }
figure { margin: 0; } svg { height: auto; width: 100%; } svg rect { fill: var(--bar); }
svg text { fill: var(--soft); font-size: 13px; } svg line { stroke: var(--line); }
"""


def page(report: Report) -> str:
    """The whole page."""
    title = escape(report.summary())
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>{_STYLE}</style></head>",
            f"<body><main><h1>{title}</h1>",
            f'<p class="aside">{escape(report.sampled())}</p>' if report.sampled() else "",
            '<section aria-labelledby="found"><h2 id="found">Findings</h2><ul class="findings">',
            *(_finding(finding) for finding in report.findings),
            "</ul></section>",
            '<section aria-labelledby="sizes"><h2 id="sizes">Examples</h2>',
            *_splits(report),
            "</section>",
            '<section aria-labelledby="lengths"><h2 id="lengths">Lengths in training</h2>',
            '<div class="charts">',
            *(
                _chart(f"{feature}-{unit}", f"{feature}: {unit}", unit, lengths)
                for feature, units in report.checkup.histograms.items()
                for unit, lengths in units.items()
                if lengths.count
            ),
            "</div></section></main></body></html>",
            "",
        ]
    )


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
