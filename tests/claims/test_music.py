"""What claims about music measure with."""

import random

import pytest
import torch

from heedful.claims.base import claims
from heedful.claims.music import PRESETS
from heedful.claims.music_listening import heard_again, nats, uncut
from heedful.data.batch import Batch, pad
from heedful.models.building import build
from heedful.models.transformer import TransformerLMConfig
from heedful.nn.losses import Smoothing
from heedful.presets.relative import skewed
from heedful.problems.music_chorales import JsbChorales
from heedful.problems.music_motifs import Motifs
from heedful.registry import presets
from heedful.text.midi import Note
from heedful.text.performance import Performance, played
from heedful.text.specials import EOS, RESERVED


def melody(keys: list[int], gap: float = 0.2) -> list[Note]:
    return [Note(i * gap, i * gap + 0.1, key, 64) for i, key in enumerate(keys)]


def test_a_figure_that_returns_on_another_key_is_heard_again() -> None:
    motif = [60, 64, 62, 67]
    assert heard_again(melody(motif)) == 0.0
    assert heard_again(melody([*motif, *(key + 5 for key in motif)])) == pytest.approx(1 / 4)
    assert heard_again(melody(motif * 8)) > 0.8
    slower = melody([*motif, 50]) + [
        n._replace(start=n.start * 2 + 5, end=n.end * 2 + 5) for n in melody(motif)
    ]
    assert heard_again(slower) == 0.0  # another rhythm is another figure
    assert heard_again([]) == heard_again(melody([60, 61])) == 0.0


def test_motifs_are_heard_again_more_than_chance_has_it() -> None:
    made = [Motifs(between=b).melody(300, random.Random(3))[0] for b in (0, 60)]
    assert heard_again(played(made[0])) > 0.5 > 0.2 > heard_again(played(made[1]))


def test_nats_are_of_the_symbols_alone_and_the_end_takes_no_part() -> None:
    torch.manual_seed(1)
    tokenizer = Performance().train([])
    config = TransformerLMConfig(dim=16, layers=1, heads=2, ff=16, dropout=0.0)
    model = build(config, {"targets": tokenizer}, shared=False, loss=Smoothing(amount=0.0)).eval()
    rows = [[RESERVED + 60, RESERVED + 300, EOS], [RESERVED + 61, EOS]]
    batch = Batch({"targets": pad(rows)})
    one, other = nats(model, iter([batch]), torch.device("cpu"))
    with torch.no_grad():
        symbols = model.logits(batch)[..., RESERVED:].log_softmax(-1)
    wanted = (-symbols[[0, 0, 1], [0, 1, 0], [60, 300, 61]]).tolist()
    assert [*one, *other] == pytest.approx(wanted, rel=1e-5)


def test_pieces_to_test_on_are_whole_and_longer_than_what_is_trained_on() -> None:
    problem, length = uncut(JsbChorales(piece=17))
    assert length == 16
    assert [len(window) for window in problem.windows(range(40), whole=4)] == [40]
    assert uncut(Motifs(length=96)) == (Motifs(length=96), 96)
    measure = claims.get("music_long_pieces")().measure
    for arm in measure.arms:
        config = measure.config(arm, 1, smoke=False)
        assert uncut(config.problem)[1] == config.preset.batch.limit - 1


@pytest.mark.parametrize("data", ["jsb", "motifs"])
def test_arms_differ_in_what_is_claimed_and_in_nothing_else(data: str) -> None:
    absolute, relative = (
        presets.get(f"{PRESETS[name]}_{data}")() for name in ("absolute", "relative")
    )
    assert skewed(absolute, int(relative.model.attention.bias.removeprefix("skew:"))) == relative
    lstm = presets.get(f"{PRESETS['lstm']}_{data}")()
    ours, theirs = lstm.batch, absolute.batch
    assert (ours.tokens, ours.limit) == (theirs.tokens, theirs.limit)
    assert lstm.training.steps == absolute.training.steps
    claim = {"jsb": "music_relative_attention", "motifs": "music_motif_continuation"}[data]
    measure = claims.get(claim)().measure
    assert measure.budget.steps == absolute.training.steps
    longest = measure.config(measure.arms[0], 1, smoke=False).problem
    window = longest.piece if data == "jsb" else longest.length + 1
    assert window == absolute.batch.limit
    # Some of what is trained on is beyond the farthest distance that has a vector.
    assert relative.model.attention.bias == f"skew:{(window - 1) // 2}"
