"""What becomes of a text that is decoded."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """One of the n best outputs of a line."""

    text: str
    score: float
    pieces: tuple[str, ...]  # one for each token, the end symbol too if it came
    token_scores: tuple[float, ...]  # log-probability of each piece
    finished: bool  # whether it came to its end before the length ran out


@dataclass(frozen=True)
class Decoded:
    """What became of one line: its best output, or the reason why there is none."""

    text: str = ""
    score: float | None = None  # None where nothing was decoded: an empty line, or an error
    hypotheses: tuple[Candidate, ...] = ()
    error: str | None = None
