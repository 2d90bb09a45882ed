"""Curves as inline SVG: several lines in one picture, and said in words for who cannot see them."""

from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite

Curve = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 480, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 10, 34
# Told apart by those who see few colours; after the last, the same again, dashed.
POINTS = 1_000  # of a line at most; of more, some are left out
COLOURS = ("#2f6fb0", "#d9822b", "#2c8a57", "#c0392b", "#7d5ba6", "#8c6d46")


def curves(title: str, across: str, up: str, lines: Mapping[str, Curve]) -> str:
    """One chart: `lines` by name, each a list of (x, y). A line without points is left out, and so
    is a point that is not a number."""
    drawable = {name: drawn(line) for name, line in lines.items()}
    shown = {name: line for name, line in drawable.items() if line}
    if not shown:
        return ""
    xs = [x for line in shown.values() for x, _ in line]
    ys = [y for line in shown.values() for _, y in line]
    right, left, high, low = max(xs), min(xs), max(ys), min(ys)

    def at(x: float, y: float) -> str:
        along = (x - left) / (right - left or 1)
        above = (y - low) / (high - low or 1)
        return (
            f"{LEFT + along * (WIDTH - LEFT - RIGHT):.1f},"
            f"{HEIGHT - BOTTOM - above * (HEIGHT - TOP - BOTTOM):.1f}"
        )

    said = "; ".join(f"{name} ends at {written(line[-1][1])}" for name, line in shown.items())
    foot, start = HEIGHT - BOTTOM, LEFT
    parts = [
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}: {escape(said)}</title>",
        f'<line class="axis" x1="{start}" y1="{foot}" x2="{WIDTH - RIGHT}" y2="{foot}"/>',
        f'<line class="axis" x1="{start}" y1="{TOP}" x2="{start}" y2="{foot}"/>',
        f'<text x="{start - 6}" y="{TOP + 10}" text-anchor="end">{written(high)}</text>',
        f'<text x="{start - 6}" y="{foot}" text-anchor="end">{written(low)}</text>',
        f'<text x="{start}" y="{foot + 16}">{written(left)}</text>',
        f'<text x="{WIDTH - RIGHT}" y="{foot + 16}" text-anchor="end">{written(right)}</text>',
        f'<text x="{(start + WIDTH) / 2}" y="{HEIGHT - 4}" text-anchor="middle">'
        f"{escape(across)}</text>",
    ]
    keys = []
    for number, (name, line) in enumerate(shown.items()):
        colour = COLOURS[number % len(COLOURS)]
        dash = ' stroke-dasharray="6 4"' if number >= len(COLOURS) else ""
        points = " ".join(at(x, y) for x, y in line)
        label = escape(name)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}>'
            f"<title>{label}</title></polyline>"
        )
        sign = "■" if number < len(COLOURS) else "□"
        place = f'class="colour-{number % len(COLOURS)}" aria-hidden="true"'
        keys.append(f"<span {place}>{sign}</span> {label}")
    caption = f"{escape(title)} ({escape(up)}): {', '.join(keys)}"
    return "\n".join([*parts, f"</svg><figcaption>{caption}</figcaption></figure>"])


def drawn(line: Curve) -> Curve:
    """The points of a line that can be drawn, the first and the last among them."""
    there = [(x, y) for x, y in line if isfinite(x) and isfinite(y)]
    if len(there) <= POINTS:
        return there
    step = (len(there) - 1) / (POINTS - 1)
    return [there[round(place * step)] for place in range(POINTS)]


def written(number: float) -> str:
    """A number for a person: 1,026 and 0.003.

    >>> written(10263.68), written(0.0031)
    ('10,264', '0.0031')
    """
    return f"{number:,.0f}" if abs(number) >= 1_000 else f"{number:.4g}"
