from collections import Counter
from dataclasses import replace

import pytest
import torch

from heedful.presets.base import Decode
from heedful.seeing.beams import tree
from heedful.text.symbols import SymbolTokenizer

TEXT = "The cow ate the hay."


def path(found: dict, place: int) -> list[str]:
    tokens = []
    while place > 0:
        tokens.insert(0, found["nodes"][place]["token"])
        place = found["nodes"][place]["parent"]
    return tokens


@pytest.mark.parametrize(
    "decode",
    [
        Decode(beam=4, nbest=3, extra_length=8),
        Decode(beam=3, nbest=1, alpha=0.0, extra_length=8),
        Decode(beam=1, extra_length=8),
        Decode(beam=2, nbest=2, coverage=0.3, extra_length=6),
        Decode(beam=4, nbest=3, prune=0.5, extra_length=8),
    ],
    ids=["nbest", "no penalty", "greedy", "coverage", "pruned"],
)
@pytest.mark.parametrize("ending", [0.0, 4.0], ids=["cut off", "ended"])
def test_the_outputs_are_those_of_the_search(make, decode: Decode, ending: float) -> None:
    translator = make(decode=decode)
    likelier_end(translator, ending)
    found = tree(translator, TEXT)
    expected = translator.decode([TEXT])[0].hypotheses
    assert found["target"] == expected[0].text
    assert len(found["best"]) == len(expected)
    for place, one in zip(found["best"], expected, strict=True):
        assert path(found, place) == list(one.pieces)
        node = found["nodes"][place]
        assert node["score"] == pytest.approx(one.score, abs=1e-5)
        assert node["total"] == pytest.approx(sum(one.token_scores), abs=1e-4)
        assert node["fate"] == ("cut" if not one.finished else node["fate"])
    fates = Counter(node["fate"] for node in found["nodes"])
    assert fates["best"] == expected[0].finished
    assert fates["kept"] == sum(one.finished for one in expected[1:])


def likelier_end(translator, by: float) -> None:
    """Make the model unsure and the end symbol likelier, so that hypotheses end early."""
    model = translator.model
    head = model.head.forward

    def forward(x):
        logits = head(x)
        return 0.2 * logits + by * torch.nn.functional.one_hot(torch.tensor(1), logits.shape[-1])

    model.head.forward = forward


def test_a_beam_wider_than_the_vocabulary_has_empty_places(make) -> None:
    decode = Decode(beam=6, nbest=6, extra_length=3)
    translator = make(tokenizer=SymbolTokenizer(2), decode=decode)
    found = tree(translator, "1 0 1")
    assert sum(node["step"] == 1 for node in found["nodes"]) < 6
    expected = translator.decode(["1 0 1"])[0].hypotheses
    scores = [found["nodes"][place]["score"] for place in found["best"]]
    assert scores == pytest.approx([one.score for one in expected], abs=1e-5)


def test_every_step_weighs_twice_the_beam_and_keeps_the_likeliest(make) -> None:
    translator = make(decode=Decode(beam=3, extra_length=8))
    found = tree(translator, TEXT)
    for step in range(2, found["limit"]):
        here = [node for node in found["nodes"] if node["step"] == step]
        assert len(here) == 6
        onward = [n["total"] for n in here if n["fate"] == "grows"]
        fell = [n["total"] for n in here if n["fate"] == "fell"]
        assert len(onward) == 3 and min(onward) >= max(fell)
    for node in found["nodes"][1:]:
        above = found["nodes"][node["parent"]]
        assert node["step"] == above["step"] + 1 and above["fate"] in ("grows", "beaten", "cut")
        assert node["total"] == pytest.approx(above["total"] + node["token_score"], abs=1e-4)


def test_ended_ones_that_lost_are_said_to_be_worse(make) -> None:
    translator = make(decode=Decode(beam=4, extra_length=8))
    likelier_end(translator, 4.0)
    found = tree(translator, TEXT)
    worse = [node for node in found["nodes"] if node["fate"] == "worse"]
    best = found["nodes"][found["best"][0]]
    assert worse and all(node["score"] <= best["score"] for node in worse)
    assert worse[0]["why"] == "ended, but a better one was kept"


def test_an_end_behind_the_first_of_a_step_fell(make) -> None:
    translator = make(decode=Decode(beam=4, extra_length=8))
    likelier_end(translator, 3.0)
    nodes = tree(translator, TEXT)["nodes"]
    steps = [[n for n in nodes if n["step"] == step] for step in range(1, nodes[-1]["step"] + 1)]
    ends = {n["fate"] for step in steps for n in step[4:] if n["token"] == "<eos>"}
    assert ends == {"fell"}


def test_those_too_far_behind_are_said_to_be(make) -> None:
    found = {}
    for prune in (0.0, 1.0):
        translator = make(decode=Decode(beam=4, nbest=3, prune=prune, extra_length=8))
        likelier_end(translator, 4.0)
        found[prune] = [n for n in tree(translator, TEXT)["nodes"] if n["fate"] == "behind"]
    assert not found[0.0] and found[1.0]
    assert all(node["why"].startswith("pruned: too far behind") for node in found[1.0])


def test_a_wider_beam_can_be_asked_for(make) -> None:
    translator = make()
    found = tree(translator, TEXT, beam=6, nbest=2)
    wide = translator.decode([TEXT], replace(translator.config, beam=6, nbest=2))[0].hypotheses
    assert found["beam"] == 6
    assert [found["nodes"][p]["score"] for p in found["best"]] == pytest.approx(
        [one.score for one in wide], abs=1e-5
    )


def test_a_language_model_goes_on_from_its_prompt(make) -> None:
    translator = make("transformer_lm", source=False)
    found = tree(translator, "The cow")
    assert found["target"] == translator.decode(["The cow"])[0].text
    assert found["target"].startswith("The cow")
