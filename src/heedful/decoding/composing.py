"""Composing: music that goes on from a motif, or from silence, for so many seconds.

A window that a model was trained on ends somewhere in a piece, so that its end says nothing: here
the end symbol is never drawn, and a piece lasts as long as it is asked to.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.data.batch import Batch, pad
from heedful.decoding.sampling import Chance, drawn
from heedful.decoding.search import at_rest
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import Model
from heedful.text.music import MusicTokenizer
from heedful.text.specials import EOS, RESERVED, START

LONGEST = 3_600.0  # seconds that may be asked for
A_SECOND = 100  # symbols that a second takes at most; a model that never lets time pass is stopped
A_FEW = 200  # and so many in any case


@dataclass(frozen=True, kw_only=True)
class Composing:
    """How long a piece is to be, its beginning counted, and how bold."""

    seconds: float = 30.0
    temperature: float = 1.0  # 0 always takes what is likeliest
    seed: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and 0 < self.seconds <= LONGEST):
            raise UsageError(f"--seconds is over 0 and at most {LONGEST:g}, got {self.seconds:g}")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise UsageError(f"--temperature is 0 or more, got {self.temperature:g}")


@dataclass(frozen=True)
class Composed:
    """A piece, as ids: what was given of it, and what was composed to it."""

    ids: list[int]
    given: range  # which of them were given
    melody: Sequence[int] = ()  # what was read first, an id for each group of the piece


class Player:
    """A model at a place in a piece: it has heard so much of it, after a melody if it reads one."""

    def __init__(self, model: Model, heard: Sequence[int], melody: Sequence[int] = ()) -> None:
        self.model, self.length = model, len(heard)
        self.place = next(model.parameters()).device
        features = {"targets": pad([[START]])}
        if melody:
            features["inputs"] = pad([[*melody, EOS]])
        self.memory = model.start(Batch(features).to(self.place))
        self.logits = self._stepped([START, *heard])

    def hear(self, symbol: int) -> None:
        self.logits = self._stepped([symbol])
        self.length += 1

    def _stepped(self, ids: list[int]) -> Tensor:
        return self.model.step(torch.tensor([ids], device=self.place), self.memory)


class Choosing:
    """Chooses what comes next: by chance, the same by the same seed, or what is likeliest."""

    def __init__(self, how: Composing) -> None:
        self.generator = torch.Generator().manual_seed(how.seed)
        self.chance = Chance(how.temperature) if how.temperature else None

    def __call__(self, logits: Tensor) -> int:
        scores = logits[:, -1].float()
        scores[:, :RESERVED] = -math.inf
        if not bool(torch.isfinite(scores[:, RESERVED:]).all()):
            raise HeedfulError("the model gives no finite scores: its training came to nothing")
        if self.chance is None:
            return int(scores.argmax())
        luck = torch.rand(1, dtype=torch.double, generator=self.generator).to(scores.device)
        return int(drawn(self.chance.shape(scores.log_softmax(-1)), luck))


def compose(
    model: Model,
    tokenizer: MusicTokenizer,
    prime: list[int],
    how: Composing,
    trained: int,
    note: Callable[[str], None] = lambda _: None,
) -> Composed:
    """Go on after `prime`; `trained` is how many symbols the model was trained on at a time."""
    begun = tokenizer.seconds(prime)
    if begun >= how.seconds:
        raise UsageError(
            f"the motif lasts {begun:.1f} seconds, and the piece is to last {how.seconds:g}: ask "
            "for more seconds, or give a shorter motif"
        )
    window = min(trained, model.longest or trained)
    ids, choose = list(prime), Choosing(how)
    most = len(ids) + int((how.seconds - begun) * A_SECOND) + A_FEW
    with torch.inference_mode(), at_rest(model):
        heard = _ending(ids, window, tokenizer.group)
        if len(heard) < len(ids):
            note(
                f"the motif has {len(ids):,} symbols, and the model was trained on {window:,} at a "
                f"time: it hears the last {len(heard):,} of them"
            )
        player, done = Player(model, heard), begun
        while done < how.seconds:
            for _ in range(tokenizer.group):
                ids.append(choose(player.logits))
                if model.longest is not None and player.length + 1 >= model.longest:
                    player = Player(model, _ending(ids, window, tokenizer.group))
                else:
                    player.hear(ids[-1])
            done += tokenizer.seconds(ids[-tokenizer.group :])
            if len(ids) >= most:
                note(f"stopped at {done:.1f} seconds: the model lets too little time pass")
                break
    if not tokenizer.notes(ids):
        raise HeedfulError(
            "what the model composed is silence: train it for longer, or try another --seed or a "
            "higher --temperature"
        )
    return Composed(ids, range(len(prime)))


def _ending(ids: list[int], window: int, group: int) -> list[int]:
    """What a model hears of a beginning: all of it where there is room to go on, else the last half
    of its window."""
    if len(ids) < window:
        return list(ids)
    kept = max(group, window // 2 // group * group) + len(ids) % group
    return ids[-kept:]
