"""Curves as inline SVG: several lines in one picture, and said in words for who cannot see them."""

from collections.abc import Mapping, Sequence
from html import escape

Curve = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 480, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 10, 34
# Told apart by those who see few colours; after the last, the same again, dashed.
COLOURS = ("#2f6fb0", "#d9822b", "#2c8a57", "#c0392b", "#7d5ba6", "#8c6d46")


def curves(title: str, across: str, up: str, lines: Mapping[str, Curve]) -> str:
    """One chart: `lines` by name, each a list of (x, y). A line without points is left out."""
    shown = {name: line for name, line in lines.items() if line}
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

    said = "; ".join(f"{name} ends at {line[-1][1]:.4g}" for name, line in shown.items())
    foot, start = HEIGHT - BOTTOM, LEFT
    parts = [
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}: {escape(said)}</title>",
        f'<line class="axis" x1="{start}" y1="{foot}" x2="{WIDTH - RIGHT}" y2="{foot}"/>',
        f'<line class="axis" x1="{start}" y1="{TOP}" x2="{start}" y2="{foot}"/>',
        f'<text x="{start - 6}" y="{TOP + 10}" text-anchor="end">{high:.4g}</text>',
        f'<text x="{start - 6}" y="{foot}" text-anchor="end">{low:.4g}</text>',
        f'<text x="{start}" y="{foot + 16}">{left:.4g}</text>',
        f'<text x="{WIDTH - RIGHT}" y="{foot + 16}" text-anchor="end">{right:.4g}</text>',
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
        keys.append(f'<span style="color:{colour}" aria-hidden="true">■</span> {label}')
    caption = f"{escape(title)} ({escape(up)}): {', '.join(keys)}"
    return "\n".join([*parts, f"</svg><figcaption>{caption}</figcaption></figure>"])
