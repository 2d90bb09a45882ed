"""Every registered claim: its record is whole, and its code runs."""

import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from heedful.claims.arms import Small, Trainings
from heedful.claims.base import Claim, Context, InArms, claims
from heedful.claims.peers import WithPeers
from heedful.claims.runner import reproduce, reproduce_part
from heedful.claims.several import Several
from heedful.claims.transformer import TINY_MODEL
from heedful.metrics.base import metrics

AS_A_WHOLE = {  # measured at once, so that --only names nothing
    "attention_path_length",
    "relative_memory",
    "single_gpu_wmt14",
}
REAL = Path(__file__).parent.parent.parent.parent / "shared" / "data"


@pytest.mark.parametrize("name", claims.names())
def test_the_code_of_every_claim_runs(name: str, context: Context, tmp_path: Path) -> None:
    made, path = reproduce(name, replace(context, budget="smoke"), tmp_path)
    assert path.exists() and made["claim"] == name and made["reached"] is None
    assert made["measured"] and made["target"] and made["curve"] is not None
    aimed = {target["number"] for target in made["target"]}
    aimed |= {target["other"] for target in made["target"] if "other" in target}
    assert aimed <= set(made["measured"]), "a target that nothing measures"


def test_a_curve_over_distances_can_be_made_arm_by_arm(context: Context) -> None:
    part = replace(context, budget="smoke", only=("recurrence_64",))
    measured = reproduce_part("attention_path_length", part)
    assert "recurrence_64/token_accuracy" in measured.numbers
    assert [point["distance"] for point in measured.curve["recurrence"]] == [64]
    assert list(measured.curve) == ["recurrence"]


def trainings_of(claim: Claim) -> Trainings:
    """The trainings that a claim is, or that its own measurement begins with."""
    if isinstance(claim.measure, Trainings):
        return claim.measure
    if isinstance(claim.measure, WithPeers):
        return claim.measure.ours
    if isinstance(claim.measure, Several):
        return claim.measure.parts[0]
    return inspect.getmodule(claim.measure).TRAININGS


@pytest.mark.parametrize("name", claims.names())
def test_every_claim_says_what_it_is(name: str) -> None:
    claim = claims.get(name)()
    assert claim.name == name and claims.describe(name)
    assert claim.statement.endswith(".") and claim.paper.url.startswith("https://")


@pytest.mark.parametrize("name", claims.names())
def test_what_a_claim_trains_exists_and_its_names_are_its_own(name: str) -> None:
    trainings = trainings_of(claims.get(name)())
    names = [arm.name for arm in trainings.arms]
    assert len(names) == len(set(names))
    for arm in trainings.arms:
        config = trainings.config(arm, 3, smoke=False)
        assert config.preset.training.steps == trainings.budget.steps
        wanted = {metric for reading in arm.readings for metric in reading.metrics}
        assert wanted <= {*metrics.names(), "loss", "perplexity"}


@pytest.mark.parametrize("name", sorted({*claims.names()} - AS_A_WHOLE))
def test_the_arms_of_every_claim_can_be_trained_apart(name: str) -> None:
    measure = claims.get(name)().measure
    assert isinstance(measure, InArms)
    arms = trainings_of(claims.get(name)()).arms
    assert {arm.name for arm in arms} <= set(measure.arm_names())


@pytest.mark.parametrize("name", claims.names())
def test_peers_stand_beside_arms_that_are_there(name: str) -> None:
    measure = claims.get(name)().measure
    for peer in measure.peers if isinstance(measure, WithPeers) else ():
        assert measure.config(peer, 1, smoke=False).preset.model.kind == "transformer"
        assert measure.arm_names().count(peer.name) == 1


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no corpora at {REAL}")
def test_a_claim_on_a_real_corpus_is_measured(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_MIRROR", str(REAL))
    trainings = trainings_of(claims.get("transformer_multi30k_cpu")())
    small = Small(settings={**TINY_MODEL, "problem.text.size": 500}, steps=1, examples=2)
    measured = replace(trainings, small=small)(replace(context, budget="smoke"))
    assert "case:lc" in measured.numbers["en_de/bleu_multi30k"].signature
    assert "case:mixed" in measured.numbers["en_de/bleu"].signature
    assert (context.runs / "en_de-seed1").exists()
