"""Composing: as long as asked for, the same by the same seed, and what cannot be is told."""

import pytest
import torch

from heedful.decoding.composing import Composing, compose
from heedful.errors import HeedfulError, UsageError
from heedful.models.base import Model
from heedful.models.building import build
from heedful.models.recurrent_lm import RecurrentLMConfig
from heedful.models.transformer import TransformerLMConfig
from heedful.nn.losses import Smoothing
from heedful.text.chorale import Chorale
from heedful.text.music import MusicTokenizer
from heedful.text.performance import Performance
from heedful.text.specials import RESERVED

PERFORMANCE, CHORALE = Performance().train([]), Chorale().train([])


def made(tokenizer: MusicTokenizer = PERFORMANCE, kind: str = "lm", positions: str = "sinusoid"):
    torch.manual_seed(5)
    config = (
        RecurrentLMConfig(dim=16, layers=1, dropout=0.0)
        if kind == "rnn"
        else TransformerLMConfig(dim=16, layers=2, heads=2, ff=16, dropout=0.0, positions=positions)
    )
    return build(config, {"targets": tokenizer}, shared=False, loss=Smoothing()).eval()


@pytest.mark.parametrize("kind", ["lm", "rnn"])
def test_a_piece_is_as_long_as_asked_for_and_the_same_by_the_same_seed(kind: str) -> None:
    model, how = made(kind=kind), Composing(seconds=6, seed=3)
    piece = compose(model, PERFORMANCE, [], how, 64)
    assert 6 <= PERFORMANCE.seconds(piece.ids) <= 7 and piece.given == range(0)
    assert min(piece.ids) >= RESERVED
    assert compose(model, PERFORMANCE, [], how, 64) == piece
    assert compose(model, PERFORMANCE, [], Composing(seconds=6, seed=4), 64) != piece


def test_what_is_drawn_is_what_the_model_says_of_all_before() -> None:
    """Greedy, so that each symbol must be the likeliest of a pass over the whole."""
    from heedful.data.batch import Batch, pad

    model = made()
    prime = PERFORMANCE.encode("loud16 on60 wait50 off60")
    piece = compose(model, PERFORMANCE, prime, Composing(seconds=3, temperature=0), 10_000)
    assert piece.ids[:4] == prime and piece.given == range(4)
    with torch.no_grad():
        logits = model.logits(Batch({"targets": pad([piece.ids])}))[0]
    logits[:, :RESERVED] = -torch.inf
    assert logits.argmax(-1).tolist()[4:] == piece.ids[4:]


def test_chorales_are_whole_rows() -> None:
    prime = CHORALE.encode("72 67 60 48")
    piece = compose(made(CHORALE), CHORALE, prime, Composing(seconds=2), 64)
    assert len(piece.ids) == 4 * 16 and CHORALE.seconds(piece.ids) == 2


@pytest.mark.parametrize("positions", ["sinusoid", "learned:24"])
def test_a_long_motif_is_heard_by_its_end(positions: str) -> None:
    said: list[str] = []
    prime = CHORALE.encode("72 67 60 48 " * 30)
    model = made(CHORALE, positions=positions)
    piece = compose(model, CHORALE, prime, Composing(seconds=20), 64, said.append)
    assert piece.ids[:120] == prime and len(piece.ids) == 640
    window, kept = (64, 32) if positions == "sinusoid" else (24, 12)
    assert said == [
        f"the motif has 120 symbols, and the model was trained on {window} at a time: it hears the "
        f"last {kept} of them"
    ]


def test_a_motif_that_is_as_long_as_the_piece_and_odd_numbers_are_refused() -> None:
    prime = CHORALE.encode("72 67 60 48 " * 30)
    with pytest.raises(UsageError, match="the motif lasts 3.8 seconds"):
        compose(made(CHORALE), CHORALE, prime, Composing(seconds=3), 64)
    for numbers in ({"seconds": 0}, {"seconds": float("nan")}, {"seconds": 1e9}):
        with pytest.raises(UsageError, match="--seconds is over 0"):
            Composing(**numbers)
    for temperature in (-1, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="--temperature is 0 or more"):
            Composing(temperature=temperature)


class Stuck(Model):
    """Always says the same symbol."""

    def __init__(self, symbol: str) -> None:
        torch.nn.Module.__init__(self)
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.scores = torch.zeros(PERFORMANCE.size)
        self.scores[PERFORMANCE.encode(symbol)] = 30.0

    def hidden(self, batch): ...

    def start(self, batch): ...

    def step(self, ids, memory):
        return self.scores.expand(*ids.shape, -1).clone()


def test_a_model_that_lets_no_time_pass_is_stopped_and_silence_is_told() -> None:
    said: list[str] = []
    piece = compose(Stuck("on60"), PERFORMANCE, [], Composing(seconds=1), 64, said.append)
    assert len(piece.ids) == 300 and said == [
        "stopped at 0.0 seconds: the model lets too little time pass"
    ]
    with pytest.raises(HeedfulError, match="what the model composed is silence"):
        compose(Stuck("wait100"), PERFORMANCE, [], Composing(seconds=5), 64)
    broken = Stuck("on60")
    broken.scores[:] = torch.nan
    with pytest.raises(HeedfulError, match="no finite scores"):
        compose(broken, PERFORMANCE, [], Composing(seconds=1), 64)
