"""Peer arms: after ours, for as many seconds, scored by our metrics, and used again when done."""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from heedful.claims import peers as room
from heedful.claims.arms import Arm
from heedful.claims.base import Context
from heedful.claims.logs import training_seconds
from heedful.claims.peers import Outcome, PeerArm, WithPeers
from heedful.claims.readings import Reading
from heedful.data.preparation import prepare
from heedful.errors import HeedfulError, UsageError
from heedful.metrics.base import score
from heedful.peers.decoding import decode
from heedful.peers.training import fill
from heedful.problems.algorithmic import Reverse
from heedful.problems.base import Feature
from heedful.text.symbols import Symbols

from .conftest import arm, quick

METRICS = ("bleu", "chrf", "exact_match")
PEER = PeerArm(name="peer", beside="ours")


@dataclass(frozen=True, kw_only=True)
class Apart(Reverse):
    """Each side with a vocabulary of its own."""

    @property
    def features(self) -> dict[str, Feature]:
        return {"inputs": Feature(Symbols(2), "a"), "targets": Feature(Symbols(2), "b")}


def ours() -> Arm:
    """One that takes long enough for a peer to take some steps, too."""
    changes = {"training.average": 2, "training.checkpoint_every": 10, "decode.beam": 2}
    return replace(
        arm("ours", **changes),
        readings=(
            Reading(metrics=METRICS, checkpoint="average"),
            Reading(name="long", metrics=("chrf",), split="test_long", decode={"beam": 1}),
        ),
    )


def beside(*peers: PeerArm, steps: int = 20, seeds: tuple[int, ...] = (1,)) -> WithPeers:
    return WithPeers(ours=quick(ours(), steps=steps, seeds=seeds), peers=peers or (PEER,))


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is trained and decoded, as it is."""
    seen: list[str] = []

    def counted(name: str):
        real = getattr(room, name)

        def call(*arguments, **options):
            seen.append(name)
            return real(*arguments, **options)

        monkeypatch.setattr(room, name, call)

    counted("train")
    counted("decode")
    return seen


def test_a_peer_is_measured_beside_ours(context: Context, done: list[str]) -> None:
    measured = beside(seeds=(1, 2))(context)
    assert measured.seeds == (1, 2)
    assert done == ["train"] * 2 + ["decode"] * 4
    named = {name.removeprefix("peer/") for name in measured.numbers if name.startswith("peer/")}
    scored = {"bleu", "chrf", "exact_match", "long_chrf"}
    assert named == {"seconds", "seconds_allowed", "tokens_per_second", *scored}
    for seed in (1, 2):
        allowed = measured.numbers["peer/seconds_allowed"].by_seed[seed]
        assert allowed == training_seconds(context.runs / f"ours-seed{seed}") > 0
        assert measured.numbers["peer/seconds"].by_seed[seed] >= allowed
        points = measured.curve[f"peer-seed{seed}"]
        assert points[-1]["seconds"] == measured.numbers["peer/seconds"].by_seed[seed]
    assert "case:mixed" in measured.numbers["peer/bleu"].signature
    assert "ours/bleu" in measured.numbers and measured.commits and measured.hardware
    trained = sum(measured.numbers["peer/seconds"].by_seed.values())
    assert measured.seconds > sum(measured.numbers["ours/seconds"].by_seed.values()) + trained
    (note,) = measured.notes
    assert "transformers" in note and "norms after" in note and "not counted: preparing" in note


def test_its_scores_are_what_our_metrics_say_of_its_outputs(context: Context) -> None:
    whole = beside()
    numbers = whole(context).numbers
    config = whole.config(PEER, 1, smoke=False)
    prepared = prepare(config.problem_name, config.problem, context.data)
    model = room._model(config, prepared)
    fill(model, room.load_file(context.runs / "peer-seed1.safetensors"))
    tokenizers = {name: prepared.tokenizer(name) for name in prepared.features}
    shards = prepared.split("test")
    texts = [shards.raw(i) for i in range(len(shards))]
    sources, references = ([t[side] for t in texts] for side in ("inputs", "targets"))
    outputs = decode(model, tokenizers, sources, config.preset.decode, room.pick_device("cpu"))
    assert any(outputs), "it says nothing, so nothing is compared"
    for name, found in score(outputs, references, METRICS, sources).items():
        assert numbers[f"peer/{name}"].by_seed[1] == found["value"]


def test_a_peer_that_is_done_is_used_again(context: Context, done: list[str]) -> None:
    first = beside()(context)
    done.clear()
    again = beside()(context)
    assert done == [] and again.numbers == first.numbers and again.curve == first.curve
    more = beside(seeds=(1, 2))(context)
    assert done.count("train") == 1 and set(more.numbers["peer/bleu"].by_seed) == {1, 2}
    done.clear()
    origin = (context.runs / "ours-seed1.json").stat().st_mtime_ns
    beside()(replace(context, only=("peer",), fresh=True))
    assert done == ["train", "decode", "decode"]
    assert (context.runs / "ours-seed1.json").stat().st_mtime_ns == origin, "ours anew as well"


def test_one_cut_short_before_it_was_scored_is_only_scored(
    context: Context, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(room, "_read", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        beside()(context)
    assert done == ["train"]
    beside()(context)
    assert done == ["train", "decode", "decode"]


def test_arms_can_be_measured_one_at_a_time(context: Context, done: list[str]) -> None:
    whole = beside()
    assert whole.arm_names() == ("ours", "peer")
    alone = whole(replace(context, only=("ours",)))
    assert done == [] and {n.partition("/")[0] for n in alone.numbers} == {"ours"}
    assert alone.notes == ()
    peer = whole(replace(context, only=("peer",)))
    assert {n.partition("/")[0] for n in peer.numbers} == {"peer"}
    done.clear()
    assert whole(context).numbers.keys() == alone.numbers.keys() | peer.numbers.keys()
    assert done == []


def test_a_peer_asked_for_alone_brings_ours_with_it(context: Context) -> None:
    beside()(replace(context, only=("peer",)))
    assert (context.runs / "ours-seed1" / "checkpoints" / "average").is_dir()


def test_without_the_library_nothing_is_trained_and_it_is_said_what_to_install(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(HeedfulError, match=r"pip install 'heedful\[bench\]'"):
        beside()(context)
    assert not context.runs.exists()
    assert "ours/bleu" in beside()(replace(context, only=("ours",))).numbers


def test_settings_of_its_own_are_used_and_said(context: Context) -> None:
    slow = replace(PEER, settings={"schedule.peak": 1e-5})
    whole = beside(slow)
    assert whole.config(slow, 1, smoke=False).preset.schedule.peak == 1e-5
    assert whole(context).notes[-1] == "peer has settings of its own: schedule.peak=1e-05"
    with pytest.raises(UsageError, match=r"schedule\.peak: 1e-05 → .*--only peer --fresh"):
        beside()(context)


def test_one_that_was_given_other_seconds_is_not_taken(context: Context) -> None:
    beside()(context)
    beside()(replace(context, only=("ours",), fresh=True))
    with pytest.raises(UsageError, match=r"peer-seed1\.json is of another config: seconds: "):
        beside()(context)


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"torn")])
def test_weights_that_cannot_be_used_are_named(context: Context, harm) -> None:
    beside()(context)
    harm(context.runs / "peer-seed1.safetensors")
    kept = context.runs / "peer-seed1.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "scores": {}}))
    with pytest.raises(HeedfulError, match=r"peer-seed1\.safetensors cannot be used.*--fresh"):
        beside()(context)


def test_an_outcome_is_read_as_it_was_written(context: Context) -> None:
    whole = beside()
    made = whole.train(PEER, 1, context)
    assert Outcome.read(made.path) == made and made.seed == 1
    assert Outcome.read(context.runs / "nobody") is None


def test_a_peer_of_nobody_or_of_two_vocabularies_is_an_error(context: Context) -> None:
    with pytest.raises(UsageError, match="peer stands beside 'us', which is no arm: ours"):
        beside(replace(PEER, beside="us"))(context)
    with pytest.raises(UsageError, match="tie=none"):
        beside(replace(PEER, settings={"model.tie": "none"}))(context)
    assert not context.runs.exists(), "said only after ours was trained"
    config = beside().config(PEER, 1, smoke=False)
    with pytest.raises(UsageError, match="one vocabulary, and .* has: inputs, targets of a, b"):
        room._check(replace(config, problem=Apart()))
