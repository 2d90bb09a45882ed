"""What was decoded, as it is answered."""

import json
from collections.abc import Sequence
from typing import Any

from heedful.decoding.decoded import Decoded
from heedful.errors import HeedfulError


def whole(found: Sequence[Decoded]) -> Sequence[Decoded]:
    """The same, or an error that names the text that could not be decoded."""
    for number, one in enumerate(found, start=1):
        if one.error is not None:
            raise HeedfulError(f"text {number}: {one.error}")
    return found


def told(decoded: Decoded, several: bool) -> dict[str, Any]:
    """A translation as JSON, with the n best where they were asked for."""
    said: dict[str, Any] = {"text": decoded.text, "score": decoded.score}
    if several:
        said["nbest"] = [
            {"text": one.text, "score": one.score, "finished": one.finished}
            for one in decoded.hypotheses
        ]
    return said


def line(value: Any) -> bytes:
    """JSON in one line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
